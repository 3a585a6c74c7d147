#include "lib/subsets/segments.hpp"

#include "jit/program/tree.hpp"
#include "jit/text/text.hpp"
#include "lib/base/log.hpp"
#include "preprocess/index.hpp"
#include "preprocess/permanent_bound.hpp"

#include <cmath>
#include <functional>
#include <numeric>

namespace libperm {
namespace {

// The numbers of a kernel, by columns.
class ColumnsOfMatrix {
  public:
    ColumnsOfMatrix(const SubsetKernel &kernel, const std::vector<double> &numbers)
        : columns_(columns_of(kernel)),
          numbers_(numbers),
          n_(kernel.n),
          derivatives_(derivative_columns(kernel.tree)),
          is_derivative_(at(kernel.n)) {
        for (const std::int32_t c : derivatives_) is_derivative_[at(c)] = true;
    }

    // What the kernel adds up for this set: a term's absolute value; where it differentiates, that of both
    // subsets at once as it bounds them, about (jit/program/tree.hpp), of which each has half.
    double absolute_term(const std::vector<double> &x) const {
        double term = 1;
        for (const double factor : x) term *= factor;
        term = std::fabs(term);
        for (const std::int32_t c : derivatives_) {
            constexpr std::int64_t group = 16;
            double sum = 0, least = infinity;
            const std::int64_t begin = columns_.column_ptr[at(c)], end = columns_.column_ptr[at(c) + 1];
            for (auto e = begin; e < end; ++e) {
                least = std::min(least, std::fabs(x[at(columns_.row[at(e)])]));
                if ((e + 1 - begin) % group != 0 && e + 1 < end) continue;
                sum += group / least;
                least = infinity;
            }
            term *= sum / 2;
        }
        return term;
    }
    bool is_summed(std::int32_t column) const { return !is_derivative_[at(column)]; }

    std::vector<double> empty_set() const { return {numbers_.begin(), numbers_.begin() + n_}; }

    void change(std::vector<double> &x, std::int32_t column, bool in) const {
        for (auto e = columns_.column_ptr[at(column)]; e < columns_.column_ptr[at(column) + 1]; ++e) {
            const double a = numbers_[at(n_ + e)];
            x[at(columns_.row[at(e)])] += in ? a : -a;
        }
    }

    double log2_permanent() const {
        std::vector<double> value(numbers_.begin() + n_,
                                  numbers_.begin() + n_ + static_cast<std::ptrdiff_t>(columns_.row.size()));
        const bool is_signed = std::any_of(value.begin(), value.end(), [](double a) { return a < 0; });
        for (double &a : value) a = is_signed ? a * a : a;
        return log2_permanent_estimate({columns_.column_ptr, columns_.row, value}) * (is_signed ? 0.5 : 1);
    }

