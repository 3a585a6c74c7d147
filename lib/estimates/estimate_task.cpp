#include "lib/estimates/estimate_task.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/base/system.hpp"
#include "lib/bounds/magnitudes.hpp"
#include "lib/execute/block_run.hpp"
#include "lib/frontier/cost.hpp"
#include "lib/run/placement.hpp"
#include "lib/structure/find_structure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <oneapi/tbb/task_arena.h>
#include <utility>

namespace libperm {
namespace {

constexpr double at_once = 0.3; // seconds: what is computed exactly without asking what an estimate takes
constexpr double at_once_effort = 0.02,
                 effort = 0.3;              // of the search for orders, for that and for what takes longer
constexpr double operations_a_second = 1e9; // of a frontier, at most
constexpr std::int32_t many_subsets = 28;   // rows, of whose subsets there are too many at once

Options options_of_exact_blocks(const Options &given) {
    Options options = given;
    options.engine = Engine::automatic;
    options.device = Device::cpu;
    options.precision = Precision::automatic;
    options.modulus = 0;
    options.passes.scaling = true;
    options.checkpoint.clear();
    return options;
}

// The entries' absolute values, of a real matrix.
Values absolute(Values values) {
    for (double &x : values.real) x = std::fabs(x);
    for (Gaussian &x : values.wide) x.re = abs(x.re);
    return values;
}

// That all terms have; 0: they have no common one, or nobody sees it.
int sign_of_terms(const InputPattern &input, const Values &values) {
    if (!some_negative(values)) return 1;
    return some_complex(values) ? 0 : sign_by_lines(root_block<Tracked>(input, values));
}

std::string digest_of(const InputPattern &input) {
    const std::vector<std::int32_t> numbers{input.pattern.rows, input.pattern.cols, input.free_rows,
                                            input.free_columns, input.repeats};
    return digest_of_bytes(written(numbers) + written(input.pattern.row_ptr) + written(input.pattern.col));
}

std::string digest_of(const Options &given, const EstimateRequest &request) {
    const Passes &p = given.passes;
    std::vector<std::uint64_t> numbers{request.seed, static_cast<std::uint64_t>(request.method),
                                       static_cast<std::uint64_t>(request.samples), given.seed};
    for (const bool flag : {p.matching, p.dulmage_mendelsohn, p.degree_1, p.degree_2, p.forbert_marx,
                            p.merging, p.scaling, p.periodic, given.decompose_as_published})
        numbers.push_back(flag);
    return digest_of_bytes(written(numbers) + written(std::vector<double>{request.epsilon, request.delta}));
}

std::unique_ptr<EstimateTask> planned(const InputPattern &input, const Values &values, const Options &options,
                                      const EstimateRequest &request) {
    const int sign = request.method == EstimateMethod::glynn ? 0 : sign_of_terms(input, values);
    const bool of_nonnegative =
        request.method == EstimateMethod::nesting || request.method == EstimateMethod::rejection;
    if (sign == 0 && of_nonnegative)
        throw Error(
            PERM_BAD_MATRIX,
            "some entries are negative or complex: this method is for nonnegative matrices, and those "
            "that signs of rows and columns make nonnegative; use auto or glynn, whose error is "
            "additive");
    if (sign == 0) return additive_estimate(input, values, options, request);
    return nonnegative_estimate(input, absolute(values), sign, options, request);
}

} // namespace

template <class Value>
BlocksLeft<Value>::BlocksLeft(const InputPattern &input, const Values &values, const Options &options)
    : known(ball_of(number_one<Value>())),
      options_(options_of_exact_blocks(options)),
      values_(block_values_of<Value>(values, options_)) {
    multiply_blocks<Value>(input, values, options.passes, *this);
}

template <class Value> void BlocksLeft<Value>::number(const Value &x) {
    is_zero = is_zero || libperm::is_zero(x);
    known = known * ball_of(x);
}

template <class Value> void BlocksLeft<Value>::zero_block() {
    is_zero = true;
    ++blocks;
    ++blocks_exact;
}

template <class Value> void BlocksLeft<Value>::block(LeafOf<Value> leaf) {
    ++blocks;
    Left one{std::move(leaf), {}};
    if (!computed_within(at_once, one)) left.push_back(std::move(one));
}

template <class Value> bool BlocksLeft<Value>::computed_within(double seconds, Left &one) {
    const Pattern &pattern = one.leaf.block.pattern;
    Structure structure;
    if (options_.passes.structure) structure = structure_of(one.leaf.block, &call().memory());
    const bool is_far = structure.is_none() && seconds <= at_once && pattern.rows > many_subsets &&
                        least_frontier(pattern).expansions > seconds * operations_a_second;
    if (is_far || (one.plan && seconds < 1)) return false;
    BlockValues values = values_;
    values.structure = &structure;
    one.plan =
        plan_block(pattern, one.leaf.kinds, values, options_, seconds <= at_once ? at_once_effort : effort);
    if (one.plan->refusal != PERM_OK || one.plan->best().cost.serial_seconds > seconds) return false;
    compute(std::move(one));
    return true;
}

template <class Value> void BlocksLeft<Value>::compute(Left one) {
    ++blocks_exact;
    const Outcome outcome = run_block({*one.plan, options_, call().memory(), {}}, std::move(one.leaf.block));
    known = known * ball_of_outcome<Value>(outcome);
}

template class BlocksLeft<Tracked>;
template class BlocksLeft<Gaussian>;

std::unique_ptr<const EstimateTask> EstimateTask::of(InputPattern input, Values values,
                                                     const Options &options, const EstimateRequest &request) {
    const auto begun = std::chrono::steady_clock::now();
    simplify(input, values);
    std::unique_ptr<EstimateTask> task = planned(input, values, options, request);
    task->known_.seconds_plan =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    task->n_ = input.pattern.rows;
    task->entries_ = input.pattern.nnz();
    task->matrix_ = digest_of_bytes(digest_of(input) + libperm::digest_of(values));
    task->wish_ = digest_of(options, request);
    return task;
}

TaskIdentity EstimateTask::identity() const {
    std::string blocks;
    for (std::size_t k = 0; k < pieces_.size(); ++k) blocks += digest_of_block(k);
    return {TaskIdentity::estimate,
            {{matrix_, "another matrix"},
             {wish_, "an estimate with other options"},
             {digest_of_bytes(blocks),
              "an estimate that was planned otherwise, as versions or machines differ"}}};
}

double EstimateTask::seconds() const {
    double seconds = 0;
    for (const SamplePieces &one : pieces_) seconds += one.seconds();
    return seconds;
}

// One has pieces of each block, in proportion to those that are expected of it.
ShardCount EstimateTask::shards() const {
    constexpr double least_seconds = 0.02;
    double most = 1;
    for (const SamplePieces &one : pieces_) most = std::max(most, static_cast<double>(one.expected()));
    ShardCount out = shards_of(seconds(), most, least_seconds);
    out.more_may_follow = true;
    return out;
}

std::uint64_t EstimateTask::first_of(std::uint64_t shard, const SamplePieces &pieces) const {
    const auto count = static_cast<std::uint64_t>(shards().count);
    const std::uint64_t whole = shard / count * pieces.expected(), // each below 2^43
        part = shard % count * pieces.expected() / count;
    return std::min(pieces.limit(), whole + part);
}

KeptAbout EstimateTask::about() const { return {n_, entries_, method(), seconds()}; }

void EstimateTask::tell(const MatrixEstimate &found, KeptAbout &about) const {
    about.samples = found.samples;
    about.lower = found.lower;
    about.upper = found.upper;
}

// Who draws such a share of the samples; refused where that is predicted to take too long.
SamplesDrawn EstimateTask::drawn_where(double share) const {
    if (share == 0) return {nullptr, 0};
    const double serial = share * seconds();
    const auto on_gpu = [&](const GpuProperties &gpu) { return share * seconds_on(gpu); };
    SamplesDrawn drawn = may_be_on_gpu() ? choose_device(serial, on_gpu, options_)
                                         : SamplesDrawn{nullptr, serial / options_.threads};
    if (drawn.seconds > options_.refuse_seconds)
        throw refused_for_time(promise() + ": it is", drawn.seconds, options_,
                               "allow more with time_limit_seconds, or ask for a larger epsilon");
    return drawn;
}

// Of the samples that are expected to be enough those that the store does not have.
double EstimateTask::share_unknown(PieceStore *store) const {
    if (!store || pieces_.empty()) return store ? 0 : 1;
    double unknown = 0;
    for (std::size_t k = 0; k < pieces_.size(); ++k)
        unknown += pieces_[k].seconds() * pieces_[k].share_unknown(scope_of(k, store));
    return unknown / seconds();
}

MatrixEstimate EstimateTask::run(PieceStore *store, const Told &told) const {
    const Charge held(&call().memory(), bytes_);
    // Where all is known that is expected to be enough, what is still missing is drawn here.
    const SamplesDrawn drawn = drawn_where(share_unknown(store));
    double chunks = 0;
    for (const SamplePieces &one : pieces_) chunks += one.wanted_chunks();
    if (!pieces_.empty()) {
        const double taking =
            drawn.devices ? drawn.seconds : seconds() / oneapi::tbb::this_task_arena::max_concurrency();
        log_decision(formatted("{} block{} estimated ({}): {}", pieces_.size(),
                               pieces_.size() == 1 ? " is" : "s are", method(), readable_seconds(taking)));
        call().begin(chunks, taking);
    }
    return estimate(store, drawn.devices.get(), told);
}

void EstimateTask::run_shard(const Shard &shard, PieceStore &store) const {
    const Charge held(&call().memory(), bytes_);
    const SamplesDrawn drawn = drawn_where(store.share());
    double chunks = 0;
    for (const SamplePieces &one : pieces_)
        chunks += static_cast<double>(one.chunks_before(first_of(shard.number + 1, one)) -
                                      one.chunks_before(first_of(shard.number, one)));
    if (chunks > 0)
        call().begin(chunks, drawn.devices
                                 ? drawn.seconds
                                 : shards().seconds / oneapi::tbb::this_task_arena::max_concurrency());
    for (std::size_t k = 0; k < pieces_.size(); ++k) {
        const std::uint64_t first = first_of(shard.number, pieces_[k]),
                            end = first_of(shard.number + 1, pieces_[k]);
        if (first == end) continue;
        const CurrentCall part = for_block(k, &store);
        pieces_[k].sums(first, end - first, drawn.devices.get());
    }
}

} // namespace libperm
