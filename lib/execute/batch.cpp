#include "lib/execute/batch.hpp"

#include "jit/compile/digest.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/execute/block_run.hpp"
#include "lib/execute/plan_task.hpp"
#include "lib/input/matrix.hpp"
#include "lib/run/call.hpp"
#include "lib/run/errors.hpp"
#include "lib/run/gpu_device.hpp"
#include "lib/run/outcome_bytes.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/placement.hpp"
#include "lib/saved/bytes.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace libperm {
namespace {

// Whether matrices of the plan are computed at the same time, each on a thread.
bool is_for_threads(const Plan &plan) {
    constexpr double short_run = 0.01; // seconds
    const bool fit = plan.options.threads * plan.bytes < static_cast<double>(plan.options.memory_limit);
    // Not of equal cells: the first matrix of other values makes a plan for all such.
    return !plan.repeated && plan.seconds < short_run && fit;
}

class Batch {
  public:
    Batch(const BatchOf &of, const BatchSink &sink)
        : of_(of), plan_(of.plan), glynn_(of.ways.glynn), direct_(of.ways.direct), sink_(sink) {}

    void run(NumberRange matrices) {
        left_.resize(matrices.last - matrices.first);
        std::iota(left_.begin(), left_.end(), static_cast<std::int64_t>(matrices.first));
        if (glynn_) by_glynn();
        if (direct_)
            for (const bool dd : direct_->escalation().of_tape()) directly(dd);
        if (!direct_ && is_for_threads(plan_))
            parallel_for(left_.size(), [&](std::uint64_t k) { generally(left_[k]); });
        else
            for (const std::int64_t k : left_) generally(k);
    }

  private:
    // What is answered within the tolerance is left no more.
    void by_glynn() {
        constexpr std::size_t at_once = 64; // tens of microseconds
        std::vector<char> done(left_.size(), 0);
        const auto compute = [&](std::size_t first, std::size_t count) {
            for (std::size_t k = first; k < first + count; ++k) {
                BatchAnswer answer;
                if (!glynn_->run(of_.matrix(left_[k]), std::get<DenseSum>(answer))) continue;
                sink_(left_[k], std::move(answer));
                done[k] = 1;
            }
            call().advance(static_cast<double>(std::count(&done[first], &done[first] + count, 1)));
        };
        if (glynn_->threads() > 1)
            for (std::size_t k = 0; k < left_.size(); ++k) compute(k, 1);
        else
            parallel_for((left_.size() + at_once - 1) / at_once, [&](std::uint64_t group) {
                const std::size_t first = group * at_once;
                compute(first, std::min(at_once, left_.size() - first));
            });
        forget(done);
    }

    void directly(bool dd) {
        if (!goes_to_gpu(dd) || !on_gpu(dd)) on_cpu(dd);
    }

    void on_cpu(bool dd) {
        const std::size_t groups = (left_.size() + tape_lanes - 1) / tape_lanes;
        std::vector<char> done(left_.size(), 0);
        parallel_for(groups, [&](std::uint64_t group) {
            const std::size_t first = group * tape_lanes,
                              count = std::min<std::size_t>(tape_lanes, left_.size() - first);
            if (side_by_side(first, count, dd, done)) return;
            for (std::size_t k = 0; k < count; ++k) side_by_side(first + k, 1, dd, done);
        });
        forget(done);
    }

    // A GPU is used where there is one, and enough to do to wait for it.
    bool goes_to_gpu(bool dd) const {
        constexpr double of_move = 5e-10; // seconds of a CPU's core
        constexpr double of_dd = 8;       // moves, in time
        const Device device = plan_.options.device;
        const double moves =
            static_cast<double>(direct_->tape().moves.size()) * static_cast<double>(left_.size());
        if (left_.empty() || device == Device::cpu ||
            (device == Device::automatic && of_move * moves * (dd ? of_dd : 1) < gpu_start::bring_in))
            return false;
        const GpuChoice choice = first_gpu();
        return choice.gpu && fits_device(*direct_, dd, choice.gpu->properties().shared_bytes);
    }

    bool on_gpu(bool dd) {
        const auto doubles = static_cast<std::int64_t>(size_of(plan_.input.value_type) / sizeof(double));
        const MatrixList matrices{static_cast<const double *>(of_.values), of_.stride * doubles, left_};
        std::vector<char> done(left_.size(), 0);
        const auto take = [&](std::size_t k, const TapeAnswer &answer) {
            if (!direct_->is_enough(answer)) return;
            sink_(left_[k], DirectAnswer{answer, true});
            done[k] = 1;
        };
        const bool is_done = run_on_gpu("a batch along the tape", plan_.options, [&] {
            double before = 0;
            const auto tell = [&](std::size_t brought_in) {
                const auto now = static_cast<double>(brought_in);
                call().advance(now - std::exchange(before, now));
            };
            of_.ways.idle_tapes.run(*direct_, dd, plan_.options.cache, matrices, tell, take);
        });
        forget(done);
        return is_done;
    }

