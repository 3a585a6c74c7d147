#include "lib/number/integer_block.hpp"

#include "lib/number/fixed_point_block.hpp"
#include "lib/number/wide_value.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/permanent_bound.hpp"

#include <algorithm>

namespace libperm {
namespace {

// Divides each line by what its entries have in common; `line` is by entry.
void divide_lines(const std::vector<std::int32_t> &line, std::int32_t lines, IntegerBlock &block,
                  const Poll &poll) {
    std::vector<mpz_class> divisor(static_cast<std::size_t>(lines), 0);
    const auto of = [&](std::size_t k) -> mpz_class & { return divisor[static_cast<std::size_t>(line[k])]; };
    for (auto *part : {&block.re, &block.im})
        for (std::size_t k = 0; k < part->size(); ++k) {
            poll();
            of(k) = gcd(of(k), (*part)[k]);
        }
    for (mpz_class &d : divisor)
        if (d == 0) d = 1; // the permanent is 0 whatever this is
    for (auto *part : {&block.re, &block.im})
        for (std::size_t k = 0; k < part->size(); ++k) {
            poll();
            mpz_divexact((*part)[k].get_mpz_t(), (*part)[k].get_mpz_t(), of(k).get_mpz_t());
        }
    for (const mpz_class &d : divisor) {
        poll();
        block.factor *= d;
    }
}

} // namespace

IntegerBlock integer_rows(const ExactBlock &block, const Poll &poll) {
    IntegerBlock out{block.pattern, {}, {}, 1};
    const bool real =
        std::all_of(block.values.begin(), block.values.end(), [](const Gaussian &x) { return is_real(x); });
    std::vector<std::int32_t> row;
    row.reserve(block.values.size());
    out.re.reserve(block.values.size());
    if (!real) out.im.reserve(block.values.size());
    std::size_t first = 0;
    for (std::int32_t i = 0; i < block.n(); ++i) {
        const std::size_t end = first + block.pattern.row(i).size();
        mpz_class multiple = 1;
        for (std::size_t k = first; k < end; ++k) {
            poll();
            multiple = lcm(lcm(multiple, block.values[k].re.get_den()), block.values[k].im.get_den());
        }
        for (; first < end; ++first) {
            poll();
            const auto whole = [&](const mpq_class &x) {
                return mpz_class(x.get_num() * (multiple / x.get_den()));
            };
            row.push_back(i);
            out.re.push_back(whole(block.values[first].re));
            if (!real) out.im.push_back(whole(block.values[first].im));
        }
        out.factor /= multiple;
    }
    divide_lines(row, block.n(), out, poll);
    return out;
}

IntegerBlock integer_block(const ExactBlock &block, const Poll &poll) {
    IntegerBlock out = integer_rows(block, poll);
    divide_lines(block.pattern.col, block.n(), out, poll);
    return out;
}

std::int64_t permanent_bits(const ExactBlock &block) {
    return has_perfect_matching(block) ? permanent_bound(magnitudes_of(block)).exp2 : 0;
}

std::int64_t permanent_bits(const IntegerBlock &block, const Poll &poll) {
    Block magnitudes{block.pattern, {}};
    magnitudes.values.reserve(block.re.size());
    for (std::size_t k = 0; k < block.re.size(); ++k) {
        poll();
        magnitudes.values.push_back(
            magnitude_of({block.re[k], block.im.empty() ? mpz_class(0) : block.im[k]}));
    }
    if (maximum_matching(nonzero_pattern(magnitudes)).size < block.pattern.rows) return 0;
    return permanent_bound(magnitudes).exp2;
}

} // namespace libperm
