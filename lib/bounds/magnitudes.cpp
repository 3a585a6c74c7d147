#include "lib/bounds/magnitudes.hpp"

#include "lib/number/wide_value.hpp"
#include "preprocess/index.hpp"
#include "preprocess/scaling.hpp"

#include <limits>

namespace libperm {

// Signs whose products are those of the entries are looked for along a search of the lines.
int sign_by_lines(const Block &block) {
    const Pattern &a = block.pattern;
    const Transposed t = transpose(a);
    const auto n = at(a.rows);
    std::vector<int> sign(2 * n, 0); // 0: not met
    std::vector<std::size_t> waiting;
    for (std::size_t root = 0; root < n; ++root) {
        if (sign[root] != 0) continue;
        sign[root] = 1;
        waiting.push_back(root);
        while (!waiting.empty()) {
            const std::size_t line = waiting.back();
            waiting.pop_back();
            const bool is_row = line < n;
            const Pattern &of = is_row ? a : t.pattern;
            const auto number = static_cast<std::int32_t>(is_row ? line : line - n);
            std::int64_t k = of.row_begin(number);
            for (const std::int32_t j : of.row(number)) {
                const Tracked &x = block.values[at(is_row ? k : t.source[at(k)])];
                ++k;
                if (x.magnitude == 0) continue;
                if (range_of(x).first == 0) return 0; // and nobody knows its sign
                const int wanted = x.value < 0 ? -sign[line] : sign[line];
                int &other = sign[is_row ? n + at(j) : at(j)];
                if (other == 0) {
                    other = wanted;
                    waiting.push_back(is_row ? n + at(j) : at(j));
                } else if (other != wanted) {
                    return 0;
                }
            }
        }
    }
    return std::count(sign.begin(), sign.end(), -1) % 2 == 0 ? 1 : -1;
}

namespace {

// Small enough to be 0, in place of what would be subnormal.
double scaled(double x, std::int64_t exp2) {
    return exp2 < least_exponent ? 0 : std::ldexp(x, static_cast<int>(exp2));
}

// `value_of(k, exp2)`: entry k times 2^exp2.
template <class ValueOf>
Magnitudes scaled_magnitudes(Block block, bool of_one_sign, const ValueOf &value_of) {
    Magnitudes m;
    std::vector<std::int64_t> before;
    before.reserve(block.values.size());
    for (const Tracked &x : block.values) before.push_back(x.exp2);
    m.exp2 = -scale_for_bounds(block);
    m.of_one_sign = of_one_sign;
    for (std::size_t k = 0; k < block.values.size(); ++k) {
        const Tracked &x = block.values[k];
        const auto [lower, upper] = range_of(x);
        m.lower.push_back(scaled(lower, x.exp2));
        m.upper.push_back(upper > 0 && x.exp2 < least_exponent ? std::ldexp(1.0, least_exponent)
                                                               : scaled(upper, x.exp2));
        if (!of_one_sign) m.value.push_back(value_of(k, x.exp2 - before[k]));
    }
    m.pattern = std::move(block.pattern);
    return m;
}

} // namespace

// Of entries that are alike all rows by one power of two, of others those of an assignment
// (preprocess/scaling.hpp), or, where that takes long, of each line its largest entry's.
std::int64_t scale_for_bounds(Block &block) {
    constexpr std::int64_t alike = 200;
    constexpr std::int32_t most_rows = 5000;
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = none;
    for (const Tracked &x : block.values)
        if (x.magnitude != 0) {
            lowest = std::min(lowest, x.exp2);
            highest = std::max(highest, x.exp2);
        }
    if (highest == none) return 0;
    std::int64_t total = 0;
    if (highest - lowest < alike) {
        for (Tracked &x : block.values) x.exp2 -= highest;
        return -highest * block.n();
    }
    if (block.n() <= most_rows) return scale(block);
    for (const bool by_rows : {true, false}) {
        std::vector<std::int64_t> most(at(block.n()), none);
        const auto for_lines = [&](const auto &work) {
            std::size_t k = 0;
            for (std::int32_t i = 0; i < block.n(); ++i)
                for (const std::int32_t j : block.pattern.row(i))
                    if (Tracked &x = block.values[k++]; x.magnitude != 0) work(most[at(by_rows ? i : j)], x);
        };
        for_lines([](std::int64_t &of_line, const Tracked &x) { of_line = std::max(of_line, x.exp2); });
        for_lines([](std::int64_t of_line, Tracked &x) { x.exp2 -= of_line; });
        for (const std::int64_t x : most) total -= x == none ? 0 : x;
    }
    return total;
}

Magnitudes magnitudes_between(Block block) {
    const bool of_one_sign = sign_by_lines(block) != 0;
    const std::vector<Tracked> entries = of_one_sign ? std::vector<Tracked>() : block.values;
    const auto value_of = [&](std::size_t k, std::int64_t exp2) -> std::complex<double> {
        return scaled(entries[k].value, entries[k].exp2 + exp2);
    };
    return scaled_magnitudes(std::move(block), of_one_sign, value_of);
}

Magnitudes magnitudes_between(const ExactBlock &block) {
    const bool of_one_sign = std::all_of(block.values.begin(), block.values.end(),
                                         [](const Gaussian &x) { return is_real(x) && x.re >= 0; });
    const auto value_of = [&](std::size_t k, std::int64_t exp2) -> std::complex<double> {
        const Gaussian &x = block.values[k];
        const std::int64_t size = std::max(exponent_of(x.re), exponent_of(x.im));
        if (is_zero(x)) return 0;
        const Parts parts = parts_of(x, size, Arithmetic::complex);
        return {scaled(parts[0], size + exp2), scaled(parts[2], size + exp2)};
    };
    Magnitudes m = scaled_magnitudes(magnitudes_of(block), of_one_sign, value_of);
    for (double &x : m.lower)
        x *= 1 - 0x1p-48; // these magnitudes are rounded up, by 2^-50 of themselves at most
    return m;
}

} // namespace libperm
