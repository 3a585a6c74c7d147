// Numbers and lists of states on a device.
#pragma once

#include "jit/kernel/frontier.hpp"
#include "jit/number/arithmetic.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/frontier/forms.hpp"
#include "lib/frontier/numbers.hpp"
#include "lib/number/state_number.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {

// What a device asks of them, whatever they are.
class DeviceNumbers {
  public:
    DeviceNumbers() = default;
    virtual ~DeviceNumbers() = default;
    DeviceNumbers(const DeviceNumbers &) = delete;
    DeviceNumbers &operator=(const DeviceNumbers &) = delete;

    // Each term has coefficient_doubles() of them.
    virtual const std::vector<double> &begin_step(const FrontierStep &step) = 0;
    virtual void end_step(double additions, double expansions, const Extent &extent) = 0;
    virtual double prime() const = 0; // of residues
};

std::vector<double> one_on_device(const StateNumbers &kind);

// A residue as a device has it, modulo a prime below 2^47: a whole number of absolute value below p / 2, or a
// little above. And back.
double centered(std::uint64_t residue, std::uint64_t prime);
std::uint64_t residue_of(double number, std::uint64_t prime);

// The numbers of a Trait that a device has, too: a list's are the same there, or are turned into it in place.
template <class Trait> struct OnDevice { static constexpr bool possible = false; };

template <class N> struct OnDevice<BoundedNumbers<N>> {
    static constexpr bool possible = !BoundedNumbers<N>::has_exponents;
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
    explicit TraitOnDevice(Trait &books) : books_(books) {}

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

// A program of rows that a device runs whole.
class DeviceFrontier {
  public:
    DeviceFrontier() = default;
    virtual ~DeviceFrontier() = default;
    DeviceFrontier(const DeviceFrontier &) = delete;
    DeviceFrontier &operator=(const DeviceFrontier &) = delete;

    // The last state as doubles.
    virtual std::vector<double> compute(DeviceNumbers &numbers, Counts &counts) = 0;
};
EngineResult compute_on_device(const FrontierRun &run, DeviceFrontier &frontier);

// A list of states: keys, then numbers.
class DeviceList {
  public:
    DeviceList(DeviceQueue &queue, int words, const StateNumbers &numbers)
        : memory_(queue),
          key_bytes_(8 * static_cast<std::size_t>(words)),
          number_bytes_(static_cast<std::size_t>(number_bytes(numbers))) {}

    std::size_t size = 0;

    std::size_t key_bytes() const { return key_bytes_; }
    std::size_t number_bytes_each() const { return number_bytes_; }
    std::size_t item_bytes() const { return key_bytes_ + number_bytes_; }
    std::size_t bytes() const { return memory_.bytes(); }
    std::size_t capacity() const { return capacity_; }

    // A sixteenth more than asked, so that growing stays cheap. What was there is lost if it grows.
    void reserve(std::size_t count) {
        if (count > capacity_) allocate(count + count / 16);
    }
    void allocate(std::size_t count) {                              // just so many
        const std::size_t capacity = (count + 1) & ~std::size_t{1}; // numbers are aligned to 16
        capacity_ = 0;
        memory_.reserve(capacity * item_bytes());
        capacity_ = capacity;
    }
    SparseList where() const { return {memory_.address(), memory_.address() + capacity_ * key_bytes_}; }

  private:
    DeviceArray memory_;
    std::size_t key_bytes_, number_bytes_;
    std::size_t capacity_ = 0;
};

// The words that blocks of a launch share (jit/device/chained_tiles.cuh).
class DeviceChain {
  public:
    explicit DeviceChain(DeviceQueue &queue) : queue_(&queue), memory_(queue) {}

    TileChain next(std::size_t tiles) {
        if (tiles > tiles_ || launch_ == most_chained_launches) {
            tiles_ = std::max(tiles, 2 * tiles_);
            launch_ = 0;
            const std::vector<std::uint64_t> zeros(2 + tiles_);
            memory_.reserve(8 * zeros.size());
            queue_->copy_in(memory_.address(), zeros.data(), 8 * zeros.size());
        }
        return {++launch_, memory_.address(), memory_.address() + 8, memory_.address() + 16};
    }
    std::size_t bytes() const { return memory_.bytes(); }

  private:
    DeviceQueue *queue_;
    DeviceArray memory_;
    std::size_t tiles_ = 0;
    std::uint64_t launch_ = 0;
};

} // namespace libperm
