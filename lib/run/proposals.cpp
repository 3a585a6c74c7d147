#include "lib/run/proposals.hpp"

#include "jit/text/text.hpp"
#include "lib/base/system.hpp"
#include "lib/number/state_number.hpp"
#include "lib/run/call.hpp"
#include "lib/run/escalation.hpp"
#include "lib/run/placement.hpp"
#include "preprocess/binomials.hpp"
#include "preprocess/limits.hpp"

#include <cmath>

namespace libperm {
namespace {

// Brègman and Minc's bound for the pattern, and the entries' bits.
double permanent_bits(const Pattern &a, double entry_bits) {
    double bits = a.rows * entry_bits;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        const auto degree = static_cast<double>(a.row(i).size());
        bits += log_factorial(degree) / std::log(2.0) / std::max(1.0, degree);
    }
    return bits;
}

// An exact run holds, beside its tables, the matrix in whole numbers and modulo each prime.
double bytes_of_residues(const Pattern &a, const Candidate &c, const Numbers &numbers, double bits) {
    constexpr double prime_bits = 60, whole = 300; // of a prime; bytes of an entry
    const double matrices = (numbers.complex ? 2 : 1) * (bits / prime_bits + 1);
    const std::size_t read = c.plan ? c.plan->entries_read().size() : 0;
    const auto all = static_cast<double>(a.nnz());
    return 8 * matrices * (read > 0 ? static_cast<double>(read) : all) + whole * all;
}

// Of an entry made an integer, in plans in doubles, which do not look.
double guessed_bits(const BlockValues &values) { return values.may_be_long ? 60 : 4; }

} // namespace

Proposals::Proposals(const Pattern &block, const Pattern &transposed, const LineClasses &lines,
                     const BlockValues &of_values, const Options &of_call, double of_searches)
    : a(block),
      at(transposed),
      kinds(lines),
      values(of_values),
      options(of_call),
      effort(of_searches),
      machine(of_call, polled_here() ? polled_here()->call() : nullptr),
      bits(permanent_bits(block, of_values.entry_bits)) {}

bool Proposals::asks_for_gpu() const {
    if (options.device == Device::gpu) return true;
    const EngineFacts &named = facts_of(options.engine);
    if (!named.on_cpu) return true;
    if (!named.on_gpu || options.device == Device::cpu || rough_seconds_ < worth_a_gpu) return false;
    return std::none_of(candidates.begin(), candidates.end(), [](const Candidate &c) {
        return !c.on_gpu && c.refusal == PERM_OK && c.expected_runs * c.cost.serial_seconds < worth_a_gpu;
    });
}

double Proposals::matrices() const {
    const bool is_exact = values.numbers.precision == Precision::exact;
    const double all = bits + (is_exact ? 0 : a.rows * guessed_bits(values));
    return (std::ceil(all / residue_bits) + 1) * (values.numbers.complex ? 2 : 1);
}

void Proposals::expect_no_more() {
    if (std::none_of(candidates.begin(), candidates.end(),
                     [](const Candidate &c) { return c.refusal == PERM_OK; }))
        rough_seconds_ = std::numeric_limits<double>::infinity();
}

bool Proposals::may_use_gpu() const {
    return asks_for_gpu() &&
           (options.device == Device::gpu || needs_gpu(options.engine) || machine.has_gpu());
}

// Two engines search, each on two cores at least, as a rule on 8 beside a GPU. A CPU's run is shared out
// among as many; kernels are kept.
SearchBudget Proposals::search_budget(bool on_gpu) const {
    SearchBudget budget;
    budget.share = on_gpu ? 0.25 : 0.02;
    budget.effort = effort;
    // Of what will be refused for its time searches take a tenth of the limit in all, or three seconds.
    constexpr double searches = 4, most_of_refusal = 3, share_of_limit = 0.1;
    budget.limit = usual_threads * options.refuse_seconds;
    budget.of_refused = std::min(most_of_refusal, share_of_limit * options.refuse_seconds) / searches;
    return budget;
}

