#include "lib/subsets/fixed_point_wide.hpp"

#include "lib/number/bits.hpp"
#include "lib/number/infinity.hpp"
#include "lib/subsets/kernel_values.hpp"
#include "preprocess/index.hpp"
#include "preprocess/permanent_bound.hpp"
#include "preprocess/scaling.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

// Half a row's absolute sum, below 1/2, bounds the parts of x, which are multiples of half the entries' unit:
// 53 bits, or 105, of which a sum of two doubles has no rounding (jit/device/number.cuh). On two grids the
// first has 52, and what lies beside it adds up, over at most 64 entries, to less than 2^53 of the second.
constexpr int coarse_bits = 52, fine_bits = 98;
int grid_bits(Arithmetic a) { return has_two_grids(a) ? fine_bits : is_dd(a) ? 104 : 53; }

// x * 2^-bits on two grids.
std::pair<double, double> on_two_grids(const mpz_class &x, int bits) {
    const auto shift = static_cast<mp_bitcnt_t>(std::max(0, bits - coarse_bits));
    mpz_class coarse = 2 * x + (mpz_class(1) << shift);
    mpz_fdiv_q_2exp(coarse.get_mpz_t(), coarse.get_mpz_t(), shift + 1);
    const mpz_class rest = x - (coarse << shift);
    return {std::ldexp(coarse.get_d(), static_cast<int>(shift) - bits), std::ldexp(rest.get_d(), -bits)};
}

mpz_class nearest(const mpq_class &x) {
    mpz_class whole, twice_den = 2 * x.get_den();
    const mpz_class num = 2 * x.get_num() + x.get_den();
    mpz_fdiv_q(whole.get_mpz_t(), num.get_mpz_t(), twice_den.get_mpz_t());
    return whole;
}

// A double that is not below x >= 0.
double up(const mpq_class &x) { return x == 0 ? 0 : x.get_d() * (1 + 0x1p-50) + 0x1p-1000; }

struct OnGrid {
    mpz_class re, im; // times 2^-bits
};

// Entries with a value get a size above nothing, so that a pattern with a perfect matching has one of sizes.
Tracked size_of(double x) { return tracked(std::max(x, 0x1p-300)); }

// A row of the scaled block, in units of 2^top: its absolute sum is at most 1.
struct GridRow {
    std::vector<Gaussian> exact;
    std::int64_t top = 0;
    int bits = 0; // of the grid
    std::vector<OnGrid> on_grid;
};

GridRow row_on_grid(const ExactBlock &block, std::int32_t i, const PowerScaling &scaling, int most_bits) {
    const std::size_t begin = at(block.pattern.row_begin(i));
    GridRow row;
    mpq_class absolute = 0;
    for (const std::int32_t j : block.pattern.row(i)) {
        const Gaussian &x = block.values[begin + row.exact.size()];
        row.exact.push_back({shifted(x.re, scaling.col[at(j)]), shifted(x.im, scaling.col[at(j)])});
        absolute += abs(row.exact.back().re) + abs(row.exact.back().im);
    }
    row.top = absolute == 0 ? 0 : exponent_of(absolute);
    for (Gaussian &x : row.exact) x = {shifted(x.re, -row.top), shifted(x.im, -row.top)};
    const auto fits = [&row] {
        mpz_class sum = 0;
        row.on_grid.clear();
        for (const Gaussian &x : row.exact) {
            row.on_grid.push_back({nearest(shifted(x.re, row.bits)), nearest(shifted(x.im, row.bits))});
            sum += abs(row.on_grid.back().re) + abs(row.on_grid.back().im);
        }
        return sum <= mpz_class(1) << static_cast<mp_bitcnt_t>(row.bits);
    };
    for (row.bits = most_bits; !fits();) --row.bits; // rounded, they may add up to more than 1
    return row;
}

} // namespace

FixedPointWide::FixedPointWide(const SubsetPlan &plan, const ExactBlock &block) : moved_(at(block.n()), 0) {
    const Arithmetic arithmetic = plan.kernel.arithmetic;
    const std::int32_t n = block.n();
    Block sizes = magnitudes_of(block);
    for (Tracked &x : sizes.values)
        if (is_zero(x)) x = tracked(0x1p-300);
    const PowerScaling scaling = power_scaling(sizes);
    for (const std::int64_t c : scaling.col) exp2_ -= c;

    sizes_.pattern = block.pattern;
    std::vector<Parts> parts;
    std::vector<double> share_of_column(at(n), 0);
    double by_rows = 0;
    for (std::int32_t i = 0; i < n; ++i) {
        const GridRow row = row_on_grid(block, i, scaling, grid_bits(arithmetic));
        exp2_ += row.top;
        auto unit = static_cast<mp_bitcnt_t>(row.bits);
        double share = 0;
        for (std::size_t e = 0; e < row.exact.size(); ++e) {
            const OnGrid &x = row.on_grid[e];
            for (const mpz_class &part : {x.re, x.im})
                if (part != 0) unit = std::min(unit, mpz_scan1(part.get_mpz_t(), 0));
            if (has_two_grids(arithmetic)) {
                const auto re = on_two_grids(x.re, row.bits), im = on_two_grids(x.im, row.bits);
                parts.push_back({re.first, re.second, im.first, im.second});
            } else {
                parts.push_back(parts_of({x.re, x.im}, row.bits, arithmetic));
            }
            const Gaussian &exact = row.exact[e];
            const mpq_class moved =
                abs(exact.re - shifted(x.re, -row.bits)) + abs(exact.im - shifted(x.im, -row.bits));
            const double by = up(moved), size = std::hypot(parts.back()[0] + parts.back()[1],
                                                           parts.back()[2] + parts.back()[3]) *
                                                (1 - 0x1p-50);
            sizes_.values.push_back(size_of(size * (1 + 0x1p-48) + by));
            nonnegative_ = nonnegative_ && exact.re >= 0 && exact.im == 0;
            moved_[at(i)] = std::max(moved_[at(i)], by);
            const double s = by == 0 ? 0 : size == 0 ? infinity : by / size * (1 + 0x1p-50);
            share = std::max(share, s);
            double &of_column = share_of_column[at(block.pattern.row(i)[e])];
            of_column = std::max(of_column, s);
        }
        sum_bits_ += row.bits - static_cast<std::int64_t>(unit);
        by_rows += share;
    }
    double by_columns = 0;
    for (const double s : share_of_column) by_columns += s;
    share_ = std::min(by_rows, by_columns) * (1 + 0x1p-40);
    fill_in(plan, block.pattern, parts);
}

