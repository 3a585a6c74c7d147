#include "lib/execute/batch.hpp"

#include "lib/base/error.hpp"
#include "lib/execute/block_run.hpp"
#include "lib/run/gpu_device.hpp"
#include "lib/run/naming_matrix.hpp"
#include "lib/run/placement.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <array>
#include <numeric>
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

} // namespace libperm
