#include "lib/frontier/slices.hpp"

#include "jit/driver/jit_error.hpp"
#include "lib/base/threads.hpp"
#include "lib/number/ball.hpp"
#include "lib/run/outcome_bytes.hpp"
#include "lib/run/pieces.hpp"

#include <algorithm>
#include <map>

namespace libperm {

Ball sum_of(const std::vector<Ball> &numbers) {
    if (numbers.empty()) return {};
    std::vector<Ball> sums = numbers;
    while (sums.size() > 1) {
        const std::size_t pairs = sums.size() / 2;
        for (std::size_t k = 0; k < pairs; ++k) sums[k] = sums[2 * k] + sums[2 * k + 1];
        if (sums.size() % 2 == 1) sums[pairs] = sums.back();
        sums.resize(pairs + sums.size() % 2);
    }
    return sums.front();
}

namespace {

double work_of(const FrontierProgram &program) {
    double work = 0;
    for (const FrontierStep &step : program.steps) work += step.expansions_bound;
    for (const FrontierBranch &branch : program.branches)
        if (branch.joined[0] >= 0) work += branch.join.products_bound;
    return work;
}

// Of one slice, on average, by some of them: together they are more than the whole.
double work_of_slice(const FrontierProgram &program, const std::vector<FrontierSlice> &slices) {
    constexpr std::size_t some = 64;
    if (slices.empty()) return work_of(program);
    const std::size_t apart = (slices.size() + some - 1) / some;
    double work = 0, count = 0;
    for (std::size_t k = 0; k < slices.size(); k += apart, ++count)
        work += work_of(slice_of(program, slices[k]));
    return work / count;
}

// The slices of most work first, where there are several workers: they end the sooner together, and what is
// done is the same.
void put_largest_first(std::vector<std::uint64_t> &todo, const FrontierProgram &program,
                       const std::vector<FrontierSlice> &slices) {
    constexpr std::size_t most = 1024; // with more of them none counts for much
    if (todo.size() < 2 || todo.size() > most) return;
    std::map<std::uint64_t, double> work;
    for (const std::uint64_t k : todo) work[k] = work_of(slice_of(program, slices[k]));
    std::ranges::stable_sort(todo, std::greater{}, [&work](std::uint64_t k) { return work.at(k); });
}

// What a device's own failure is: another's memory would not be enough either.
bool is_of_its_device(const std::exception_ptr &error) {
    try {
        std::rethrow_exception(error);
    } catch (const JitError &failure) {
        return failure.failure() != JitFailure::out_of_memory;
    } catch (...) {
        return false;
    }
}

std::vector<EngineResult> parts_of_slices(const FrontierRun &whole, const std::vector<FrontierSlice> &slices,
                                          const SliceWorkers &workers) {
    const FrontierProgram &program = whole.program;
    const auto compute = [&](std::span<const std::uint64_t> todo, const auto &done) {
        const auto run = [&](std::size_t worker, std::span<const std::uint64_t> pieces) {
            for (const std::uint64_t k : pieces) {
                call().begin_piece();
                done(k, slices.empty() ? workers.run(worker, program)
                                       : workers.run(worker, slice_of(program, slices[k])));
            }
        };
        const std::size_t count = workers.count();
        std::vector<std::uint64_t> ordered(todo.begin(), todo.end());
        if (count > 1) put_largest_first(ordered, program, slices);
        share_out(ordered, count,
                  {[](std::size_t) { return std::uint64_t{1}; }, run,
                   [](std::size_t, const std::exception_ptr &error) { return is_of_its_device(error); }});
    };
    const std::size_t pieces = std::max<std::size_t>(slices.size(), 1);
    const double work = call().pieces().store ? work_of_slice(program, slices) : 0; // none is known without
    return parts_of_pieces(pieces, work, whole.input.zero(), compute);
}

// Bounds add up in pairs, exact values as they are.
WideBall sum_of(const std::vector<WideBall> &numbers) {
    Gaussian sum = numbers.front().value;
    std::vector<Ball> errors;
    for (const WideBall &x : numbers) {
        if (&x != &numbers.front()) sum = sum + x.value;
        errors.push_back({{}, x.error});
    }
    return {sum, sum_of(errors).error};
}

ResidueVector sum_of(const std::vector<ResidueVector> &numbers, const std::vector<std::uint64_t> &primes) {
    ResidueVector sums(primes.size(), 0);
    for (const ResidueVector &x : numbers)
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = (sums[k] + x[k]) % primes[k];
    return sums;
}

template <class Value> std::vector<Value> values_of(std::vector<EngineResult> &parts) {
    std::vector<Value> values;
    for (EngineResult &part : parts) values.push_back(std::get<Value>(std::move(part.value)));
    return values;
}

} // namespace

EngineResult run_in_slices(const FrontierRun &run, const std::vector<FrontierSlice> &slices,
                           const SliceWorkers &workers) {
    std::vector<EngineResult> parts = parts_of_slices(run, slices, workers);
    if (slices.empty()) return std::move(parts.front());
    EngineResult sum;
    for (const EngineResult &one : parts) sum.counts += one.counts;
    sum.counts.slices = static_cast<std::int32_t>(slices.size());
    if (run.input.block())
        sum.value = sum_of(values_of<Ball>(parts));
    else if (const Residues *residues = run.input.residues())
        sum.value = sum_of(values_of<ResidueVector>(parts), residues->primes);
    else
        sum.value = sum_of(values_of<WideBall>(parts));
    return sum;
}

} // namespace libperm
