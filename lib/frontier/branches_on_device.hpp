// The large joins and steps of a program with branches, done on a device (docs/frontier.md); the rest of it
// stays with lib/frontier/branches.hpp.
#pragma once

#include "lib/frontier/branch_places.hpp"
#include "lib/frontier/join_on_device.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/frontier/sparse_steps.hpp"
#include "lib/frontier/state_key.hpp"
#include "lib/frontier/work.hpp"
#include "lib/number/residue_numbers.hpp"

namespace libperm {

class BranchesOnDevice {
  public:
    BranchesOnDevice(DeviceQueue &queue, const FrontierProgram &program, int key_words,
                     const StateNumbers &numbers, RunControl &control, const DeviceRooms &rooms);

    const BranchPlace &place_of(std::size_t branch) const { return places_.of_branch[branch]; }

    // Lists there and back: keys and numbers as they stand one after the other.
    DeviceList send(const void *keys, const void *numbers, std::size_t count);
    void fetch(const DeviceList &list, void *keys, void *numbers);

    const StateNumbers &numbers() const { return numbers_; }
    JoinOnDevice &joins() { return joins_; }
    void run_steps(DeviceList &list, std::span<const FrontierStep> steps, DeviceNumbers &numbers,
                   Counts &counts);
    void note_bytes(Counts &counts) const {
        counts.peak_bytes = std::max(counts.peak_bytes, joins_.peak_bytes());
    }

  private:
    DeviceQueue &queue_;
    const int key_words_;
    const StateNumbers numbers_;
    BranchPlaces places_;
    JoinOnDevice joins_;
    SparseSteps steps_;
};

// The numbers of a Trait that a device has, too: a list's are the same there, or are turned into it in place.
template <class Trait> struct OnDevice { static constexpr bool possible = false; };

template <class N> struct OnDevice<BoundedNumbers<N>> {
    static constexpr bool possible = true;
    static constexpr std::size_t doubles = sizeof(N) / sizeof(double);

    static void to_device(const BoundedNumbers<N> &, N *, std::size_t) {}
    static void from_device(const BoundedNumbers<N> &, N *, std::size_t) {}
    // Parts, magnitude; what bounds itself does not ask for that.
    static void append(const BoundedNumbers<N> &, const N &factor, std::vector<double> &coefficients) {
        const auto parts = std::bit_cast<std::array<double, doubles>>(factor);
        coefficients.insert(coefficients.end(), parts.begin(), parts.end());
        if (doubles == N::Arithmetic::parts) coefficients.push_back(factor.magnitude());
    }
    static double prime(const BoundedNumbers<N> &) { return 0; }
};

template <> struct OnDevice<ResidueNumbers<1>> {
    static constexpr bool possible = true;
    using Numbers = ResidueNumbers<1>;

    static void to_device(const Numbers &books, Numbers::Number *numbers, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k)
            numbers[k].front() =
                std::bit_cast<std::uint64_t>(centered(books.close(numbers[k]).front(), books.prime()));
    }
    static void from_device(const Numbers &books, Numbers::Number *numbers, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k)
            numbers[k].front() = residue_of(std::bit_cast<double>(numbers[k].front()), books.prime());
    }
    static void append(const Numbers &books, const Numbers::Factor &factor,
                       std::vector<double> &coefficients) {
        coefficients.push_back(centered(factor.value.front(), books.prime()));
        coefficients.push_back(0);
    }
    static double prime(const Numbers &books) { return static_cast<double>(books.prime()); }
};

template <class Trait> class TraitOnDevice final : public DeviceNumbers {
  public:
    TraitOnDevice(Trait &books, const StateNumbers &kind) : DeviceNumbers(kind), books_(books) {}

    const std::vector<double> &begin_step(const FrontierStep &step) override {
        coefficients_.clear();
        for (const auto &factor : books_.begin_step(step))
            OnDevice<Trait>::append(books_, factor, coefficients_);
        return coefficients_;
    }
    void end_step(double additions, double expansions, const Extent &extent) override {
        books_.end_step(additions, expansions, extent);
    }
    double prime() const override { return OnDevice<Trait>::prime(books_); }

  private:
    Trait &books_;
    std::vector<double> coefficients_;
};

// 64-bit words of a state that a run has.
int branch_key_words(const FrontierRun &run);

} // namespace libperm
