#include "lib/subsets/kernel_values.hpp"

#include "lib/number/block_grids.hpp"
#include "lib/number/doubles.hpp"
#include "lib/subsets/tree_plan.hpp"
#include "preprocess/index.hpp"
#include "preprocess/permanent_bound.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace libperm {
namespace {

// Half a row's absolute sum bounds |x|, and x is a multiple of half the entries' unit: with entries that are
// multiples of 2^-53 and add up to at most 1, that are 53 bits.
constexpr int grid = -53;

// The row's entries at multiples of 2^unit, to nearest.
double absolute_on_grid(const std::vector<double> &value, std::size_t begin, std::size_t end, int unit,
                        std::vector<double> &moved) {
    double absolute = 0; // of multiples of the unit below 2^54 of them: exact
    for (std::size_t k = begin; k < end; ++k) {
        moved[k] = std::ldexp(std::nearbyint(std::ldexp(value[k], -unit)), unit);
        absolute += std::fabs(moved[k]);
    }
    return absolute;
}

// By what share of itself an entry was moved at most: of each row, and of each column.
class MovedShares {
  public:
    explicit MovedShares(std::int32_t n) : of_row_(at(n), 0), of_column_(at(n), 0) {}

    void add(std::int32_t row, std::int32_t column, double moved, double size) {
        if (moved == 0) return;
        const double share = size == 0 ? infinity : moved / size * (1 + 0x1p-50) + 0x1p-1000;
        for (double *most : {&of_row_[at(row)], &of_column_[at(column)]}) *most = std::max(*most, share);
    }
    // Nonnegative entries' permanent was moved by about so much of itself.
    double of_permanent() const {
        const auto sum = [](const std::vector<double> &x) {
            return std::accumulate(x.begin(), x.end(), 0.0);
        };
        return std::min(sum(of_row_), sum(of_column_)) * (1 + 0x1p-40);
    }

  private:
    std::vector<double> of_row_, of_column_;
};

} // namespace

FixedPointDouble::FixedPointDouble(const SubsetPlan &plan, const Block &block) : n_(block.n()) {
    const Pattern &p = block.pattern;
    const ScaledRows rows = scaled_rows(block);
    exp2_ = rows.exp2;
    std::vector<double> value = rows.value;
    MovedShares shares(n_);
    for (std::int32_t i = 0; i < n_; ++i) {
        const auto begin = at(p.row_begin(i)), end = begin + p.row(i).size();
        int unit = rows.unit[at(i)];
        if (unit < grid - 1) {
            unit = grid - 1;
            // Rounded, the sum of the values may be 1 and a unit.
            if (absolute_on_grid(rows.value, begin, end, grid, value) >= 1) {
                absolute_on_grid(rows.value, begin, end, grid + 1, value);
                unit = grid;
            }
            for (std::size_t k = begin; k < end; ++k) {
                // What was lost in scaling was lost far below the grid.
                const double moved = std::fabs(value[k] - rows.value[k]) +
                                     (rows.value[k] == 0 && block.values[k].value != 0 ? 1 : 0);
                shares.add(i, p.col[k], moved, std::fabs(value[k]));
            }
        }
        sum_bits_ += -1 - unit;
        unit_ += unit;
    }
    moved_ = shares.of_permanent();

    scale_ones(plan, p, value);
    numbers_ = kernel_values(number::Real<double>(), plan, p, value,
                             [](double a, double sign) { return sign * 0.5 * a; });
}

// Brings the ones of a column, which the grid left as they are, to one number 2^-s by powers of two for their
// rows; the kernel takes them for ones, 2^s times as large. The derivative of a row is below the row's sum of
// absolute values, where |x| is below half of it.
void FixedPointDouble::scale_ones(const SubsetPlan &plan, const Pattern &pattern,
                                  std::vector<double> &value) {
    const Pattern columns = transpose(pattern).pattern;
    for (const std::int32_t c : derivative_columns(plan.kernel.tree)) {
        const std::int32_t j = plan.order.cols[at(c)];
        const auto one_of = [&](std::int32_t i) -> double & {
            const auto row = pattern.row(i);
            return value[at(pattern.row_begin(i) +
                            (std::lower_bound(row.begin(), row.end(), j) - row.begin()))];
        };
        int least = 0; // exponent
        for (const std::int32_t i : columns.row(j)) least = std::min(least, std::ilogb(one_of(i)));
        for (const std::int32_t i : columns.row(j)) {
            const int down = std::ilogb(one_of(i)) - least;
            for (auto k = at(pattern.row_begin(i)); k < at(pattern.row_begin(i + 1)); ++k)
                value[k] = std::ldexp(value[k], -down);
            one_of(i) = 1;
            exp2_ += down;
            unit_ -= down;
            ++sum_bits_;
        }
        exp2_ += least;
        sign_ = -sign_;
        has_ones_ = true;
    }
}

