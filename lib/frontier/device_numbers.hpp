// The numbers of a frontier run on a device: its entries and its last state as doubles, and the books.
#pragma once

#include "jit/number/state_numbers.hpp"
#include "lib/frontier/frontier.hpp"
#include "lib/frontier/ledger.hpp"
#include "lib/number/residues.hpp"

#include <vector>

namespace libperm {

class DeviceNumbers {
  public:
    explicit DeviceNumbers(const StateNumbers &kind) : kind_(kind) {}
    virtual ~DeviceNumbers() = default;
    DeviceNumbers(const DeviceNumbers &) = delete;
    DeviceNumbers &operator=(const DeviceNumbers &) = delete;

    const StateNumbers &kind() const { return kind_; }
    std::vector<double> one() const;

    // Each term has coefficient_doubles() of them.
    virtual const std::vector<double> &begin_step(const FrontierStep &step) = 0;
    virtual void end_step(double additions, double expansions, const Extent &extent) = 0;

    virtual double prime() const { return 0; }

  private:
    StateNumbers kind_;
};

// Numbers whose values come with a bound.
class BoundedOnDevice final : public DeviceNumbers {
  public:
    explicit BoundedOnDevice(const FrontierInput &input)
        : DeviceNumbers(input.states()),
          ledger_(input.block() ? FrontierLedger(*input.block()) : FrontierLedger(*input.wide())) {}

    const std::vector<double> &begin_step(const FrontierStep &step) override;
    void end_step(double additions, double expansions, const Extent &extent) override {
        ledger_.end_step(additions, expansions, extent);
    }
    EngineResult close(const std::vector<double> &last) const;
    bool has_underflowed(const std::vector<double> &last) const {
        return ledger_.has_underflowed(magnitude_of(last));
    }

  private:
    double magnitude_of(const std::vector<double> &last) const {
        return kind().bounds_itself() ? last.front() : last.back();
    }

    FrontierLedger ledger_;
    std::vector<double> coefficients_;
};

// A residue as a device has it, and back.
double centered(std::uint64_t residue, std::uint64_t prime);
std::uint64_t residue_of(double number, std::uint64_t prime);

// Of one matrix, modulo a prime below 2^47: whole numbers of absolute value below p / 2, or a little above.
class ResiduesOnDevice final : public DeviceNumbers {
  public:
    ResiduesOnDevice(const Residues &residues, std::size_t matrix)
        : DeviceNumbers(Arithmetic::modular),
          prime_(residues.primes[matrix]),
          values_(residues.values[matrix]) {}

    double prime() const override { return static_cast<double>(prime_); }
    const std::vector<double> &begin_step(const FrontierStep &step) override;
    void end_step(double, double, const Extent &) override {}
    std::uint64_t close(const std::vector<double> &last) const;

  private:
    std::uint64_t prime_;
    const std::vector<std::uint64_t> &values_;
    std::vector<double> coefficients_;
};

// What both forms do with an engine: engine_for(numbers, control) makes one, whose compute(numbers, counts)
// gives the last state as doubles.
template <class EngineFor>
EngineResult compute_on_device(const FrontierRun &run, const EngineFor &engine_for) {
    if (const Residues *residues = run.input.residues()) {
        RunControl part(run.control, 1 / static_cast<double>(residues->primes.size()));
        auto engine = engine_for(part);
        ResidueVector permanents;
        Counts counts;
        for (std::size_t k = 0; k < residues->primes.size(); ++k) {
            ResiduesOnDevice numbers(*residues, k);
            permanents.push_back(numbers.close(engine.compute(numbers, counts)));
        }
        return {std::move(permanents), counts};
    }
    BoundedOnDevice numbers(run.input);
    auto engine = engine_for(run.control);
    Counts counts;
    const std::vector<double> last = engine.compute(numbers, counts);
    EngineResult result = numbers.close(last);
    result.counts = counts;
    return numbers.has_underflowed(last) ? again_in_range(std::move(result), run) : result;
}

} // namespace libperm
