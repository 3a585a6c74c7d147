#include "lib/polynomial/matching_numbers.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/base/struct_size.hpp"
#include "lib/base/system.hpp"
#include "lib/execute/execute.hpp"
#include "lib/execute/plan_task.hpp"
#include "lib/input/digest.hpp"
#include "lib/input/graph.hpp"
#include "lib/input/written_out.hpp"
#include "lib/number/ball.hpp"
#include "lib/polynomial/ferrers_numbers.hpp"
#include "lib/polynomial/kronecker.hpp"
#include "lib/polynomial/substitution.hpp"
#include "lib/run/placement.hpp"
#include "lib/saved/bytes.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

namespace libperm {
namespace {

constexpr double as_planning = 0.005; // seconds

// The entries as whole numbers: times their common denominator.
struct WholeEntries {
    std::vector<Gaussian> numbers;
    mpz_class denominator = 1;
};

WholeEntries whole_entries(Values values, const Poll &poll) {
    WholeEntries out;
    PolledSteps steps(poll);
    for (const double x : values.real) out.numbers.push_back({mpq_class(x), 0});
    for (Gaussian &x : values.wide) out.numbers.push_back(std::move(x));
    for (const Gaussian &x : out.numbers)
        for (const mpq_class *part : {&x.re, &x.im}) {
            steps.take(16);
            if (part->get_den() != 1) out.denominator = lcm(out.denominator, part->get_den());
        }
    for (Gaussian &x : out.numbers) {
        steps.take(16);
        x.re *= out.denominator;
        x.im *= out.denominator;
    }
    return out;
}

// This bounds each of the numbers of matchings: every row is in none of its entries, or in one; of a graph
// the lower line of each pair is.
double bits_of_numbers(const Pattern &a, const std::vector<Gaussian> &entries, const LineCounts &row_count,
                       const LineCounts &column_count, bool is_graph, const Poll &poll) {
    PolledSteps steps(poll);
    double bits = 2; // a sign, and what these sums of logarithms are rounded by
    for (std::int32_t i = 0; i < a.rows; ++i) {
        mpz_class sum = 1;
        std::int64_t k = a.row_begin(i);
        for (const std::int32_t j : a.row(i)) {
            steps.take(16);
            const Gaussian &x = entries[at(k++)];
            if (is_graph && j < i) continue;
            sum += (abs(x.re.get_num()) + abs(x.im.get_num())) * static_cast<long>(column_count[j]);
        }
        signed long exp2 = 0;
        const double mantissa = mpz_get_d_2exp(&exp2, sum.get_mpz_t());
        bits += static_cast<double>(row_count[i]) * (static_cast<double>(exp2) + std::log2(mantissa) + 1e-9);
    }
    return std::ceil(bits);
}

constexpr std::int64_t of_number = sizeof(Gaussian) + 4 * 32; // bytes, with four short numbers

// What side_by_side comes to beside the entries: long numbers, each as often as it is written out.
std::int64_t bytes_side_by_side(std::int64_t entries, unsigned long bits,
                                const std::vector<std::int64_t> &source, const Poll &poll) {
    PolledSteps steps(poll);
    std::int64_t times = entries;
    for (const std::int64_t k : source) {
        steps.take();
        times += k >= 0 && k < entries;
    }
    return of_number * std::ssize(source) + static_cast<std::int64_t>(bits / 8) * times;
}

// Every entry times 2^bits, the weights 1.
Values side_by_side(std::vector<Gaussian> entries, unsigned long bits, const InputPattern &written,
                    const std::vector<std::int64_t> &source, const Poll &poll) {
    Values values;
    PolledSteps steps(poll);
    for (Gaussian &x : entries) {
        steps.take(64 + static_cast<std::int64_t>(bits / 32));
        x.re <<= bits;
        x.im <<= bits;
        values.wide.push_back(std::move(x));
    }
    values.wide.resize(at(value_count(written)), Gaussian{1, 0});
    return spread(values, source, poll);
}

std::optional<MatchingSums> cheapest_sums(const Pattern &a, const WholeEntries &whole,
                                          const LineCounts &row_count, const LineCounts &column_count,
                                          double bits, const Options &options, RunControl &control) {
    if (options.names_engine() || options.device == Device::gpu) return {};
    const Poll poll = [&control] { control.poll(); };
    PolledSteps steps(poll);
    const Charge charge(&control.memory(), a.nnz() * 64);
    std::vector<mpz_class> values, in_columns;
    for (const Gaussian &x : whole.numbers) {
        steps.take(16);
        if (x.im != 0) return {};
        values.push_back(x.re.get_num());
    }
    const Transposed columns = transpose(a, poll);
    for (const std::int64_t k : columns.source) {
        steps.take(16);
        in_columns.push_back(values[at(k)]);
    }
    std::optional<MatchingSums> over_columns =
        MatchingSums::of(columns.pattern, in_columns, column_count, row_count, bits, control);
    std::optional<MatchingSums> over_rows =
        MatchingSums::of(a, values, row_count, column_count, bits, control);
    const bool takes_rows =
        over_rows && (!over_columns || over_rows->serial_seconds() < over_columns->serial_seconds());
    return takes_rows ? std::move(over_rows) : std::move(over_columns);
}

void require_time(double seconds, const MatchingSums &sums, const Options &options) {
    if (seconds > options.refuse_seconds)
        throw refused_for_time(
            formatted("the numbers of matchings by sums over {:.3g} subsets are", sums.terms()), seconds,
            options);
}

std::optional<std::vector<mpz_class>> numbers_of_board(const Pattern &a, const WholeEntries &whole,
                                                       const LineCounts &row_count,
                                                       const LineCounts &column_count, std::size_t count,
                                                       const Options &options, RunControl &control) {
    if (options.names_engine() || options.device == Device::gpu) return {};
    const Charge charge(&control.memory(), a.nnz() * 32);
    std::vector<mpz_class> values;
    for (const Gaussian &x : whole.numbers) {
        if (x.im != 0) return {};
        values.push_back(x.re.get_num());
    }
    return ferrers_numbers(a, values, row_count, column_count, count, [&control] { control.poll(); });
}

void require_memory(double bits, std::int64_t most, const Options &options) {
    const double bytes = bits * static_cast<double>(most + 1) / 8 * 4; // residues, the number and its digits
    if (bytes > static_cast<double>(options.memory_limit))
        throw refused_for_memory(
            formatted("the numbers of matchings with 0 to {} edges have up to {:.3g} bits each: {}", most,
                      bits, readable_bytes(bytes)),
            static_cast<double>(options.memory_limit), "raise the limit: memory_limit_bytes");
}

std::string counts_of(const LineCounts &lines, std::int32_t count) {
    std::vector<std::int64_t> counts(at(count));
    for (std::int32_t k = 0; k < count; ++k) counts[at(k)] = lines[k];
    return written(counts);
}

Options exactly(Options options) {
    options.precision = Precision::exact;
    return options;
}

} // namespace

// The matrix without the weights of its lines.
struct MatchingTask::Entries {
    Entries(const perm_csr &csr, const InputPattern &input, RunControl &control)
        : poll([&control] { control.poll(); }),
          pattern(*input.written),
          row_count(csr.row_multiplicity, pattern.pattern.rows, "row"),
          column_count(input.pattern.one_sided ? csr.row_multiplicity : csr.col_multiplicity,
                       pattern.pattern.cols, "col"),
          is_graph(input.pattern.one_sided) {
        pattern.row_weights = pattern.col_weights = false;
        if (!pattern.source.empty()) pattern.source.resize(at(pattern.pattern.nnz()));
        charge = Charge(&control.memory(), of_number * pattern.pattern.nnz());
        Values values = read_values(pattern, csr.values, poll, &control.memory());
        digest = digest_of(values);
        if (is_graph) require_symmetric(pattern, values, poll);
        whole = whole_entries(std::move(values), poll);
    }