// A millisecond more is much where a GPU would be done; else there may be thousands of patterns.
KeptOrders Proposals::kept_orders() const {
    return {options.cache, machine.saw_gpu() ? 1e-3 : 0.02,
            [this](bool was_kept) { machine.looked_up_order(was_kept); }};
}

Outlook Proposals::outlook_of(const Cost &cost, bool on_gpu) const {
    const SearchBudget budget = search_budget(on_gpu);
    const double run = cost.serial_seconds - cost.compile_seconds;
    // To start a GPU takes longer than that.
    return {cost.serial_seconds,
            budget.of(on_gpu ? std::max(run, budget.least / SearchBudget::of_short) : run)};
}

Outlook Proposals::best_so_far() const {
    Outlook best;
    for (const Candidate &c : candidates)
        if (c.refusal != PERM_UNSUPPORTED) best = better(best, outlook_of(c.cost, c.on_gpu));
    return best;
}

bool Proposals::may_go_on() const {
    const Arithmetic arithmetic = values.numbers.arithmetic();
    return options.precision == Precision::automatic && !values.nonnegative &&
           (arithmetic == Arithmetic::real || arithmetic == Arithmetic::complex);
}

double Proposals::least_seconds() const {
    double least = std::numeric_limits<double>::infinity();
    for (const Candidate &c : candidates)
        if (c.refusal != PERM_UNSUPPORTED) least = std::min(least, c.cost.serial_seconds);
    return least;
}

double Proposals::worthwhile_seconds() const {
    double most = options.refuse_seconds / seconds_on(options.threads, 1.0);
    for (const Candidate &c : candidates)
        if (c.refusal == PERM_OK)
            most =
                std::min(most, sums_subsets(c.engine) ? std::max(weight(c), second_run_seconds) : weight(c));
    return most;
}

void Proposals::require_gpu(Candidate &c) const {
    if (c.refusal != PERM_OK || machine.has_gpu()) return;
    c.lacks_gpu = true;
    c.refusal = PERM_UNSUPPORTED;
    c.why_not = "needs a GPU: " + machine.why_no_gpu();
}

void Proposals::judge(Candidate &c) const {
    const double memory = machine.memory_limit(c.on_gpu);
    c.seconds = predicted_seconds(c, options);
    if (c.refusal != PERM_OK) return;
    if (c.cost.bytes > memory) {
        c.refusal = PERM_REFUSED_MEMORY;
        c.why_not = formatted("needs {} of {}memory, {} is the limit; with that it is predicted to take {}",
                              readable_bytes(c.cost.bytes), c.on_gpu ? "the GPU's " : "",
                              readable_bytes(memory), readable_seconds(c.seconds));
    } else if (c.seconds > options.refuse_seconds) {
        c.refusal = PERM_REFUSED_TIME;
        const std::string where =
            c.on_gpu ? "the GPU" : formatted("{} thread{}", options.threads, options.threads == 1 ? "" : "s");
        c.why_not = "is " + beyond_time_limit(c.seconds, options, where);
    }
}

Candidate Proposals::judged(Candidate c, const Slowdown &slowdown) const {
    c.cost.serial_seconds =
        c.cost.compile_seconds + slowdown.time * (c.cost.serial_seconds - c.cost.compile_seconds);
    c.cost.bytes *= slowdown.memory;
    c.cost.bytes_per_state =
        static_cast<std::int64_t>(static_cast<double>(c.cost.bytes_per_state) * slowdown.memory);
    if (values.numbers.precision == Precision::exact && !c.on_gpu)
        c.cost.bytes += std::max(0.0, bytes_of_residues(a, c, values.numbers, bits) -
                                          static_cast<double>(MemoryBudget::unnoticed_bytes));
    if (const double each = c.cost.bytes_of_matrix; each > 0) {
        const double room = std::floor((machine.memory_limit(false) - c.cost.bytes) / each);
        c.cost.bytes += each * std::clamp(room, 0.0, std::min<double>(matrices(), options.threads) - 1);
    }
    judge(c);
    return c;
}

} // namespace libperm
