#include "lib/tape/tape_run.hpp"

#include "lib/base/aligned_doubles.hpp"
#include "lib/frontier/cost.hpp"
#include "lib/number/doubles.hpp"
#include "lib/run/call.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace libperm {
namespace {

constexpr std::int64_t most_moves = 1 << 20;   // a millisecond or two
constexpr double plan_overhead = 5e-5;         // seconds of executing it, beside its blocks
constexpr double single_move_seconds = 1.5e-9; // of one matrix alone
constexpr std::int64_t most_entries = 1 << 12;

// How many doubles a real number takes.
std::size_t doubles_of(TapeLayout layout) { return is_dd(layout.arithmetic) ? 2 : 1; }

bool wants_doubles(const Plan &plan) {
    const Options &o = plan.options;
    return (o.precision == Precision::automatic || o.precision == Precision::double_) &&
           (!o.names_engine() || o.engine == engine_for(Goal::repeated)) &&
           (plan.input.value_type == PERM_VALUE_F64 || plan.input.value_type == PERM_VALUE_C128) &&
           !plan.input.written && plan.input.free_lines() == 0 && !plan.input.repeats;
}

// Operations along the paths that were found for the blocks, whichever way was chosen.
double operations_of_paths(const Plan &plan) {
    double all = 0;
    for (const auto &[lines, block] : plan.block_plans) {
        double least = infinity;
        for (const Candidate &c : block.candidates)
            if (facts_of(c.engine).transfers_states && !form_facts(c)->has_tree)
                least = std::min(least, c.cost.operations);
        if (least < infinity) all += least;
    }
    return all;
}

} // namespace

struct TapePlan::Workspace {
    Workspace(const Tape &tape, std::size_t block)
        : entries(aligned_doubles(at(tape.nnz) * block)),
          states(aligned_doubles(2 * std::size_t{tape.most_states} * block)),
          largest(at(tape.n) * tape_lanes) {}

    AlignedDoubles entries, states;
    std::vector<double> largest; // of each row of each matrix; then the power of two that brings it below 1
};

// A workspace that nobody else has, for as long as this lives.
class TapePlan::Lease {
  public:
    explicit Lease(const TapePlan &of) : of_(of) {
        for (std::atomic<Workspace *> &place : of.idle_) {
            if (place.load(std::memory_order_relaxed)) work_ = place.exchange(nullptr);
            if (work_) return;
        }
        const TapeLayout widest{of.arithmetic(true), true, tape_lanes};
        work_ = new Workspace(of.tape_, widest.block());
    }
    ~Lease() {
        for (std::atomic<Workspace *> &place : of_.idle_)
            if (Workspace *none = nullptr; place.compare_exchange_strong(none, work_)) return;
        delete work_; // more threads than places
    }
    Lease(const Lease &) = delete;
    Lease &operator=(const Lease &) = delete;

    Workspace &operator*() const { return *work_; }

  private:
    const TapePlan &of_;
    Workspace *work_ = nullptr;
};