    Poll poll;
    InputPattern pattern;
    LineCounts row_count, column_count;
    bool is_graph;
    Charge charge;
    WholeEntries whole;
    std::string digest; // of the values
};

MatchingTask::MatchingTask(const perm_csr *given, const Options &options, RunControl &control,
                           const std::string *way)
    : options_(options) {
    const Poll poll = [&control] { control.poll(); };
    InputPattern input = read_free(given, options.function, poll, &control.memory());
    const perm_csr csr = read_known(*given, offsetof(perm_csr, row_multiplicity), "perm_csr");
    Entries entries(csr, input, control);
    const Pattern &a = entries.pattern.pattern;
    const std::int64_t most = entries.is_graph
                                  ? entries.row_count.sum() / 2
                                  : std::min(entries.row_count.sum(), entries.column_count.sum());
    count_ = most + 1;
    bits_ = bits_of_numbers(a, entries.whole.numbers, entries.row_count, entries.column_count,
                            entries.is_graph, poll);
    denominator_ = entries.whole.denominator;
    require_memory(bits_, most, options);
    matrix_ = digest_of_bytes(written(a.row_ptr) + written(a.col) +
                              written(std::vector<std::int32_t>{a.rows, a.cols, input.pattern.rows}) +
                              counts_of(entries.row_count, a.rows) + counts_of(entries.column_count, a.cols) +
                              entries.digest);
    const std::optional<std::string> kept = plan_in_checkpoint(options, TaskIdentity::matchings);
    choose(std::move(entries), std::move(input), control, way ? way : kept ? &*kept : nullptr);
}

void MatchingTask::choose(Entries entries, InputPattern input, RunControl &control, const std::string *way) {
    plan_.options = exactly(options_);
    const Pattern &a = entries.pattern.pattern;
    if (entries.is_graph) return make_plan_of(entries, std::move(input), control, way);
    if (auto board = numbers_of_board(a, entries.whole, entries.row_count, entries.column_count, at(count_),
                                      options_, control)) {
        board_ = WholeNumbers{std::move(*board), {}};
        plan_.input = std::move(input);
        return;
    }
    sums_ =
        cheapest_sums(a, entries.whole, entries.row_count, entries.column_count, bits_, options_, control);
    const bool is_named = way && way->empty();
    if (is_named && !sums_)
        throw Error(PERM_BAD_ARGUMENT, "the numbers of matchings were begun by sums over subsets, which this "
                                       "matrix with these options has not: begin anew");
    if (sums_ && (is_named || (!way && seconds_of_sums() < as_planning))) {
        plan_.input = std::move(input);
        return;
    }
    make_plan_of(entries, std::move(input), control, way);
    if (sums_ && !way && (plan_made().refusal != PERM_OK || seconds_of_sums() < plan_made().seconds)) {
        matchings_.reset();
        return;
    }
    sums_.reset();
}

// Of the matrix's own structure, or with the lines that stay unmatched written out.
void MatchingTask::make_plan_of(Entries &entries, InputPattern input, RunControl &control,
                                const std::string *way) {
    const bool may_lose_structure = RankOneAdded::may_serve(input, options_);
    const InputPattern &given = entries.pattern;
    Values alone;
    if (may_lose_structure) alone.wide = entries.whole.numbers;
    const auto look = [&](double seconds) {
        matchings_ = RankOneAdded::of(given, alone, options_, seconds, control, way);
    };
    if (may_lose_structure && way && RankOneAdded::is_plan_of(*way, given)) look(RankOneAdded::any_seconds);
    if (may_lose_structure && !way && !options_.checkpoint.empty()) look(RankOneAdded::before_a_search);
    if (matchings_) {
        plan_.input = std::move(input);
        return;
    }
    const auto shift = static_cast<unsigned long>(bits_);
    const Charge of_values(&control.memory(), bytes_side_by_side(entries.pattern.pattern.nnz(), shift,
                                                                 input.source, entries.poll));
    values_ =
        side_by_side(std::move(entries.whole.numbers), shift, *input.written, input.source, entries.poll);
    input.value_type = PERM_VALUE_TEXT;
    simplify(input, values_);
    plan_ = plan_for(std::move(input), values_, exactly(options_), control, way);
    const double otherwise = RankOneAdded::seconds_beside(plan_);
    if (may_lose_structure && !way && otherwise > 0) look(otherwise);
}

TaskIdentity MatchingTask::identity() const {
    return {TaskIdentity::matchings,
            {{matrix_, "another matrix"},
             {by_plan() ? libperm::digest_of(plan_made()) : digest_of_bytes(""),
              "numbers of matchings that are computed otherwise, as options, versions or machines differ"}}};
}

ShardCount MatchingTask::shards() const {
    if (by_plan()) return shards_of(plan_made());
    ShardCount shards;
    if (!sums_) return shards;
    constexpr double least_seconds = 0.01;
    const double seconds = sums_->serial_seconds(), most = static_cast<double>(sums_->pieces());
    shards.count = static_cast<std::int64_t>(std::clamp(std::floor(seconds / least_seconds), 1.0, most));
    shards.seconds = seconds / static_cast<double>(shards.count);
    return shards;
}

KeptAbout MatchingTask::about() const {
    KeptAbout it = plan_task().about();
    if (by_plan()) return it;
    it.way = sums_ ? "sums over subsets" : "none";
    it.seconds = sums_ ? seconds_of_sums() : 0;
    return it;
}

std::string MatchingTask::plan() const { return by_plan() ? bytes_of(plan_made()) : std::string(); }

bool MatchingTask::is_plan(const std::string &bytes) const {
    return by_plan() ? plan_task().is_plan(bytes) : bytes.empty();
}

void MatchingTask::require_shards() const {
    if (by_plan()) plan_task().require_shards();
}

std::vector<mp_limb_t> MatchingTask::run_sums(PieceStore *store, RunControl &control) const {
    const double share = store ? store->share() : 1, seconds = share * seconds_of_sums();
    require_time(seconds, *sums_, options_);
    log_decision(formatted("numbers of matchings: sums over {:.3g} subsets of lines, {} predicted",
                           sums_->terms(), readable_seconds(seconds)));
    const Charge held(&control.memory(), sums_->bytes());
    control.begin(share * sums_->terms(), seconds);
    RunControl own(control, 1, PieceScope{store, {}});
    return sums_->sums(options_.threads, own);
}

void MatchingTask::run_shard(const Shard &, PieceStore &store, RunControl &control) const {
    if (sums_) run_sums(&store, control);
    if (by_plan()) execute_once(plan_made(), values(), control, &store);
}

std::vector<Outcome> MatchingTask::run(PieceStore *store, RunControl &control, const Told &) const {
    const Poll poll = [&control] { control.poll(); };
    Outcome like;
    if (board_) return answers(*board_, like);
    if (by_plan()) {
        like = execute(plan_made(), values(), control, store);
        const WholeNumbers numbers = numbers_of(like, poll);
        like.wide.reset(); // each answer begins as a copy
        return answers(numbers, like);
    }
    const WholeNumbers numbers{sums_->numbers(run_sums(store, control), at(count_)), {}};
    like.engine = engine_for(Goal::matchings);
    like.blocks = like.blocks_computed = 1;
    like.predicted_seconds = seconds_of_sums();
    like.counts.subsets = sums_->terms();
    like.counts.peak_bytes = control.memory().peak();
    return answers(numbers, like);
}

MatchingTask::WholeNumbers MatchingTask::numbers_of(const Outcome &sum, const Poll &poll) const {
    if (matchings_) {
        std::vector<Gaussian> all = matchings_->numbers(sum, poll); // of whole entries
        all.resize(at(count_));
        WholeNumbers numbers;
        for (const Gaussian &x : all) {
            numbers.re.push_back(x.re.get_num());
            numbers.im.push_back(x.im.get_num());
        }
        return numbers;
    }
    const auto bits = static_cast<unsigned long>(bits_);
    const Gaussian number = sum.wide ? *sum.wide : Gaussian{exact_number(sum.value), 0};
    return {digits_of(number.re.get_num(), at(count_), bits, poll),
            digits_of(number.im.get_num(), at(count_), bits, poll)};
}

std::vector<Outcome> MatchingTask::answers(const WholeNumbers &numbers, const Outcome &like) const {
    std::vector<Outcome> out;
    mpz_class power = 1;
    for (std::size_t k = 0; k < numbers.re.size(); ++k) {
        Outcome one = like;
        Gaussian coefficient{mpq_class(numbers.re[k], power),
                             numbers.im.empty() ? mpq_class(0) : mpq_class(numbers.im[k], power)};
        coefficient.re.canonicalize();
        coefficient.im.canonicalize();
        set_value(one, WideBall{std::move(coefficient), {}});
        round_off(options_, one);
        out.push_back(std::move(one));
        power *= denominator_;
    }
    return out;
}

} // namespace libperm
