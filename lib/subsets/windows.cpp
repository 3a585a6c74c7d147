#include "lib/subsets/windows.hpp"

#include "jit/lanes/tree_walk.hpp"
#include "jit/number/partial.hpp"
#include "lib/base/threads.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/placement.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>

namespace libperm {
namespace {

class WindowSum {
  public:
    WindowSum(const SubsetPlan &plan, const std::vector<SubsetMatrix> &matrices,
              const std::function<WindowWorkers()> &open)
        : plan_(plan),
          matrices_(matrices),
          open_(open),
          pieces_(piece_count(plan.kernel)),
          windows_(plan.kernel.equal_chunks ? 1 : window_count(plan.kernel) / pieces_) {}

    std::vector<SubsetSum> run() {
        const auto compute = [&](std::span<const std::uint64_t> todo, const auto &done) {
            const WindowWorkers workers = open_();
            const auto at_once = [&](std::size_t k) { // pieces
                return std::max<std::uint64_t>(1, workers[k]->at_once() / windows_);
            };
            share_out(todo, workers.size(),
                      {at_once,
                       [&](std::size_t k, std::span<const std::uint64_t> some) {
                           run_pieces(*workers[k], at_once(k), some, done);
                       },
                       [&](std::size_t, const std::exception_ptr &error) {
                           return is_of_its_device(error, workers.size() == 1);
                       }});
        };
        const std::vector<SubsetSum> parts = parts_of_pieces(
            pieces_ * matrices_.size(), plan_.subsets / static_cast<double>(pieces_), SubsetSum{}, compute);
        std::vector<SubsetSum> totals(matrices_.size());
        for (std::uint64_t k = 0; k < parts.size(); ++k) add(totals[k / pieces_], parts[k], k / pieces_);
        return totals;
    }

  private:
    // Consecutive ones of one matrix together.
    template <class Done>
    void run_pieces(WindowWorker &worker, std::uint64_t most, std::span<const std::uint64_t> pieces,
                    const Done &done) {
        for (std::size_t k = 0, end = 0; k < pieces.size(); k = end) {
            call().begin_piece();
            const std::uint64_t matrix = pieces[k] / pieces_;
            while (end < pieces.size() && pieces[end] == pieces[k] + (end - k) &&
                   pieces[end] / pieces_ == matrix && end - k < most)
                ++end;
            const std::uint64_t first = pieces[k] % pieces_ * windows_, count = (end - k) * windows_;
            std::vector<SubsetSum> sums(end - k);
            for (std::uint64_t w = 0; w < count;) {
                const std::uint64_t some = std::min(count - w, worker.at_once());
                for (const SubsetSum &sum : worker.sums(matrices_[matrix], first + w, some))
                    add(sums[w++ / windows_], sum, matrix);
            }
            for (std::size_t i = k; i < end; ++i) done(pieces[i], sums[i - k]);
        }
    }

    void add(SubsetSum &total, const SubsetSum &part, std::uint64_t matrix) const {
        with_arithmetic_of(plan_.kernel.arithmetic, matrices_[matrix].numbers,
                           [&](const auto &f) { add_window(f, total, part); });
    }

    const SubsetPlan &plan_;
    const std::vector<SubsetMatrix> &matrices_;
    const std::function<WindowWorkers()> &open_;
    const std::uint64_t pieces_, windows_; // of a matrix, of a piece
};

} // namespace

std::vector<SubsetSum> sum_windows(const SubsetPlan &plan, const std::vector<SubsetMatrix> &matrices,
                                   const std::function<WindowWorkers()> &open) {
    return WindowSum(plan, matrices, open).run();
}

namespace {

// Segments of one matrix summed again, by a tree of its own.
class RefiningWalk {
  public:
    RefiningWalk(const SubsetPlan &plan, const SubsetMatrix &matrix)
        : kernel_(refined_plan(plan).kernel),
          numbers_(numbers_of(kernel_, matrix.numbers)),
          walk_(kernel_.tree, numbers_, kernel_.arithmetic) {}

    // Writes to the places of doubles' sums, which look the same.
    template <class Partial> void run(std::span<const std::uint64_t> segments, Partial *sums) const {
        if (kernel_.arithmetic == Arithmetic::split)
            run_in<number::Compensated<double, number::SplitRow<double>>>(segments, sums);
        else
            run_in<number::Compensated<double>>(segments, sums);
    }