    void forget(const std::vector<char> &done) {
        std::size_t kept = 0;
        for (std::size_t k = 0; k < left_.size(); ++k)
            if (!done[k]) left_[kept++] = left_[k];
        left_.resize(kept);
    }

    // False: one of them is not for the tape, and none is answered.
    bool side_by_side(std::size_t first, std::size_t count, bool dd, std::vector<char> &done) const {
        std::array<const void *, tape_lanes> matrices{};
        std::array<TapeAnswer, tape_lanes> answers;
        for (std::size_t k = 0; k < count; ++k) matrices[k] = of_.matrix(left_[first + k]);
        if (!direct_->run(std::span(matrices).first(count), dd, answers.data())) return false;
        for (std::size_t k = 0; k < count; ++k) {
            if (!direct_->is_enough(answers[k])) continue;
            sink_(left_[first + k], DirectAnswer{answers[k], false});
            done[first + k] = 1;
        }
        call().advance(static_cast<double>(std::count(&done[first], &done[first] + count, 1)));
        return true;
    }

    void generally(std::int64_t k) {
        naming_matrix(k, of_.ways.are_named, [&] {
            CurrentCall part(1 / std::max(plan_.serial_seconds, 1e-9), Call::OwnMemory());
            sink_(k, execute(plan_, read_values(plan_.input, of_.matrix(k), &call().memory())));
        });
    }

    const BatchOf &of_;
    const Plan &plan_;
    const GlynnPlan *glynn_;
    const TapePlan *direct_;
    const BatchSink &sink_;
    std::vector<std::int64_t> left_; // matrices without an answer
};

} // namespace

void check_batch(const Plan &plan, const void *values, std::int64_t stride, std::int64_t count) {
    if (plan.input.value_type == PERM_VALUE_PATTERN)
        throw Error(PERM_BAD_ARGUMENT, "a pattern matrix has no values, and so there is no batch of them");
    check_stride(plan.input, stride, count);
    if (count > 0 && !values && values_given(plan.input) > 0)
        throw Error(PERM_BAD_ARGUMENT, "values is a null pointer");
}

const void *BatchOf::matrix(std::int64_t k) const {
    if (!values) return nullptr; // of matrices without entries
    const auto bytes = static_cast<std::int64_t>(size_of(plan.input.value_type));
    return static_cast<const char *>(values) + k * stride * bytes;
}

void execute_batch(const BatchOf &of, const BatchSink &sink) {
    check_batch(of.plan, of.values, of.stride, of.count);
    if (of.count == 0) return;
    const auto count = static_cast<double>(of.count);
    call().begin(count, of.plan.seconds * count);
    Batch(of, sink).run({0, static_cast<std::uint64_t>(of.count)});
    call().finish();
}

template <class Archive> void fields(Archive &ar, Int128 &x) {
    auto low = static_cast<std::uint64_t>(x), high = static_cast<std::uint64_t>(x >> 64);
    ar(low, high);
    x = static_cast<Int128>(static_cast<UInt128>(high) << 64 | low);
}

template <class Archive> void fields(Archive &ar, mpz_class &x) { number_field(ar, x); }

// It is there, or not.
template <class Archive, class Content> void fields(Archive &ar, std::optional<Content> &x) {
    bool is_there = x.has_value();
    flag(ar, is_there);
    if (!is_there) return x.reset();
    if (!x) x.emplace();
    fields(ar, *x);
}

template <class Archive> void fields(Archive &ar, DenseSum &x) {
    fields(ar, x.value);
    fields(ar, x.integer);
    fields(ar, x.mpz);
    flags(ar, x.is_by_definition);
}

template <class Archive> void fields(Archive &ar, DirectAnswer &x) {
    fields(ar, x.answer);
    flags(ar, x.on_gpu);
}

template <class Archive> void fields(Archive &ar, BatchAnswer &x) {
    auto way = static_cast<std::uint8_t>(x.index());
    ar(way);
    require(way < std::variant_size_v<BatchAnswer>, "a way");
    if constexpr (Archive::is_loading::value) {
        if (way == 1) x = DirectAnswer();
        if (way == 2) x = Outcome();
    }
    std::visit([&](auto &answer) { fields(ar, answer); }, x);
    if (auto *outcome = std::get_if<Outcome>(&x)) amounts(ar, outcome->blocks, outcome->blocks_computed);
}

namespace {

// The answers of a piece, in order.
struct BatchPart {
    std::vector<BatchAnswer> answers;
};

template <class Archive> void fields(Archive &ar, BatchPart &part) { list(ar, part.answers); }

} // namespace

