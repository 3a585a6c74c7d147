#include "lib/frontier/device_numbers.hpp"

#include <cstring>

namespace libperm {

std::vector<double> one_on_device(const StateNumbers &kind) {
    std::vector<double> number(static_cast<std::size_t>(kind.doubles()), 0);
    number.front() = 1;
    if (!kind.bounds_itself()) number.back() = 1;
    return number;
}

std::uint64_t residue_of(double number, std::uint64_t prime) {
    const auto x = static_cast<std::int64_t>(number);
    return static_cast<std::uint64_t>(x < 0 ? x + static_cast<std::int64_t>(prime) : x) % prime;
}

double centered(std::uint64_t residue, std::uint64_t prime) {
    return residue > prime / 2 ? -static_cast<double>(prime - residue) : static_cast<double>(residue);
}

namespace {

template <class Trait> class WholeOnDevice {
    using Number = typename Trait::Number;

  public:
    WholeOnDevice(const FrontierWork &work, Trait &numbers) : work_(work), numbers_(numbers) {}

    Number compute(Counts &counts) {
        Number last{};
        if constexpr (OnDevice<Trait>::possible) {
            TraitOnDevice<Trait> there(numbers_);
            const std::vector<double> parts = work_.whole->compute(there, counts);
            std::memcpy(&last, parts.data(), sizeof last);
            OnDevice<Trait>::from_device(numbers_, &last, 1);
        }
        return last;
    }

  private:
    const FrontierWork work_;
    Trait &numbers_;
};

} // namespace

EngineResult compute_on_device(const FrontierRun &run, DeviceFrontier &frontier) {
    FrontierRun there = run;
    there.whole = &frontier;
    return compute_any<WholeOnDevice>(there);
}

} // namespace libperm