// Brings the values of one matrix into its lane, every row scaled by the power of two that brings its largest
// into [1/2, 1): what a tape's states are products and sums of stays near 1.
template <bool complex> class TapePlan::Load {
  public:
    static constexpr std::int64_t parts = complex ? 2 : 1;

    Load() = default;
    Load(const Tape &tape, const double *values, std::span<double> largest)
        : tape_(&tape), values_(values), largest_(largest) {}

    // Whether all are finite, and no row lies among the subnormal numbers.
    bool look() {
        std::fill(largest_.begin(), largest_.end(), 0.0);
        double sum = 0; // of what is finite finite, for it is scaled down
        for (std::size_t k = 0; k < at(tape_->nnz); ++k)
            for (std::size_t part = 0; part < at(parts); ++part) {
                const double x = values_[k * at(parts) + part], size = std::fabs(x);
                sum += size * 0x1p-100;
                nonnegative_ = nonnegative_ && x >= 0;
                double &row = largest_[tape_->row[k]];
                row = size > row ? size : row;
            }
        return std::isfinite(sum) && std::all_of(largest_.begin(), largest_.end(),
                                                 [](double x) { return x == 0 || x >= 0x1p-1021; });
    }
    bool nonnegative() const { return nonnegative_ && !complex; }

    Loaded put(double *entries, TapeLayout layout, int lane) {
        scale_into(entries, layout, lane);
        return {exp2_, bits(entries, layout, lane)};
    }

  private:
    void scale_into(double *entries, TapeLayout layout, int lane) {
        exp2_ = 0;
        for (double &x : largest_) {
            const int exponent = x == 0 ? 0 : std::ilogb(x) + 1;
            x = std::ldexp(1.0, -exponent);
            exp2_ += exponent;
        }
        const std::size_t lanes = at(layout.lanes), block = layout.block(), apart = doubles_of(layout);
        for (std::size_t k = 0; k < at(tape_->nnz); ++k) {
            double *const to = entries + k * block + at(lane);
            const double scale = largest_[tape_->row[k]];
            double size = 0;
            for (std::size_t part = 0; part < at(parts); ++part) {
                const double value = values_[k * at(parts) + part], x = value * scale;
                lost_ = lost_ || (value != 0 && std::fabs(x) < 0x1p-1022);
                to[part * apart * lanes] = x;
                if (apart == 2) to[(part * 2 + 1) * lanes] = 0;
                size += std::fabs(x);
            }
            if (layout.magnitudes) to[at(parts) * apart * lanes] = size;
        }
    }
    // Every product of an entry of each row, as they were put, is a multiple of 2^-bits; -1 if that would be
    // of no use.
    int bits(const double *entries, TapeLayout layout, int lane) const {
        constexpr int most_digits = 40, most = 900;
        if (lost_) return -1;
        const std::size_t apart = doubles_of(layout);
        const std::span<double> least = largest_; // of each row: that of which all entries are multiples
        std::fill(least.begin(), least.end(), 1.0);
        for (std::size_t k = 0; k < at(tape_->nnz); ++k)
            for (std::size_t part = 0; part < at(parts); ++part) {
                const double x = entries[k * layout.block() + part * apart * at(layout.lanes) + at(lane)];
                if (x == 0) continue;
                const auto word = std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffff;
                const auto exponent = static_cast<int>(word >> 52) - 1075;
                const int zeros = std::countr_zero(word | std::uint64_t{1} << 52);
                if (53 - zeros > most_digits || exponent + zeros < -most) return -1;
                double &row = least[tape_->row[k]];
                row = std::min(row, std::ldexp(1.0, exponent + zeros));
            }
        double bits = 0;
        for (const double x : least) bits -= std::ilogb(x);
        return bits <= most ? static_cast<int>(bits) : -1;
    }

    const Tape *tape_ = nullptr;
    const double *values_ = nullptr;
    std::span<double> largest_;
    std::int64_t exp2_ = 0;
    bool nonnegative_ = true, lost_ = false; // bits of entries far below others of their row
};

TapePlan::TapePlan(Tape tape, const Plan &plan)
    : tape_(std::move(tape)), complex_(plan.input.value_type == PERM_VALUE_C128), escalation_(plan.options) {
    // What underflow loses, and is then multiplied by row sums of entries below 1.
    std::vector<double> sums(at(tape_.n), 0);
    for (const std::uint32_t row : tape_.row) sums[row] += complex_ ? 2 : 1;
    double growth = 0x1p-1068 * (static_cast<double>(tape_.moves.size()) + static_cast<double>(tape_.nnz));
    for (const double sum : sums) growth *= std::max(1.0, sum);
    underflow_ = growth;
}

TapePlan::~TapePlan() {
    for (const std::atomic<Workspace *> &place : idle_) delete place.load();
}

std::int64_t TapePlan::bytes() const {
    const TapeLayout widest{arithmetic(true), true, tape_lanes};
    const std::int64_t blocks = tape_.nnz + 2 * std::int64_t{tape_.most_states};
    return blocks * static_cast<std::int64_t>(widest.block() * sizeof(double));
}

Outcome TapePlan::outcome_of(const TapeAnswer &answer, bool on_gpu) const {
    Outcome outcome = libperm::outcome_of(tape_, answer, on_gpu);
    outcome.counts.peak_bytes = bytes();
    return outcome;
}