bool has_no_negative(const Block &block) {
    return std::all_of(block.values.begin(), block.values.end(),
                       [](const Tracked &x) { return x.value >= 0; });
}

RoundingWay way_of(const SubsetKernel &kernel) {
    const Arithmetic a = kernel.arithmetic;
    // Sums of sums: of groups, of a window's groups, of windows.
    double compensated = 0x1p-70;
    if (is_dd(a) && !is_compensated(a))
        compensated = sum_loss(std::ldexp(1.0, 15) + std::ldexp(1.0, std::max(0, kernel.n - 29)), a);
    if (kernel.engine == SubsetEngine::tree) {
        const double of_rows = has_two_grids(a) ? kernel.n : 0; // each is put together once
        return {std::ldexp(1.0, kernel.unrolled), tree_roundings(kernel.tree, a) + of_rows,
                compensated + tree_compensated(kernel.tree, a)};
    }
    double terms = kernel.equal_chunks ? 16 : std::ldexp(1.0, kernel.unrolled), added = terms;
    if (kernel.summation == Summation::kahan) added = 3; // twice 2^-53, and the terms times 2^-106
    if (kernel.summation == Summation::dq) added = 1, compensated += 0x1p-60, terms = 1;
    if (is_dd(a)) // the sums of blocks of a segment, or of an equal chunk
        compensated += sum_loss(kernel.equal_chunks ? 0x1p32 : std::ldexp(1.0, kernel.segment_bits), a);
    return {terms, product_roundings(a) * kernel.n + added, compensated}; // the product may begin with 1
}

bool FixedPointDouble::may_be_exact(const RoundingWay &way) const {
    return moved_ == 0 &&
           std::ldexp(way.terms, static_cast<int>(std::min<std::int64_t>(sum_bits_, 200))) <= 0x1p53 &&
           n_ - 1 + static_cast<double>(sum_bits_) <= 100 && unit_ > -1000;
}

EngineResult FixedPointDouble::close(const SubsetSum &total, const Block &block,
                                     const RoundingWay &way) const {
    EngineResult result;
    const double factor = n_ % 2 ? 2 * sign_ : -2 * sign_;
    const double value = factor * (total.sum + total.error);
    const double log2_subsets = n_ - 1;
    result.counts.subsets = std::exp2(log2_subsets);
    if (may_be_exact(way) && total.error == 0) {
        result.value = ball_from(block, value, 0, exp2_);
        return result;
    }
    // One rounding more is that of the result. The sums of blocks are kept to twice the precision, at most
    // 2^16 in a row, and are added as such; the absolute values round once for each term of a segment, each
    // segment of a group, and group. Segments summed accurately say less of these, and are that much better
    // in all but the last sums.
    const double relative =
        (gamma_bound(way.roundings + 4) + way.compensated + std::exp2(log2_subsets - 124) * accurate_gain) *
        total.absolute * (1 + 0x1p-20 + std::exp2(log2_subsets - 74));
    // What is lost of a product counts as often as a reciprocal says.
    const double underflow =
        std::exp2(log2_subsets) * (n_ + way.roundings) * (has_ones_ ? 0x1p-1020 : 0x1p-1073);
    double error = 2 * (relative + underflow) + 0x1p-52 * std::fabs(value);
    if (moved_ > 0) {
        // Row i within a share s_i of itself: |perm(A) - perm(A')| <= (prod_i (1 + s_i) - 1) perm(|A'|).
        const double share = moved_ < 0.5 ? moved_ * (1 + moved_) : infinity;
        const bool nonnegative = has_no_negative(block);
        result.grid_matters = !nonnegative;
        double most = std::fabs(value) + error;
        if (!nonnegative) {
            const PermanentBound bound = permanent_bound(block);
            most = std::ldexp(bound.mantissa, ldexp_exponent(bound.exp2 - exp2_)) * (1 + share);
        }
        error += share * most * (1 + 0x1p-40);
    }
    result.value = ball_from(block, value, error, exp2_);
    return result;
}