void FixedPointWide::fill_in(const SubsetPlan &plan, const Pattern &pattern,
                             const std::vector<Parts> &parts) {
    const Arithmetic arithmetic = plan.kernel.arithmetic;
    with_arithmetic_of(arithmetic, {}, [&](const auto &f) {
        using A = std::remove_cvref_t<decltype(f)>;
        if constexpr (A::bounded && A::row_parts > 1) {
            const bool has_low_parts = is_dd(arithmetic) || has_two_grids(arithmetic);
            std::vector<typename A::Row> entries;
            for (const Parts &x : parts) {
                const double side_by_side[] = {x[0], has_low_parts ? x[1] : x[2], x[2], x[3]};
                entries.push_back(number_at<typename A::Row>(side_by_side));
            }
            numbers_ = kernel_values(f, plan, pattern, entries, [&](const auto &a, double sign) {
                return A::add_signed(typename A::Row{}, sign * 0.5, a);
            });
        }
    });
}

std::vector<double> FixedPointWide::leading(const SubsetKernel &kernel) const {
    const auto parts = static_cast<std::size_t>(row_parts_of(kernel.arithmetic));
    std::vector<double> first;
    for (std::size_t k = 0; k < numbers_.size(); k += parts) first.push_back(numbers_[k]);
    return first;
}

bool FixedPointWide::is_moved() const {
    return std::any_of(moved_.begin(), moved_.end(), [](double m) { return m > 0; });
}

// What moving the entries changed at most; `most` bounds the permanent of A' if nothing is negative.
double FixedPointWide::lost(double most) const {
    // Row by row, from A to A': |perm(A) - perm(A')| is at most the sum over i of the permanent of the sizes
    // with row i replaced by how far its entries were moved.
    double sum = 0;
    for (std::int32_t i = 0; i < sizes_.n(); ++i) {
        if (moved_[at(i)] == 0) continue;
        Block other = sizes_;
        const auto begin = sizes_.pattern.row_begin(i);
        for (std::size_t e = 0; e < sizes_.pattern.row(i).size(); ++e)
            other.values[at(begin) + e] = tracked(moved_[at(i)]);
        const PermanentBound bound = permanent_bound(other);
        sum += std::ldexp(bound.mantissa, ldexp_exponent(bound.exp2)) + 0x1p-1000;
    }
    if (nonnegative_ && share_ < 0.5) // (prod_i (1 + s_i) - 1) perm(A')
        sum = std::min(sum, share_ * (1 + share_) * most);
    return sum * (1 + 0x1p-40);
}

EngineResult FixedPointWide::close(const SubsetSum &total, const SubsetKernel &kernel) const {
    const Arithmetic arithmetic = kernel.arithmetic;
    const RoundingWay way = way_of(kernel);
    const double factor = kernel.n % 2 ? 2 : -2, log2_subsets = kernel.n - 1;
    const Parts value{factor * total.sum, factor * total.error, factor * total.im, factor * total.im_error};
    double error = 0;
    // Products of whole numbers and sums of all that a double holds round nowhere.
    if (is_moved() || log2_subsets + static_cast<double>(sum_bits_) > 53) {
        const double ku = (way.roundings + 4) * unit_of(arithmetic),
                     gamma = is_compensated(arithmetic) ? compensated_bound(way.roundings + 4)
                             : ku < 0.5                 ? ku / (1 - ku)
                                                        : infinity;
        // The absolute values are rounded themselves, on their way and each time two are added. Segments
        // summed again say less of these (lib/subsets/fixed_point_double.cpp).
        const double last_sums = std::exp2(log2_subsets - 120) * (refines(kernel) ? accurate_gain : 1);
        const double relative = (gamma + way.compensated + last_sums) * total.absolute *
                                (1 + 0x1p-20 + std::exp2(log2_subsets - 74));
        // Each operation on parts of parts by a few of the least numbers; later factors are at most 1.
        const double underflow = std::exp2(log2_subsets) * (kernel.n + way.roundings) * 0x1p-1068;
        error = 2 * (relative + underflow) * (1 + 0x1p-40);
        if (is_moved()) error += lost(std::hypot(value[0], value[2]) * (1 + 0x1p-50) + error);
    }
    EngineResult result{ball_within(value, error, exp2_), {}};
    result.counts.subsets = std::exp2(log2_subsets);
    return result;
}

} // namespace libperm
