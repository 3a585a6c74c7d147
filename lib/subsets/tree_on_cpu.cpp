#include "lib/subsets/tree_on_cpu.hpp"

#include "jit/lanes/tree_walk.hpp"
#include "lib/subsets/segment_sum.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <type_traits>

namespace libperm {
namespace {

std::size_t at(std::uint64_t i) { return static_cast<std::size_t>(i); }

// perm_accurate of jit/device/accurate.cuh, for one segment.
class AccurateSegment {
  public:
    AccurateSegment(const SubsetKernel &kernel, const std::vector<double> &numbers, std::uint64_t segment)
        : kernel_(kernel), numbers_(numbers), segment_(segment) {}

    Partial3 sum() const {
        const auto threads = static_cast<std::uint64_t>(accurate_threads(kernel_));
        std::vector<Partial3> parts;
        for (std::uint64_t t = 0; t < threads; ++t) parts.push_back(part(t, length(threads)));
        Partial3 all = add_in_order(number::Real<double>(), std::span<const Partial3>(parts));
        all.absolute *= 1.0 / accurate_gain;
        return all;
    }

  private:
    std::uint64_t length(std::uint64_t threads) const {
        return (std::uint64_t{1} << kernel_.segment_bits) / threads;
    }

    void change(std::vector<double> &x, std::int32_t column, bool in) const {
        const auto c = static_cast<std::size_t>(column);
        for (auto e = at(static_cast<std::uint64_t>(kernel_.column_ptr[c]));
             e < at(static_cast<std::uint64_t>(kernel_.column_ptr[c + 1])); ++e) {
            const double a = numbers_[static_cast<std::size_t>(kernel_.n) + e];
            x[static_cast<std::size_t>(kernel_.row[e])] += in ? a : -a; // on the grid: exact
        }
    }

    Partial3 part(std::uint64_t thread, std::uint64_t length) const {
        const std::int32_t bits = kernel_.segment_bits;
        std::vector<double> x(numbers_.begin(), numbers_.begin() + kernel_.n);
        const std::uint64_t outer = segment_ ^ segment_ >> 1;
        for (std::int32_t j = bits; j < kernel_.n - 1; ++j)
            if (outer >> (j - bits) & 1) change(x, j, true);
        const std::uint64_t first = thread * length, from = (segment_ & 1) << bits;
        const std::uint64_t i = from | first, inner = i ^ i >> 1;
        for (std::int32_t j = 0; j < bits; ++j)
            if (inner >> j & 1) change(x, j, true);
        Partial3 sums{{0, 0}, 0};
        for (std::uint64_t m = first; m < first + length; ++m) {
            if (m > first) {
                const int j = std::countr_zero(m);
                change(x, j, ((from | m) >> j >> 1 & 1) == 0);
            }
            double product = (bits > 0 ? m : segment_) & 1 ? -1 : 1, error = 0;
            for (const double factor : x) {
                const double next = product * factor;
                error = std::fma(error, factor, std::fma(product, factor, -next));
                product = next;
            }
            sums.add(number::Real<double>(), product, std::fabs(product));
            sums.sum.error += error;
        }
        return sums;
    }

    const SubsetKernel &kernel_;
    const std::vector<double> &numbers_;
    const std::uint64_t segment_;
};

// Of one matrix, in the arithmetic A.
template <class A> class TreeRun {
  public:
    TreeRun(const SubsetPlan &plan, const A &f, const std::vector<double> &numbers, RunControl &control)
        : plan_(plan),
          kernel_(plan.kernel),
          f_(f),
          numbers_(numbers),
          walk_(kernel_.tree, numbers_, kernel_.arithmetic),
          control_(control) {}

    SubsetSum window(std::uint64_t number) {
        partials_.resize(window_segments(kernel_));
        const std::uint64_t first = number * partials_.size();
        walk(first);
        const SubsetSum sum = added_up();
        return sum_accurately(first, sum.absolute) ? added_up() : sum;
    }

  private:
    void walk(std::uint64_t first) {
        constexpr std::uint64_t lanes = TreeWalk::lanes;
        const double subsets = std::exp2(kernel_.segment_bits);
        parallel_for((partials_.size() + lanes - 1) / lanes, [&](std::uint64_t k) {
            const std::uint64_t begin = k * lanes,
                                end = std::min<std::uint64_t>(begin + lanes, partials_.size());
            walk_.run(first + begin, std::span(partials_).subspan(begin, end - begin),
                      [this] { control_.poll(); });
            control_.advance(subsets * static_cast<double>(end - begin));
        });
    }

    SubsetSum added_up() const { return sum_of_window(f_, std::span<const PartialOf<A>>(partials_)); }

    // Sums the segments that matter most again, and says whether there were any.
    bool sum_accurately(std::uint64_t first, double absolute) {
        if constexpr (std::is_same_v<PartialOf<A>, Partial3>) {
            if (plan_.rare == 0) return false;
            const double most = most_of_window(absolute, partials_.size(), plan_.rare);
            std::vector<std::uint64_t> chosen;
            for (std::uint64_t k = 0; k < partials_.size(); ++k)
                if (partials_[k].absolute > most) chosen.push_back(k);
            parallel_for(chosen.size(), [&](std::uint64_t k) {
                partials_[chosen[k]] = AccurateSegment(kernel_, numbers_, first + chosen[k]).sum();
                control_.poll();
            });
            return !chosen.empty();
        }
        return false;
    }

    const SubsetPlan &plan_;
    const SubsetKernel &kernel_;
    const A f_;
    const std::vector<double> &numbers_;
    const TreeWalk walk_;
    RunControl &control_;
    std::vector<PartialOf<A>> partials_;
};

class CpuWorker final : public WindowWorker {
  public:
    CpuWorker(const SubsetPlan &plan, RunControl &control) : plan_(plan), control_(control) {}

    std::uint64_t at_once() const override { return 1; }

    std::vector<SubsetSum> sums(const std::vector<double> &matrix, std::uint64_t first,
                                std::uint64_t count) override {
        if (&matrix != matrix_) {
            matrix_ = &matrix;
            window_ = with_arithmetic_of(plan_.kernel.arithmetic, matrix, [&](const auto &f) {
                using A = std::remove_cvref_t<decltype(f)>;
                auto run = std::make_shared<TreeRun<A>>(plan_, f, matrix, control_);
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
    RunControl &control_;
    const std::vector<double> *matrix_ = nullptr;
    std::function<SubsetSum(std::uint64_t)> window_; // of that matrix
};

} // namespace

std::unique_ptr<WindowWorker> tree_on_cpu(const SubsetPlan &plan, RunControl &control) {
    return std::make_unique<CpuWorker>(plan, control);
}

} // namespace libperm