Outcome outcome_of(const Tape &tape, const TapeAnswer &answer, bool on_gpu) {
    Outcome outcome;
    outcome.value = answer.re;
    outcome.error = answer.error;
    outcome.rel_error_bound = answer.rel_error_bound;
    outcome.exact = answer.exact;
    outcome.counts.states = tape.states();
    outcome.counts.peak_states = tape.most_states;
    outcome.counts.operations = static_cast<double>(tape.moves.size());
    outcome.blocks = outcome.blocks_computed = 1;
    outcome.engine = engine_for(Goal::repeated);
    outcome.transposed = tape.transposed;
    outcome.on_gpu = on_gpu;
    return outcome;
}

void TapeAnswer::set_error(const Scaled &size, const Scaled &of_value) {
    error = written_error(size, of_value);
    rel_error_bound = to_double_up(relative_error(size, of_value));
}

std::size_t TapeAnswer::digits() const {
    return exact ? every_digit : written_digits(make_scaled(rel_error_bound));
}

Answer answer_of(const TapeAnswer &of, bool with_text) {
    Answer answer;
    answer.re = to_double(of.re);
    answer.im = to_double(of.im);
    answer.error = of.error;
    if (with_text) {
        answer.text = to_text(of.re, of.digits());
        if (of.im.mantissa != 0) {
            const std::string im = to_text(of.im, of.digits());
            answer.text += (im.front() == '-' ? "" : "+") + im + "i";
        }
    }
    const bool real = of.im.mantissa == 0, imaginary = of.re.mantissa == 0;
    answer.exp2 = real ? of.re.exp2 : imaginary ? of.im.exp2 : std::max(of.re.exp2, of.im.exp2);
    const auto mantissa = [&](const Scaled &x) {
        return x.mantissa == 0 ? 0 : to_double({x.mantissa, x.exp2 - answer.exp2});
    };
    answer.mantissa_re = mantissa(of.re);
    answer.mantissa_im = mantissa(of.im);
    return answer;
}

void TapePlan::order(Plan &plan) {
    if (plan.input.pattern.one_sided) return; // which has no rows
    if (!wants_doubles(plan) || plan.input.pattern.nnz() > most_entries || plan.n() == 0) return;
    // Few moves are enough for no matrix whose plan takes a hundred times as long; but starting a GPU takes
    // longer.
    constexpr double longest = 100 * single_move_seconds * most_moves;
    const bool too_long = plan.options.device != Device::gpu && plan.serial_seconds > longest;
    if (plan.refusal != PERM_OK || too_long || least_frontier(plan.input.pattern).expansions > most_moves)
        return;
    // Nor where a tree is short and the paths that were found are so much longer.
    if (operations_of_paths(plan) > 100 * most_moves) return;
    const FrontierOrder order = find_tape_order({plan.input.pattern}, plan.options.seed, &call().memory());
    if (!order.feasible) return;
    // About: to find out by writing them takes as long as many a plan.
    constexpr int samples = 16;
    constexpr double uncertain = 1.5;
    const FrontierProgram program = tape_program({plan.input.pattern}, order, samples);
    if (frontier_cost(program, FrontierForm::sparse, false).operations > uncertain * most_moves) return;
    plan.tape_transposed = order.transposed;
    plan.tape_rows = order.rows;
}

std::unique_ptr<const TapePlan> TapePlan::of(const Plan &plan) {
    if (plan.tape_rows.empty() || !wants_doubles(plan) || plan.refusal != PERM_OK) return nullptr;
    if (!plan.options.checkpoint.empty()) return nullptr; // of which nothing would be kept
    const Pattern &pattern = plan.input.pattern;
    std::optional<Tape> tape = make_tape(
        tape_program({pattern}, {true, plan.tape_transposed, plan.tape_rows, 0}), pattern, most_moves);
    if (!tape || tape->moves.empty()) return nullptr;
    // What is known of the values may have left less to do.
    const double directly = single_move_seconds * static_cast<double>(tape->moves.size());
    if (plan_overhead + plan.serial_seconds < directly) return nullptr;
    if (const auto &source = plan.input.source; !source.empty()) { // entries by the caller's numbers
        std::vector<std::uint32_t> row(source.size());
        for (std::size_t k = 0; k < source.size(); ++k) row[at(source[k])] = tape->row[k];
        tape->row = std::move(row);
        for (TapeMove &move : tape->moves) move.entry = static_cast<std::uint32_t>(source[move.entry]);
    }
    std::unique_ptr<const TapePlan> direct(
        new TapePlan(std::move(*tape), plan)); // its constructor is private
    if (!std::isfinite(direct->underflow_) || direct->underflow_ > 0x1p-500) return nullptr;
    if (direct->bytes() > plan.options.memory_limit) return nullptr;
    return direct;
}