  private:
    const KernelColumns columns_;
    const std::vector<double> &numbers_;
    const std::int32_t n_;
    const std::vector<std::int32_t> derivatives_;
    std::vector<bool> is_derivative_;
};

// Steele, Lea and Flood's SplitMix64: the k-th of its numbers.
std::uint64_t scattered(std::uint64_t k) {
    std::uint64_t z = (k + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

// The absolute values of a segment's terms, added up, from some of them: the sets of its three lowest and its
// three highest columns, with any set of those between.
double sampled(const ColumnsOfMatrix &a, const SubsetKernel &kernel, std::uint64_t segment,
               std::uint64_t scatter) {
    const std::int32_t bits = kernel.segment_bits, walked = std::min(bits, 6), low = walked / 2;
    std::uint64_t set = (segment ^ segment >> 1) << bits | (scatter & ((std::uint64_t{1} << bits) - 1));
    std::vector<double> x = a.empty_set();
    for (std::int32_t j = 0; j + 1 < kernel.n; ++j)
        if ((set >> j & 1) && a.is_summed(j)) a.change(x, j, true);
    double sum = 0;
    for (std::uint64_t m = 0;;) {
        sum += a.absolute_term(x);
        if (++m >> walked != 0) return std::ldexp(sum, bits - walked);
        const int j = std::countr_zero(m), column = j < low ? j : bits - walked + j;
        set ^= std::uint64_t{1} << column;
        if (a.is_summed(column)) a.change(x, column, (set >> column & 1) != 0);
    }
}

// Of one segment, twice, from different sets.
struct SampledSegment {
    double one, other;
};

} // namespace

double log2_permanent(const SubsetKernel &kernel, const std::vector<double> &numbers) {
    return ColumnsOfMatrix(kernel, numbers).log2_permanent();
}

namespace {

// Some segments, in ascending order of what `one` tells, each of which stands for so many. What those that
// seem small are together the other tells: where most terms are 0, one would have them too small.
struct Sample {
    std::vector<SampledSegment> segments;
    double each;

    double of_all() const {
        double sum = 0;
        for (const SampledSegment &s : segments) sum += s.other;
        return sum * each;
    }
};

Sample sample_of(const ColumnsOfMatrix &columns, const SubsetKernel &kernel) {
    constexpr double most_samples = 1024, per_sample = 64; // segments
    const double segments = std::exp2(kernel.n - 1 - kernel.segment_bits);
    const auto samples = static_cast<std::uint64_t>(
        std::clamp(segments / per_sample, std::min(segments, per_sample), most_samples));
    Sample sample{{}, segments / static_cast<double>(samples)};
    for (std::uint64_t k = 0; k < samples; ++k) {
        const std::uint64_t scatter = scattered(k);
        const double place = (static_cast<double>(k) + std::ldexp(static_cast<double>(scatter >> 32), -32));
        const auto segment = static_cast<std::uint64_t>(std::min(place * sample.each, segments - 1));
        sample.segments.push_back({sampled(columns, kernel, segment, scatter),
                                   sampled(columns, kernel, segment, scattered(samples + k))});
    }
    std::stable_sort(sample.segments.begin(), sample.segments.end(),
                     [](const SampledSegment &x, const SampledSegment &y) { return x.one < y.one; });
    return sample;
}

bool may_refine(const SubsetPlan &plan) {
    const SubsetKernel &kernel = plan.kernel;
    const double least =
        kernel.n * (has_two_grids(kernel.arithmetic) ? 0x1p-64 : 0x1p-51); // that it can tell
    constexpr std::int32_t most_bits = 16; // of a segment: longer sums may lose more than it tells
    return refines(kernel) && plan.tolerance >= least && kernel.segment_bits <= most_bits;
}

} // namespace

double refining_slowdown(const SubsetPlan &plan, bool nonnegative) {
    return nonnegative && may_refine(plan) ? 1.1 : 1;
}

double absolute_permanents(const SubsetKernel &kernel, const std::vector<double> &numbers) {
    const ColumnsOfMatrix columns(kernel, numbers);
    const double sum = sample_of(columns, kernel).of_all();
    return 2 * sum / std::exp2(std::floor(columns.log2_permanent())); // whatever the last bit of it
}

RefinedSegments choose_refined(const SubsetPlan &plan, const std::vector<double> &numbers) {
    const SubsetKernel &kernel = plan.kernel;
    if (!may_refine(plan)) return {};
    constexpr double all = 0.6;  // share of the segments beyond which it is quicker to sum all so, at once
    constexpr double margin = 8; // between the tolerance and what is aimed at, the estimates being such
    const ColumnsOfMatrix columns(kernel, numbers);
    const auto [sums, each] = sample_of(columns, kernel);
    const auto samples = static_cast<double>(sums.size());
    const RoundingWay way = way_of(kernel);
    const double rho = gamma_bound(way.roundings + 4) + way.compensated,
                 permanent = std::exp2(std::floor(columns.log2_permanent())), // whatever the last bit of it
        aim = plan.tolerance * permanent / (2 * margin * rho);
    // Of sparse matrices some segments in a million have nearly all of T, which a sample meets or does not.
    // Where few of it are larger than what all may be on average, a limit between tells these apart: what
    // they leave is far below it.
    const double average = margin / 2 * aim / (samples * each), limit = aim / (margin * each);
    const double rare = std::min(1.0 / 64, plan.most_refined);
    const auto larger = [average](const SampledSegment &s) {
        return !(s.one <= average) + !(s.other <= average); // no number is, too
    };
    if (std::transform_reduce(sums.begin(), sums.end(), 0.0, std::plus(), larger) <= rare * 2 * samples)
        return {limit, false, margin * margin * aim};
    std::size_t left = 0; // samples that need not be summed again
    for (double rest = sums[0].other * each; rest <= aim && ++left < sums.size();)
        rest += sums[left].other * each;
    const double share = 1 - static_cast<double>(left) / samples;
    if (plan.most_refined == 1 && share > all) return {0, true};
    if (share > plan.most_refined) {
        const auto without = [&](double most) { // samples, and what they stand for
            left = sums.size() - std::max<std::size_t>(1, static_cast<std::size_t>(most * samples));
            double rest = 0;
            for (std::size_t k = 0; k < left; ++k) rest += sums[k].other * each;
            return rest;
        };
        if (const double rest = without(plan.most_refined); rest > margin * aim) {
            // A tenth of the time makes the most of what is left of the digits.
            const double few = plan.most_refined / 16;
            log_decision(formatted(
                "the tolerance is out of reach: without the one segment in {:.0f} that matters most "
                "the others leave a bound of {:.1e}, where {:.1e} is asked for; one in {:.0f} is "
                "summed again",
                1 / plan.most_refined, plan.tolerance * rest / (margin * aim), plan.tolerance, 1 / few));
            without(few);
            return {left == 0 ? 0 : sums[left - 1].one, false, infinity};
        }
    }
    // Among those between two samples there may be some that are larger.
    return {std::max(left == 0 ? 0 : sums[left - 1].one, limit), false, margin * margin * aim};
}

} // namespace libperm