BatchTask::BatchTask(const BatchOf &of) : of_(of) {
    check_batch(of.plan, of.values, of.stride, of.count);
    std::string digests;
    for (std::int64_t k = 0; k < (of.stride == 0 ? std::min<std::int64_t>(of.count, 1) : of.count); ++k)
        naming_matrix(k, of.ways.are_named, [&] {
            const Values one = read_values(of.plan.input, of.matrix(k), &call().memory());
            digests += digest_of(one);
            const bool is_planned_anew = why_planned_anew(of.plan, one) != nullptr;
            if (planned_anew_ < 0 && is_planned_anew) planned_anew_ = k;
            if (!is_planned_anew && is_refused(of.plan)) throw Error(of.plan.refusal, of.plan.refusal_text);
        });
    digest_ = digest_of_bytes(digests + std::to_string(of.count));
}

TaskIdentity BatchTask::identity() const {
    return {TaskIdentity::batch,
            {{digest_of(of_.plan.input), "another matrix"},
             {digest_of(of_.plan), "another plan"},
             {digest_, "other values"}}};
}

// So many matrices in each that it takes as long as a thread is worth waking for, and not too many pieces.
NumberedPieces BatchTask::pieces() const {
    constexpr double least_seconds = 0.01, most_at_once = 1 << 20, most_pieces = 1 << 16;
    const double in_time =
        std::clamp(least_seconds / std::max(of_.plan.serial_seconds, 1e-9), 1.0, most_at_once);
    const double length =
        std::max(std::floor(in_time), std::ceil(static_cast<double>(of_.count) / most_pieces));
    return NumberedPieces::of_length(static_cast<std::uint64_t>(of_.count),
                                     static_cast<std::uint64_t>(length));
}

ShardCount BatchTask::shards() const {
    ShardCount shards;
    shards.count = std::max<std::int64_t>(1, static_cast<std::int64_t>(pieces().count()));
    shards.seconds =
        of_.plan.serial_seconds * static_cast<double>(of_.count) / static_cast<double>(shards.count);
    return shards;
}

KeptAbout BatchTask::about() const {
    KeptAbout it = PlanTask(of_.plan, {}).about();
    it.seconds = of_.plan.seconds * static_cast<double>(of_.count);
    return it;
}

std::string BatchTask::plan() const { return bytes_of(of_.plan); }

bool BatchTask::is_plan(const std::string &bytes) const { return PlanTask(of_.plan, {}).is_plan(bytes); }

void BatchTask::require_shards() const {
    Values values;
    if (planned_anew_ >= 0) values = read_values(of_.plan.input, of_.matrix(planned_anew_));
    PlanTask(of_.plan, values).require_shards();
}

std::vector<BatchAnswer> BatchTask::piece(NumberRange matrices) const {
    std::vector<BatchAnswer> answers(matrices.last - matrices.first);
    const BatchSink keep = [&](std::int64_t k, BatchAnswer &&answer) {
        answers[static_cast<std::uint64_t>(k) - matrices.first] = std::move(answer);
    };
    CurrentCall whole(1, PieceScope()); // engines' own pieces are none of the batch's
    Batch(of_, keep).run(matrices);
    return answers;
}

// Whoever fills results from it asks that way for more.
void BatchTask::require_way(const BatchAnswer &answer) const {
    if ((std::holds_alternative<DenseSum>(answer) && !of_.ways.glynn) ||
        (std::holds_alternative<DirectAnswer>(answer) && !of_.ways.direct))
        throw Error(PERM_BAD_ARGUMENT,
                    "a matrix of the batch that is known was computed in a way that its plan "
                    "has not here");
}

std::vector<BatchAnswer> BatchTask::run(PieceStore *store, const Told &) const {
    const double share = store ? store->share() : 1, all = static_cast<double>(of_.count);
    call().begin(share * all, share * of_.plan.seconds * all);
    const NumberedPieces pieces = this->pieces();
    if (pieces.count() == 0) return {};
    CurrentCall own(1, PieceScope{store, {}});
    const auto one = [&](std::uint64_t k) { return BatchPart{piece(pieces[k])}; };
    const auto in_order = [&](std::span<const std::uint64_t> todo, const auto &done) {
        for (const std::uint64_t k : todo) {
            call().begin_piece();
            done(k, one(k));
        }
    };
    const double work = pieces[0].size();
    std::vector<BatchPart> parts =
        is_for_threads(of_.plan) ? parts_of_pieces(pieces.count(), work, BatchPart{}, each_on_its_thread(one))
                                 : parts_of_pieces(pieces.count(), work, BatchPart{}, in_order);
    std::vector<BatchAnswer> answers;
    for (std::uint64_t k = 0; k < pieces.count() && !(store && store->is_of_one_shard()); ++k) {
        for (const BatchAnswer &answer : parts[k].answers) require_way(answer);
        if (parts[k].answers.size() != static_cast<std::size_t>(pieces[k].size()))
            throw Error(PERM_BAD_ARGUMENT, "a piece of the batch that is known has not as many matrices");
        std::move(parts[k].answers.begin(), parts[k].answers.end(), std::back_inserter(answers));
    }
    return answers;
}

} // namespace libperm