namespace {

// From the last state's block, of which there is none if there are no moves.
struct Last {
    double re = 0, im = 0, magnitude = 0;
    double lows = 0; // what re and im, as doubles, may lack: no more digits are told than these have
};
Last last_of(const double *block, TapeLayout layout, int lane) {
    if (!block) return {};
    const auto part = [&](int k) { return block[k * layout.lanes + lane]; };
    const int parts = parts_of(layout.arithmetic);
    Last last{part(0), 0, part(layout.magnitudes ? parts : 0), 0};
    if (is_complex(layout.arithmetic)) last.im = part(parts / 2);
    const auto low = [&](double high, int k) {
        return std::max(std::fabs(part(k)), 0x1p-53 * std::fabs(high));
    };
    if (is_dd(layout.arithmetic)) {
        last.lows = low(last.re, 1);
        if (is_complex(layout.arithmetic)) last.lows += low(last.im, 3);
    }
    return last;
}

} // namespace

Arithmetic TapePlan::arithmetic(bool dd) const {
    if (complex_) return dd ? Arithmetic::complex_dd : Arithmetic::complex;
    return dd ? Arithmetic::dd : Arithmetic::real;
}

bool TapePlan::run(std::span<const void *const> matrices, bool dd, TapeAnswer *answers) const {
    return complex_ ? run_as<true>(matrices, dd, answers) : run_as<false>(matrices, dd, answers);
}

template <bool complex>
bool TapePlan::run_as(std::span<const void *const> matrices, bool dd, TapeAnswer *answers) const {
    const Lease lease(*this);
    Workspace &work = *lease;
    const std::size_t n = at(tape_.n);
    TapeLayout layout{arithmetic(dd), complex || dd, matrices.size() == 1 ? 1 : tape_lanes};
    std::array<Load<complex>, tape_lanes> loads;
    std::array<Loaded, tape_lanes> loaded;
    for (std::size_t lane = 0; lane < at(layout.lanes); ++lane) { // those to spare are the last one's again
        const auto *values = static_cast<const double *>(matrices[std::min(lane, matrices.size() - 1)]);
        loads[lane] = {tape_, values, std::span(work.largest).subspan(lane * n, n)};
        if (!loads[lane].look()) return false;
        layout.magnitudes = layout.magnitudes || !loads[lane].nonnegative();
    }
    for (std::size_t lane = 0; lane < at(layout.lanes); ++lane) {
        loaded[lane] = loads[lane].put(work.entries.get(), layout, static_cast<int>(lane));
    }
    const double *block = run_tape(tape_, layout, work.entries.get(), work.states.get());
    for (std::size_t k = 0; k < matrices.size(); ++k)
        answers[k] = answer(block, layout, static_cast<int>(k), loaded[k]);
    return true;
}

TapeAnswer TapePlan::answer(const double *block, TapeLayout layout, int lane, const Loaded &matrix) const {
    const double moves = tape_.roundings + 2;
    const double gamma = gamma_bound(fused_roundings(layout.arithmetic) * moves, unit_of(layout.arithmetic)) /
                         (1 - gamma_bound(moves)) * (1 + 0x1p-40);
    const Last last = last_of(block, layout, lane);
    TapeAnswer answer;
    answer.re = make_scaled(last.re, matrix.exp2);
    answer.im = make_scaled(last.im, matrix.exp2);
    // Integers below 2^53 in some unit: whatever reaches the end has reached it times one at least.
    answer.exact = matrix.bits >= 0 && std::ldexp(last.magnitude, matrix.bits) <= 0x1p53 * (1 - 0x1p-20);
    const double error = answer.exact ? 0 : gamma * last.magnitude + 1.01 * last.lows + underflow_;
    answer.set_error(make_scaled(std::hypot(last.re, last.im), matrix.exp2), make_scaled(error, matrix.exp2));
    return answer;
}

} // namespace libperm
