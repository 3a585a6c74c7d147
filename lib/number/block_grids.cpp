#include "lib/number/block_grids.hpp"

#include "lib/number/doubles.hpp"
#include "lib/number/wide_value.hpp"
#include "preprocess/branch_decomposition.hpp"
#include "preprocess/index.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/permanent_bound.hpp"
#include "preprocess/repeated_lines.hpp"
#include "preprocess/scaling.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

namespace libperm {
namespace {

double times_power(double x, std::int64_t exp2) {
    if (std::abs(exp2) < 1000) return x * power_of_two(static_cast<int>(exp2)); // sooner
    return std::ldexp(x, ldexp_exponent(exp2));
}

} // namespace

double ScaledRow::value(const Tracked &x) const {
    return x.value == 0 ? 0 : times_power(x.value, x.exp2 - exp2);
}

ScaledRow scaled_row(const Block &block, std::int32_t i) {
    const auto begin = static_cast<std::size_t>(block.pattern.row_begin(i));
    const std::span<const Tracked> entries(block.values.data() + begin, block.pattern.row(i).size());
    std::int64_t top = std::numeric_limits<std::int64_t>::min(); // every entry is below 2^top
    for (const Tracked &x : entries) {
        if (x.value == 0) continue; // else it may be far below its magnitude
        int exponent = 0;
        std::frexp(x.value, &exponent);
        top = std::max(top, x.exp2 + exponent);
    }
    ScaledRow row;
    double absolute = 0;
    for (const Tracked &x : entries)
        if (x.value != 0) absolute += std::fabs(times_power(x.value, x.exp2 - top));
    if (absolute == 0) top = 0;
    int exponent = 0;
    row.absolute = std::frexp(absolute, &exponent);
    row.exp2 = top + exponent;
    for (const Tracked &x : entries)
        if (x.value != 0)
            row.unit = std::min(row.unit, unit_exponent(x.value) + ldexp_exponent(x.exp2 - row.exp2) - 1);
    return row;
}

ScaledRows scaled_rows(const Block &block) {
    ScaledRows rows;
    rows.value.reserve(block.values.size());
    for (std::int32_t i = 0; i < block.n(); ++i) {
        const ScaledRow row = scaled_row(block, i);
        rows.exp2 += row.exp2;
        for (std::size_t left = block.pattern.row(i).size(); left > 0; --left)
            rows.value.push_back(row.value(block.values[rows.value.size()]));
        rows.absolute.push_back(row.absolute);
        rows.unit.push_back(row.unit);
    }
    return rows;
}

namespace {

std::int64_t lowest_bit(const mpz_class &x) { // far above, if there is none
    return x == 0 ? std::numeric_limits<std::int32_t>::max()
                  : static_cast<std::int64_t>(mpz_scan1(x.get_mpz_t(), 0));
}

} // namespace

bool has_perfect_matching(const ExactBlock &block) { return has_perfect_matching(nonzero_pattern(block)); }

GridBlock on_grid(const ExactBlock &block, int bits) {
    GridBlock grid{bits, {}, {}, {}, 0, 0, {}};
    Block size = magnitudes_of(block);
    const PowerScaling scaling = power_scaling(size); // equal lines stay equal
    for (const std::int64_t s : scaling.col) grid.exp2 -= s;
    // Entries are moved by E with |E| < 2^(1 - bits) each, and perm(|A| + s E) - perm(|A|) has a power of s
    // in each term: for t > 1 it is, for s = 1, at most perm(|A| + t E) / t. Here t E is below 1 / n^2.
    const int log2_more = -2 * std::bit_width(static_cast<std::uint32_t>(block.n()));
    bool moved = false;
    std::size_t k = 0;
    for (std::int32_t i = 0; i < block.n(); ++i) {
        const auto row = block.pattern.row(i);
        mpq_class re = 0, im = 0;
        for (std::size_t j = 0; j < row.size(); ++j) {
            re += abs(shifted(block.values[k + j].re, scaling.col[at(row[j])]));
            im += abs(shifted(block.values[k + j].im, scaling.col[at(row[j])]));
        }
        const std::int64_t top = std::max(exponent_of(re), exponent_of(im)); // no row is 0
        grid.exp2 += top;
        std::int64_t lowest = std::numeric_limits<std::int32_t>::max();
        for (const std::int32_t j : row) {
            const std::int64_t by = scaling.col[at(j)] - top;
            char cut_parts = 0;
            const auto put = [&](const mpq_class &x, std::vector<mpz_class> &to) {
                const mpq_class y = shifted(x, by + bits);
                mpz_class cut = y.get_num() / y.get_den(); // towards 0: the sums do not grow
                cut_parts += cut * y.get_den() != y.get_num();
                lowest = std::min(lowest, lowest_bit(cut));
                to.push_back(std::move(cut));
            };
            put(block.values[k].re, grid.re);
            put(block.values[k].im, grid.im);
            size.values[k].exp2 += by;
            grid.cut.push_back(cut_parts);
            if (cut_parts > 0) size.values[k] = size.values[k] + tracked(std::ldexp(1.0, log2_more));
            moved = moved || cut_parts > 0;
            ++k;
        }
        grid.unit += lowest - bits - 1;
    }
    if (moved) {
        const PermanentBound bound = permanent_bound(size);
        grid.moved = make_scaled(bound.mantissa * (1 + 0x1p-20), bound.exp2 + 1 - bits - log2_more);
    }
    return grid;
}

namespace {

// Steps that a number takes: the longer, the more.
std::int64_t of_number(const mpz_class &x) {
    const auto words = static_cast<std::int64_t>(mpz_size(x.get_mpz_t()));
    return 32 + words * words;
}

// Divides each line by what its entries have in common; `line` is by entry.
void divide_lines(const std::vector<std::int32_t> &line, std::int32_t lines, IntegerBlock &block) {
    std::vector<mpz_class> divisor(static_cast<std::size_t>(lines), 0);
    PolledSteps steps;
    const auto of = [&](std::size_t k) -> mpz_class & { return divisor[static_cast<std::size_t>(line[k])]; };
    for (auto *part : {&block.re, &block.im})
        for (std::size_t k = 0; k < part->size(); ++k) {
            mpz_class &d = of(k);
            steps.take(of_number((*part)[k]));
            if (d != 1) mpz_gcd(d.get_mpz_t(), d.get_mpz_t(), (*part)[k].get_mpz_t());
        }
    for (mpz_class &d : divisor)
        if (d == 0) d = 1; // the permanent is 0 whatever this is
    for (auto *part : {&block.re, &block.im})
        for (std::size_t k = 0; k < part->size(); ++k) {
            mpz_class &x = (*part)[k];
            steps.take(of_number(x));
            if (of(k) != 1) mpz_divexact(x.get_mpz_t(), x.get_mpz_t(), of(k).get_mpz_t());
        }
    for (const mpz_class &d : divisor) {
        poll();
        if (d != 1) block.factor *= d;
    }
}

} // namespace

IntegerBlock integer_rows(const ExactBlock &block) {
    IntegerBlock out{block.pattern, {}, {}, 1};
    const bool real =
        std::all_of(block.values.begin(), block.values.end(), [](const Gaussian &x) { return is_real(x); });
    std::vector<std::int32_t> row;
    row.reserve(block.values.size());
    out.re.reserve(block.values.size());
    if (!real) out.im.reserve(block.values.size());
    PolledSteps steps;
    std::size_t first = 0;
    for (std::int32_t i = 0; i < block.n(); ++i) {
        const std::size_t end = first + block.pattern.row(i).size();
        mpz_class multiple = 1;
        for (std::size_t k = first; k < end; ++k)
            for (const mpq_class *x : {&block.values[k].re, &block.values[k].im}) {
                steps.take(of_number(x->get_den()) + of_number(multiple));
                if (x->get_den() != 1) multiple = lcm(multiple, x->get_den());
            }
        for (; first < end; ++first) {
            steps.take(of_number(multiple));
            const auto whole = [&](const mpq_class &x) {
                return multiple == 1 ? x.get_num() : mpz_class(x.get_num() * (multiple / x.get_den()));
            };
            row.push_back(i);
            out.re.push_back(whole(block.values[first].re));
            if (!real) out.im.push_back(whole(block.values[first].im));
        }
        out.factor /= multiple;
    }
    divide_lines(row, block.n(), out);
    return out;
}

namespace {

// Of a graph: each line is multiplied by what makes its entries whole that the lines before it have left
// fractions, a loop once; the hafnian is by all of these. Equal lines are multiplied alike, and stay equal.
IntegerBlock integer_lines_of_graph(const ExactBlock &graph) {
    const bool real =
        std::all_of(graph.values.begin(), graph.values.end(), [](const Gaussian &x) { return is_real(x); });
    const BranchLines lines(graph.pattern);
    std::vector<Gaussian> values = graph.values;
    IntegerBlock out{graph.pattern, {}, {}, 1};
    PolledSteps steps;
    const std::vector<std::int32_t> lowest = equal_lines(graph).of_row;
    std::vector<std::vector<std::int32_t>> equal(static_cast<std::size_t>(lines.count()));
    for (std::int32_t line = 0; line < lines.count(); ++line)
        equal[static_cast<std::size_t>(lowest.empty() ? line : lowest[static_cast<std::size_t>(line)])]
            .push_back(line);
    for (std::int32_t line = 0; line < lines.count(); ++line) {
        if (equal[static_cast<std::size_t>(line)].empty()) continue;
        mpz_class multiple = 1;
        for (const std::int32_t e : lines.on(line))
            for (const mpq_class *x :
                 {&values[static_cast<std::size_t>(e)].re, &values[static_cast<std::size_t>(e)].im}) {
                steps.take(of_number(x->get_den()) + of_number(multiple));
                if (x->get_den() != 1) multiple = lcm(multiple, x->get_den());
            }
        if (multiple == 1) continue;
        for (const std::int32_t copy : equal[static_cast<std::size_t>(line)]) {
            steps.take(of_number(multiple) * lines.degree(copy));
            for (const std::int32_t e : lines.on(copy)) {
                Gaussian &x = values[static_cast<std::size_t>(e)];
                x = {x.re * multiple, x.im * multiple};
            }
            out.factor /= multiple;
        }
    }
    for (const Gaussian &x : values) {
        out.re.push_back(x.re.get_num());
        if (!real) out.im.push_back(x.im.get_num());
    }
    return out;
}

} // namespace

IntegerBlock integer_block(const ExactBlock &block) {
    if (block.pattern.one_sided) return integer_lines_of_graph(block);
    IntegerBlock out = integer_rows(block);
    divide_lines(block.pattern.col, block.n(), out);
    return out;
}

std::int64_t permanent_bits(const ExactBlock &block) {
    return has_perfect_matching(block) ? permanent_bound(magnitudes_of(block)).exp2 : 0;
}

std::int64_t permanent_bits(const IntegerBlock &block) {
    Block magnitudes{block.pattern, {}};
    magnitudes.values.reserve(block.re.size());
    PolledSteps steps;
    for (std::size_t k = 0; k < block.re.size(); ++k) {
        steps.take(of_number(block.re[k]));
        magnitudes.values.push_back(block.im.empty() ? magnitude_of(block.re[k])
                                                     : magnitude_of({block.re[k], block.im[k]}));
    }
    if (!has_perfect_matching(nonzero_pattern(magnitudes))) return 0;
    return permanent_bound(magnitudes).exp2;
}

} // namespace libperm