  private:
    template <class A, class Partial>
    void run_in(std::span<const std::uint64_t> segments, Partial *sums) const {
        std::array<PartialOf<A>, TreeWalk::lanes> own;
        walk_.run(segments, own.data(), poll);
        for (std::size_t k = 0; k < segments.size(); ++k)
            sums[k] = {{own[k].sum.hi, own[k].sum.lo}, own[k].absolute * (1.0 / accurate_gain)};
    }

    const SubsetKernel kernel_;
    const std::vector<double> numbers_;
    const TreeWalk walk_;
};

// Runs the tree for one matrix, in the arithmetic A.
template <class A> class TreeRun {
  public:
    TreeRun(const SubsetPlan &plan, const A &f, const SubsetMatrix &matrix)
        : kernel_(plan.kernel),
          f_(f),
          refined_(matrix.refined),
          walk_(kernel_.tree, matrix.numbers, kernel_.arithmetic) {
        if (refined_.most < std::numeric_limits<double>::infinity()) refining_walk_.emplace(plan, matrix);
    }

    SubsetSum window(std::uint64_t number) {
        partials_.resize(window_segments(kernel_));
        const std::uint64_t first = number * partials_.size();
        in_lanes(partials_.size(), [&](std::uint64_t begin, std::uint64_t end) {
            walk(first + begin, std::span(partials_).subspan(begin, end - begin));
            call().advance(std::exp2(kernel_.segment_bits) * static_cast<double>(end - begin));
        });
        if (refining_walk_ && !refined_.all) refine(first);
        return sum_of_window(f_, std::span<const PartialOf<A>>(partials_));
    }

  private:
    static constexpr bool may_refine = std::is_same_v<typename A::Sum, number::Real<double>::Sum>;

    // f(begin, end) for as many items as there are lanes, and as many again, on all threads.
    template <class F> static void in_lanes(std::uint64_t items, F f) {
        constexpr std::uint64_t lanes = TreeWalk::lanes;
        parallel_for((items + lanes - 1) / lanes,
                     [&](std::uint64_t k) { f(k * lanes, std::min(items, (k + 1) * lanes)); });
    }

    void walk(std::uint64_t first, std::span<PartialOf<A>> partials) {
        if constexpr (may_refine) {
            if (refined_.all) {
                std::vector<std::uint64_t> segments(partials.size());
                std::iota(segments.begin(), segments.end(), first);
                return refining_walk_->run(segments, partials.data());
            }
        }
        walk_.run(first, partials, poll);
    }

    void refine(std::uint64_t first) {
        if constexpr (may_refine) {
            std::vector<std::uint64_t> chosen;
            if (absolute_rest(partials_, refined_.most) > refined_.hopeless) return;
            for (std::uint64_t k = 0; k < partials_.size(); ++k)
                if (partials_[k].absolute > refined_.most) chosen.push_back(first + k);
            std::vector<PartialOf<A>> sums(chosen.size());
            in_lanes(chosen.size(), [&](std::uint64_t begin, std::uint64_t end) {
                refining_walk_->run(std::span(chosen).subspan(begin, end - begin), &sums[begin]);
            });
            for (std::size_t k = 0; k < chosen.size(); ++k) partials_[chosen[k] - first] = sums[k];
        }
    }

    const SubsetKernel &kernel_;
    const A f_;
    const RefinedSegments refined_;
    const TreeWalk walk_;
    std::optional<RefiningWalk> refining_walk_;
    std::vector<PartialOf<A>> partials_;
};

class CpuWorker final : public WindowWorker {
  public:
    CpuWorker(const SubsetPlan &plan) : plan_(plan) {}

    std::uint64_t at_once() const override { return 1; }

    std::vector<SubsetSum> sums(const SubsetMatrix &matrix, std::uint64_t first,
                                std::uint64_t count) override {
        if (&matrix != matrix_) {
            matrix_ = &matrix;
            window_ = with_arithmetic_of(plan_.kernel.arithmetic, matrix.numbers, [&](const auto &f) {
                using A = std::remove_cvref_t<decltype(f)>;
                auto run = std::make_shared<TreeRun<A>>(plan_, f, matrix);
                return std::function<SubsetSum(std::uint64_t)>(
                    [run](std::uint64_t k) { return run->window(k); });
            });
        }
        std::vector<SubsetSum> all;
        for (std::uint64_t k = 0; k < count; ++k) all.push_back(window_(first + k));
        return all;
    }

  private:
    const SubsetPlan &plan_;
    const SubsetMatrix *matrix_ = nullptr;
    std::function<SubsetSum(std::uint64_t)> window_; // of that matrix
};

} // namespace

std::unique_ptr<WindowWorker> tree_on_cpu(const SubsetPlan &plan) {
    return std::make_unique<CpuWorker>(plan);
}

} // namespace libperm
