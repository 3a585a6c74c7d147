// Blocks of rationals: in complex numbers, double-double, MPFR, or exactly, modulo as many primes as the
// permanent needs.
#include "lib/execute/block_run.hpp"

#include "jit/queue/gpu_queue.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/frontier/residues.hpp"
#include "lib/frontier/slices.hpp"
#include "lib/input/options.hpp"
#include "lib/number/chinese_remainder.hpp"
#include "lib/number/integer_block.hpp"
#include "lib/run/gpu_device.hpp"

namespace libperm {
namespace {

// What every engine is given.
class Engines {
  public:
    explicit Engines(const BlockRun &run)
        : run_(run),
          choice_(*run.plan.choice()),
          part_(run.control, seconds_per_step(choice_), run.attempt(0)) {}

    Outcome wide(const ExactBlock &block) {
        const Arithmetic arithmetic = run_.plan.numbers.arithmetic();
        if (choice_.engine == Engine::frontier) return wide_frontier(block, arithmetic);
        const ExactBlock lines = choice_.transposed ? transposed(block) : block;
        if (choice_.engine == Engine::ryser) return run_ryser(run_.plan.ryser, lines, arithmetic, part_);
        return run_gray(run_.plan.gray, lines, gray_devices(run_, choice_), part_);
    }

    Outcome mpfr(const ExactBlock &block) {
        return run_ryser_mpfr(run_.plan.ryser, choice_.transposed ? transposed(block) : block,
                              run_.plan.numbers.bits, part_);
    }

    // Of A, or of A^T if the engine is one that sums over subsets of A^T's columns.
    std::vector<std::uint64_t> residues(const Residues &matrices, Outcome &counts) {
        if (choice_.engine == Engine::frontier) return frontier_residues(matrices, counts);
        counts.subsets = choice_.cost.subsets;
        counts.operations = choice_.cost.operations * static_cast<double>(matrices.primes.size());
        if (choice_.engine == Engine::ryser) return run_ryser(run_.plan.ryser, matrices, part_);
        return run_gray(run_.plan.gray, matrices, gray_devices(run_, choice_), part_, counts);
    }

    // Of the primes that the engine takes.
    int prime_bits() const {
        return choice_.on_gpu || choice_.engine == Engine::tree ? modular_bits : residue_bits;
    }
    Poll poll() {
        return [this] { part_.poll(); };
    }
    bool takes_transposed() const { return choice_.transposed && choice_.engine != Engine::frontier; }

  private:
    const FrontierProgram &program() const { return run_.plan.program(choice_.form); }

    Outcome wide_frontier(const ExactBlock &block, Arithmetic arithmetic) {
        const WideEntries entries = wide_entries(block, arithmetic, run_.options.passes.scaling);
        const auto part = [&](const FrontierProgram &p) {
            return WideFrontierRun{entries, p, part_, run_.memory, run_.options.threads};
        };
        const auto whole = part(program());
        if (!choice_.on_gpu)
            return run_in_slices(
                program(), choice_.slices,
                {one_worker, [&](std::size_t, const auto &p) { return run_frontier(choice_.form, part(p)); }},
                part_);
        GpuQueues gpus(run_.options);
        return gpus.counted(choice_.form == FrontierForm::dense
                                ? run_dense_frontier_on(gpus.when_needed(), whole, choice_.slices)
                                : run_in_slices(program(), {},
                                                {one_worker,
                                                 [&](std::size_t, const auto &) {
                                                     return run_sparse_frontier_on(gpus.first(), whole);
                                                 }},
                                                part_));
    }

    std::vector<std::uint64_t> frontier_residues(const Residues &matrices, Outcome &counts) {
        const auto part = [&](const FrontierProgram &p) {
            return ResidueFrontierRun{matrices, p, part_, run_.memory, run_.options.threads};
        };
        const auto whole = part(program());
        const auto by = [&](const std::vector<FrontierSlice> &slices, const auto &run) {
            return run_in_slices(matrices, program(), slices, {one_worker, run}, part_, counts);
        };
        if (!choice_.on_gpu)
            return by(choice_.slices, [&](std::size_t, const FrontierProgram &p) {
                ResidueSlice slice;
                slice.permanents = run_frontier_residues(choice_.form, part(p), &slice.counts);
                return slice;
            });
        GpuQueues gpus(run_.options);
        std::vector<std::uint64_t> residues =
            choice_.form == FrontierForm::dense
                ? run_dense_frontier_on(gpus.when_needed(), whole, choice_.slices, counts)
                : by({}, [&](std::size_t, const FrontierProgram &) {
                      ResidueSlice slice;
                      slice.permanents = run_sparse_frontier_on(gpus.first(), whole, slice.counts);
                      return slice;
                  });
        counts = gpus.counted(counts);
        return residues;
    }

    const BlockRun &run_;
    const Candidate &choice_;
    RunControl part_;
};

// |re|, |im| < 2^bits: a product of primes above 2^(bits + 1) tells them apart.
std::vector<std::uint64_t> enough_primes(std::int64_t bits, int prime_bits, bool gaussian, const Poll &poll) {
    for (auto count = static_cast<std::size_t>((bits + 1) / prime_bits + 1);; ++count) {
        std::vector<std::uint64_t> primes = primes_below(prime_bits, count, gaussian, poll);
        mpz_class product = 1;
        for (std::size_t k = 0; k < primes.size(); k += gaussian ? 2 : 1) {
            poll();
            product *= static_cast<unsigned long>(primes[k]);
        }
        if (static_cast<std::int64_t>(mpz_sizeinbase(product.get_mpz_t(), 2)) > bits + 2) return primes;
    }
}

Outcome run_exactly(Engines &engines, const ExactBlock &block) {
    const Poll poll = engines.poll();
    const IntegerBlock integers = integer_block(engines.takes_transposed() ? transposed(block) : block, poll);
    const bool gaussian = !integers.im.empty();
    const Residues matrices =
        residues_of(integers.pattern, integers.re, integers.im,
                    enough_primes(permanent_bits(integers), engines.prime_bits(), gaussian, poll), poll);
    Outcome outcome;
    const std::vector<std::uint64_t> residues = engines.residues(matrices, outcome);
    outcome.wide = from_residues(matrices.primes, residues, gaussian, poll) * Gaussian{integers.factor, 0};
    outcome.exact = true;
    return outcome;
}

} // namespace

Outcome run_block(const BlockRun &run, const ExactBlock &block) {
    Outcome outcome = with_gpu_errors([&] {
        Engines engines(run);
        if (run.plan.numbers.precision == Precision::exact) return run_exactly(engines, block);
        if (run.plan.numbers.precision == Precision::mpfr) return engines.mpfr(block);
        return engines.wide(block);
    });
    const Candidate &choice = *run.plan.choice();
    outcome.on_gpu = choice.on_gpu;
    outcome.engine = choice.engine;
    outcome.transposed = choice.transposed;
    outcome.predicted_seconds = choice.cost.serial_seconds;
    return outcome;
}

} // namespace libperm