namespace {

// Half a row's absolute sum, below 1/2, bounds each part of x, which are multiples of half the entries' unit:
// 53 bits, or 105, of which a sum of two doubles has no rounding (jit/device/number.cuh). On two grids the
// first has 52, and what lies beside it adds up, over at most 64 entries, to less than 2^53 of the second.
constexpr int coarse_bits = 52, fine_bits = 98;
int grid_bits(Arithmetic a) { return has_two_grids(a) ? fine_bits : is_dd(a) ? 104 : 53; }

// x * 2^-fine_bits on two grids.
std::pair<double, double> on_two_grids(const mpz_class &x) {
    constexpr mp_bitcnt_t shift = fine_bits - coarse_bits;
    mpz_class coarse = 2 * x + (mpz_class(1) << shift);
    mpz_fdiv_q_2exp(coarse.get_mpz_t(), coarse.get_mpz_t(), shift + 1);
    const mpz_class rest = x - (coarse << shift);
    return {std::ldexp(coarse.get_d(), -coarse_bits), std::ldexp(rest.get_d(), -fine_bits)};
}

Parts parts_on_grid(const GridBlock &block, std::size_t k, Arithmetic arithmetic) {
    if (!has_two_grids(arithmetic)) return parts_of({block.re[k], block.im[k]}, block.bits, arithmetic);
    const auto re = on_two_grids(block.re[k]), im = on_two_grids(block.im[k]);
    return {re.first, re.second, im.first, im.second};
}

} // namespace

FixedPointWide::FixedPointWide(const SubsetPlan &plan, const ExactBlock &block) : moved_(at(block.n()), 0) {
    const Arithmetic arithmetic = plan.kernel.arithmetic;
    const GridBlock on_one = on_grid(block, grid_bits(arithmetic));
    exp2_ = on_one.exp2;
    sum_bits_ = -on_one.unit - block.n(); // no entry is halved
    sizes_.pattern = block.pattern;
    std::vector<Parts> parts;
    MovedShares shares(block.n());
    for (std::int32_t i = 0; i < block.n(); ++i)
        for (const std::int32_t j : block.pattern.row(i)) {
            const std::size_t k = parts.size();
            const Parts &x = parts.emplace_back(parts_on_grid(on_one, k, arithmetic));
            const double size = std::hypot(x[0] + x[1], x[2] + x[3]) * (1 - 0x1p-50),
                         moved = on_one.cut[k] * std::ldexp(1.0, -on_one.bits);
            // Entries with a value get a size above nothing, so that a pattern with a perfect matching has
            // one of sizes.
            sizes_.values.push_back(tracked(std::max(size * (1 + 0x1p-48) + moved, 0x1p-300)));
            shares.add(i, j, moved, size);
            moved_[at(i)] = std::max(moved_[at(i)], moved);
            nonnegative_ = nonnegative_ && block.values[k].re >= 0 && block.values[k].im == 0;
        }
    share_ = shares.of_permanent();
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
                entries.push_back(gathered<typename A::Row>(side_by_side));
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
        // summed again say less of these (FixedPointDouble).
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

std::vector<double> residue_values(const SubsetPlan &plan, const Residues &residues, std::size_t which) {
    const auto prime = static_cast<double>(residues.primes[which]);
    const number::Modular<double> f{prime, 1 / prime};
    std::vector<double> entries;
    for (const std::uint64_t x : residues.values[which]) entries.push_back(f.reduce(static_cast<double>(x)));
    const double half = f.reduce((prime + 1) / 2);
    std::vector<double> values =
        kernel_values(f, plan, residues.pattern, entries,
                      [&](double a, double sign) { return f.multiply(sign * half, a); });
    values.insert(values.end(), {f.p, f.inverse});
    return values;
}

std::uint64_t residue_permanent(const SubsetPlan &plan, double sum, std::uint64_t prime) {
    const auto p = static_cast<std::int64_t>(prime);
    const std::int64_t value = (plan.kernel.n % 2 ? 2 : -2) * static_cast<std::int64_t>(sum) % p;
    return static_cast<std::uint64_t>(value < 0 ? value + p : value);
}

} // namespace libperm
