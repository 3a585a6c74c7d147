#include "lib/periodic/answers/table_terms.hpp"

#include "lib/base/error.hpp"
#include "lib/number/residue_numbers.hpp"
#include "lib/periodic/period/period_walk.hpp"
#include "lib/periodic/table/table_on_cpu.hpp"
#include "lib/periodic/table/table_on_device.hpp"

#include <algorithm>
#include <utility>

namespace libperm {
namespace {

// `number`: of a state; `advance`: by a period of the program.
template <class NumberOf, class Advance>
void walk(const TableProgram &program, std::int64_t first, std::int64_t count, const NumberOf &number,
          const Advance &advance) {
    const auto period = [&](std::int64_t m) { return static_cast<std::int32_t>(m % program.periods); };
    walk_lengths(
        0, first, count, [&](std::int64_t m) { number(program.ends[static_cast<std::size_t>(period(m))]); },
        [&](std::int64_t m) { advance(period(m)); });
}

// Tells which entries are 1 modulo all primes.
std::vector<bool> ones_of(const Residues &residues) {
    std::vector<bool> ones(residues.values.front().size(), true);
    for (const std::vector<std::uint64_t> &values : residues.values)
        for (std::size_t k = 0; k < ones.size(); ++k) ones[k] = ones[k] && values[k] == 1;
    return ones;
}

template <int K>
ResidueTerms few_by_table(const PeriodicPlan &plan, const Residues &residues, std::size_t begin,
                          std::int64_t first, std::int64_t count, RunControl &control) {
    using Numbers = ResidueNumbers<K>;
    Numbers numbers(residues, begin);
    const std::vector<typename Numbers::Factor> factors = numbers.begin_step(all_entries(plan.values.size()));
    const std::vector<bool> ones = ones_of(residues);
    TableOnCpu<Numbers> table(*plan.tables, plan.tables->used, numbers, factors, ones, control);
    table.begin(Numbers::zero());
    table.set(plan.tables->ends.front(), Numbers::one());
    ResidueTerms some(std::min<std::size_t>(K, residues.primes.size() - begin));
    walk(
        *plan.tables, first, count,
        [&](std::uint64_t state) {
            const auto closed = numbers.close(table.number(state));
            for (std::size_t k = 0; k < some.size(); ++k) some[k].push_back(closed[k]);
        },
        [&](std::int32_t u) { table.advance(u); });
    return some;
}

void on_device(DeviceQueue &queue, const PeriodicPlan &plan, const Residues &residues,
               const NumberRange &primes, std::int64_t first, std::int64_t count, RunControl &control,
               const TellTerms &tell) {
    TableOnDevice table(queue, *plan.tables, plan.tables->used, Arithmetic::modular, control);
    const std::vector<bool> ones = ones_of(residues);
    for (std::size_t k = primes.first; k < primes.last; ++k) {
        const std::uint64_t p = residues.primes[k];
        std::vector<double> coefficients;
        for (const std::uint64_t a : residues.values[k])
            coefficients.insert(coefficients.end(), {next_to_zero(a, p), 0});
        table.take(coefficients, ones, static_cast<double>(p));
        table.begin(table.table(), 0);
        table.set(table.table(), plan.tables->ends.front(), 1);
        control.begin_piece();
        std::vector<std::uint64_t> terms;
        walk(
            *plan.tables, first, count,
            [&](std::uint64_t state) { terms.push_back(residue_of(table.number(state), p) % p); },
            [&](std::int32_t u) { table.advance(u); });
        tell(k, std::move(terms));
    }
}

} // namespace

void find_by_table(const PeriodicPlan &plan, const Residues &residues, std::int64_t first, std::int64_t count,
                   const DeviceQueues *queues, RunControl &control, const TellTerms &tell) {
    if (plan.joined())
        throw Error(PERM_REFUSED_MEMORY,
                    "joined ends are walked to from each of their states, whose operator does "
                    "not fit: raise memory_limit_bytes; their growth is found without it");
    const std::size_t primes = residues.primes.size();
    if (queues) {
        const std::vector<DeviceQueue *> devices = queues->all();
        const NumberedPieces shares = NumberedPieces::so_many(primes, devices.size());
        return parallel_for(devices.size(), [&](std::uint64_t d) {
            if (shares[d].first < shares[d].last)
                on_device(*devices[d], plan, residues, shares[d], first, count, control, tell);
        });
    }
    for (std::size_t begin = 0; begin < primes;) {
        control.begin_piece();
        ResidueTerms some = with_primes_at_once(primes - begin, [&]<int K>() {
            return few_by_table<K>(plan, residues, begin, first, count, control);
        });
        for (std::vector<std::uint64_t> &terms : some) tell(begin++, std::move(terms));
    }
}

double table_seconds(const PeriodicPlan &plan, std::int64_t last) {
    constexpr double of_move = 3e-9;
    return static_cast<double>(last) * plan.moves() * of_move;
}

Work placed_table(const PeriodicPlan &plan, double cpu_seconds, double gpu_seconds, double gpu_bytes,
                  bool is_shared) {
    return {"periodic",
            cpu_seconds / plan.options.threads,
            gpu_start::open + gpu_start::compile,
            [gpu_seconds](const GpuProperties &) { return gpu_seconds; },
            gpu_bytes,
            is_shared};
}

} // namespace libperm
