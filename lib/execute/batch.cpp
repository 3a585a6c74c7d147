#include "lib/execute/batch.hpp"

#include "jit/compile/digest.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/execute/block_run.hpp"
#include "lib/execute/execute.hpp"
#include "lib/execute/plan_task.hpp"
#include "lib/input/matrix.hpp"
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
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

namespace libperm {
namespace {

class Batch {
  public:
    Batch(const Plan &plan, const BatchWays &ways, const void *values, std::int64_t stride,
          const BatchSink &sink)
        : plan_(plan),
          glynn_(ways.glynn),
          direct_(ways.direct),
          idle_tapes_(ways.idle_tapes),
          are_named_(ways.are_named),
          values_(values),
          stride_(stride),
          sink_(sink) {}

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
    const void *matrix(std::int64_t k) const {
        if (!values_) return nullptr; // of matrices without entries
        return static_cast<const char *>(values_) + k * stride_ * bytes_of_value();
    }

    // What is answered within the tolerance is left no more.
    void by_glynn() {
        constexpr std::size_t at_once = 64; // tens of microseconds
        std::vector<char> done(left_.size(), 0);
        const auto compute = [&](std::size_t first, std::size_t count) {
            for (std::size_t k = first; k < first + count; ++k) {
                DenseSum sum;
                if (!glynn_->run(matrix(left_[k]), sum)) continue;
                sink_.glynn(left_[k], sum);
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
        const std::int64_t doubles = bytes_of_value() / 8;
        const MatrixList matrices{static_cast<const double *>(values_), stride_ * doubles, left_};
        std::vector<char> done(left_.size(), 0);
        const auto take = [&](std::size_t k, const TapeAnswer &answer) {
            if (!direct_->is_enough(answer)) return;
            sink_.direct(left_[k], answer, true);
            done[k] = 1;
        };
        const bool is_done = run_on_gpu("a batch along the tape", plan_.options, [&] {
            double before = 0;
            const auto tell = [&](std::size_t brought_in) {
                const auto now = static_cast<double>(brought_in);
                call().advance(now - std::exchange(before, now));
            };
            idle_tapes_.run(*direct_, dd, plan_.options.cache, matrices, tell, take);
        });
        forget(done);
        return is_done;
    }

    std::int64_t bytes_of_value() const { return static_cast<std::int64_t>(size_of(plan_.input.value_type)); }

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
        for (std::size_t k = 0; k < count; ++k) matrices[k] = matrix(left_[first + k]);
        if (!direct_->run(std::span(matrices).first(count), dd, answers.data())) return false;
        for (std::size_t k = 0; k < count; ++k) {
            if (!direct_->is_enough(answers[k])) continue;
            sink_.direct(left_[first + k], answers[k], false);
            done[first + k] = 1;
        }
        call().advance(static_cast<double>(std::count(&done[first], &done[first] + count, 1)));
        return true;
    }

    void generally(std::int64_t k) {
        naming_matrix(k, are_named_, [&] {
            CurrentCall part(1 / std::max(plan_.serial_seconds, 1e-9), Call::OwnMemory());
            sink_.general(k, execute(plan_, read_values(plan_.input, matrix(k), &call().memory())));
        });
    }

    const Plan &plan_;
    const GlynnPlan *glynn_;
    const TapePlan *direct_;
    const IdleTapes &idle_tapes_;
    const bool are_named_;
    const void *values_;
    const std::int64_t stride_;
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

void execute_batch(const Plan &plan, const BatchWays &ways, const void *values, std::int64_t stride,
                   std::int64_t count, const BatchSink &sink) {
    check_batch(plan, values, stride, count);
    if (count == 0) return;
    call().begin(static_cast<double>(count), plan.seconds * static_cast<double>(count));
    execute_matrices(plan, ways, values, stride, {0, static_cast<std::uint64_t>(count)}, sink);
    call().finish();
}

void execute_matrices(const Plan &plan, const BatchWays &ways, const void *values, std::int64_t stride,
                      NumberRange matrices, const BatchSink &sink) {
    Batch(plan, ways, values, stride, sink).run(matrices);
}

bool is_for_threads(const Plan &plan) {
    constexpr double short_run = 0.01; // seconds
    const bool fit = plan.options.threads * plan.bytes < static_cast<double>(plan.options.memory_limit);
    // Not of equal cells: the first matrix of other values makes a plan for all such.
    return !plan.repeated && plan.seconds < short_run && fit;
}

namespace {

// Its size is such that computing with it does not overflow.
template <class Archive> void number(Archive &ar, Scaled &x) {
    constexpr auto most = std::int64_t{1} << 48;
    ar(x.mantissa, x.exp2);
    require_read<Archive>(!std::isnan(x.mantissa) && -most < x.exp2 && x.exp2 < most, "a number");
}

template <class Archive> void fields(Archive &ar, TapeAnswer &x) {
    number(ar, x.re);
    number(ar, x.im);
    number(ar, x.error);
    amounts(ar, x.rel_error_bound);
    flags(ar, x.exact);
    require_read<Archive>(x.error.mantissa >= 0, "an error");
}

template <class Archive> void fields(Archive &ar, Int128 &x) {
    auto low = static_cast<std::uint64_t>(x), high = static_cast<std::uint64_t>(x >> 64);
    ar(low, high);
    x = static_cast<Int128>(static_cast<UInt128>(high) << 64 | low);
}

template <class Archive> void fields(Archive &ar, mpz_class &x) {
    std::string text = x.get_str(62);
    ar(text);
    require(x.set_str(text, 62) == 0, "an integer");
}

// It is there, or not.
template <class Archive, class T> void fields(Archive &ar, std::optional<T> &x) {
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

void fields(cereal::PortableBinaryOutputArchive &ar, Outcome &x) {
    save_part(ar, x);
    amounts(ar, x.blocks, x.blocks_computed);
}
void fields(cereal::PortableBinaryInputArchive &ar, Outcome &x) {
    load_part(ar, x);
    amounts(ar, x.blocks, x.blocks_computed);
}

template <class Way> BatchAnswer loaded(cereal::PortableBinaryInputArchive &ar) {
    Way answer;
    fields(ar, answer);
    return answer;
}

// The answers of a piece, in order.
struct BatchPart {
    std::vector<BatchAnswer> answers;
};

void save_part(cereal::PortableBinaryOutputArchive &ar, const BatchPart &part) {
    ar(static_cast<std::uint64_t>(part.answers.size()));
    for (BatchAnswer answer : part.answers) {
        ar(static_cast<std::uint8_t>(answer.index()));
        std::visit([&](auto &x) { fields(ar, x); }, answer);
    }
}

void load_part(cereal::PortableBinaryInputArchive &ar, BatchPart &part) {
    std::uint64_t left = 0;
    part.answers.clear();
    for (ar(left); left > 0; --left) {
        std::uint8_t way = 0;
        ar(way);
        require(way < std::variant_size_v<BatchAnswer>, "a way");
        part.answers.push_back(way == 0   ? loaded<DenseSum>(ar)
                               : way == 1 ? loaded<DirectAnswer>(ar)
                                          : loaded<Outcome>(ar));
    }
}

} // namespace

BatchTask::BatchTask(const Plan &plan, const BatchWays &ways, const void *values, std::int64_t stride,
                     std::int64_t count)
    : plan_(plan), ways_(ways), values_(values), stride_(stride), count_(count) {
    check_batch(plan, values, stride, count);
    std::string digests;
    for (std::int64_t k = 0; k < (stride == 0 ? std::min<std::int64_t>(count, 1) : count); ++k)
        naming_matrix(k, ways.are_named, [&] {
            const Values one = read_values(plan.input, matrix(k), &call().memory());
            digests += digest_of(one);
            const bool is_planned_anew = why_planned_anew(plan, one) != nullptr;
            if (planned_anew_ < 0 && is_planned_anew) planned_anew_ = k;
            if (!is_planned_anew && is_refused(plan)) throw Error(plan.refusal, plan.refusal_text);
        });
    digest_ = digest_of_bytes(digests + std::to_string(count));
}

const void *BatchTask::matrix(std::int64_t k) const {
    if (!values_) return nullptr; // of matrices without entries
    const auto bytes = static_cast<std::int64_t>(size_of(plan_.input.value_type));
    return static_cast<const char *>(values_) + k * stride_ * bytes;
}

TaskIdentity BatchTask::identity() const {
    return {TaskIdentity::batch,
            {{digest_of(plan_.input), "another matrix"},
             {digest_of(plan_), "another plan"},
             {digest_, "other values"}}};
}

// So many matrices in each that it takes as long as a thread is worth waking for, and not too many pieces.
NumberedPieces BatchTask::pieces() const {
    constexpr double least_seconds = 0.01, most_at_once = 1 << 20, most_pieces = 1 << 16;
    const double in_time =
        std::clamp(least_seconds / std::max(plan_.serial_seconds, 1e-9), 1.0, most_at_once);
    const double length = std::max(std::floor(in_time), std::ceil(static_cast<double>(count_) / most_pieces));
    return NumberedPieces::of_length(static_cast<std::uint64_t>(count_), static_cast<std::uint64_t>(length));
}

ShardCount BatchTask::shards() const {
    ShardCount shards;
    shards.count = std::max<std::int64_t>(1, static_cast<std::int64_t>(pieces().count()));
    shards.seconds = plan_.serial_seconds * static_cast<double>(count_) / static_cast<double>(shards.count);
    return shards;
}

KeptAbout BatchTask::about() const {
    KeptAbout it = PlanTask(plan_, {}).about();
    it.seconds = plan_.seconds * static_cast<double>(count_);
    return it;
}

std::string BatchTask::plan() const { return bytes_of(plan_); }

bool BatchTask::is_plan(const std::string &bytes) const { return PlanTask(plan_, {}).is_plan(bytes); }

void BatchTask::require_shards() const {
    Values values;
    if (planned_anew_ >= 0) values = read_values(plan_.input, matrix(planned_anew_));
    PlanTask(plan_, values).require_shards();
}

std::vector<BatchAnswer> BatchTask::piece(NumberRange matrices) const {
    std::vector<BatchAnswer> answers(matrices.last - matrices.first);
    const auto keep = [&](std::int64_t k, BatchAnswer answer) {
        answers[static_cast<std::uint64_t>(k) - matrices.first] = std::move(answer);
    };
    const BatchSink sink{[&](std::int64_t k, const DenseSum &sum) { keep(k, sum); },
                         [&](std::int64_t k, const TapeAnswer &answer, bool on_gpu) {
                             keep(k, DirectAnswer{answer, on_gpu});
                         },
                         [&](std::int64_t k, const Outcome &outcome) { keep(k, outcome); }};
    CurrentCall whole(1, PieceScope()); // engines' own pieces are none of the batch's
    execute_matrices(plan_, ways_, values_, stride_, matrices, sink);
    return answers;
}

// Whoever fills results from it asks that way for more.
void BatchTask::require_way(const BatchAnswer &answer) const {
    if ((std::holds_alternative<DenseSum>(answer) && !ways_.glynn) ||
        (std::holds_alternative<DirectAnswer>(answer) && !ways_.direct))
        throw Error(PERM_BAD_ARGUMENT,
                    "a matrix of the batch that is known was computed in a way that its plan "
                    "has not here");
}

std::vector<BatchAnswer> BatchTask::run(PieceStore *store, const Told &) const {
    const double share = store ? store->share() : 1, all = static_cast<double>(count_);
    call().begin(share * all, share * plan_.seconds * all);
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
        is_for_threads(plan_) ? parts_of_pieces(pieces.count(), work, BatchPart{}, each_on_its_thread(one))
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
