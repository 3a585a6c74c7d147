#include "lib/frontier/device_numbers.hpp"

#include <algorithm>

namespace libperm {

std::vector<double> DeviceNumbers::one() const {
    std::vector<double> number(static_cast<std::size_t>(kind_.doubles()), 0);
    number.front() = 1;
    if (!kind_.bounds_itself()) number.back() = 1;
    return number;
}

const std::vector<double> &BoundedOnDevice::begin_step(const FrontierStep &step) {
    coefficients_.clear();
    for (const Coefficient &c : ledger_.begin_step(step)) {
        coefficients_.insert(coefficients_.end(), c.value.begin(),
                             c.value.begin() + parts_of(kind().arithmetic));
        coefficients_.push_back(c.magnitude);
    }
    return coefficients_;
}

EngineResult BoundedOnDevice::close(const std::vector<double> &last) const {
    PackedParts value{};
    std::copy_n(last.begin(), parts_of(kind().arithmetic), value.begin());
    return ledger_.close(value, magnitude_of(last));
}

std::uint64_t residue_of(double number, std::uint64_t prime) {
    const auto x = static_cast<std::int64_t>(number);
    return static_cast<std::uint64_t>(x < 0 ? x + static_cast<std::int64_t>(prime) : x) % prime;
}

double centered(std::uint64_t residue, std::uint64_t prime) {
    return residue > prime / 2 ? -static_cast<double>(prime - residue) : static_cast<double>(residue);
}

const std::vector<double> &ResiduesOnDevice::begin_step(const FrontierStep &step) {
    coefficients_.clear();
    for (const FrontierTerm &t : step.terms) {
        coefficients_.push_back(
            centered(t.entry < 0 ? 1 : values_[static_cast<std::size_t>(t.entry)], prime_));
        coefficients_.push_back(0);
    }
    return coefficients_;
}

std::uint64_t ResiduesOnDevice::close(const std::vector<double> &last) const {
    return residue_of(last.front(), prime_);
}

} // namespace libperm
