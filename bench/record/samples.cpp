#include "bench/record/matrices.hpp"

#include <cmath>

using namespace perm::families;

namespace samples {
namespace {

// Every third entry is far above the others, every fifth far below.
perm::Csr far_apart(perm::Csr a, int exp2) {
    for (std::size_t k = 0; k < a.values.size(); ++k) {
        if (k % 3 == 0) a.values[k] = std::ldexp(a.values[k], exp2);
        if (k % 5 == 0) a.values[k] = std::ldexp(a.values[k], -exp2);
    }
    return a;
}

perm::Csr times_power(perm::Csr a, int exp2) {
    for (double &x : a.values) x = std::ldexp(x, exp2);
    return a;
}

perm::Csr with_zeros(perm::Csr a) {
    for (std::size_t k = 0; k < a.values.size(); k += 4) a.values[k] = k % 8 ? 0.0 : -0.0;
    return a;
}

// Rows in pairs that are opposite but for their last bits, so that terms cancel.
perm::Csr nearly_opposite(std::int64_t n) {
    Dense rows = to_dense(erdos_renyi(n, 1, Entries::real, 31));
    for (std::size_t i = 1; i < rows.size(); i += 2)
        for (std::size_t j = 0; j < rows.size(); ++j)
            rows[i][j] = -rows[i - 1][j] * (1 + std::ldexp(static_cast<double>(j), -30));
    return from_dense(rows);
}

// The columns of each row the other way round.
perm::Csr backwards(const perm::Csr &a) {
    perm::Csr b = a;
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.n_rows); ++i)
        for (std::int64_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
            const auto from = static_cast<std::size_t>(k),
                       to = static_cast<std::size_t>(a.row_ptr[i] + a.row_ptr[i + 1] - 1 - k);
            b.col_idx[to] = a.col_idx[from];
            b.values[to] = a.values[from];
        }
    return b;
}

perm::Csr rectangle(std::int64_t n_rows, std::int64_t n_cols, Entries entries, std::uint64_t seed) {
    Random random(seed);
    return build(n_rows, n_cols, [&](std::int64_t i, std::int64_t j) {
        return i == j || random.chance(0.6) ? random_entry(entries, random) : 0.0;
    });
}

perm::Csr without_row(std::int64_t n) {
    return with_row(constant(n, 1), n / 2, std::vector<double>(static_cast<std::size_t>(n), 0.0));
}

std::vector<Sample> tiny() {
    return {real("empty0x0", perm::Csr{}),
            pattern("empty_pattern0x0", perm::Csr{}),
            real("zero1x1", from_dense({{0}})),
            real("one1x1", from_dense({{-2.5}})),
            complex("one1x1c", from_dense({{0.1}})),
            real("two2x2", from_dense({{1, 2}, {3, 4}})),
            real("cancels2x2", from_dense({{1, 1}, {1, -1}})),
            text("two2x2text", from_dense({{1, 2}, {3, 4}}), Written::fractions),
            whole("counting3x3", counting(3)),
            complex("counting3x3c", counting(3)),
            real("thirds3x3", constant(3, 1.0 / 3)),
            whole("counting4x4", counting(4)),
            real("real4x4", erdos_renyi(4, 1, Entries::real, 4)),
            pattern("ones4x4", constant(4, 1)),
            real("no_rows0x3", rectangle(0, 3, Entries::ones, 1))};
}

std::vector<Sample> with_structure() {
    const auto some = Entries::nonnegative, with_signs = Entries::real, integers = Entries::integers;
    return {pattern("grid6x6", grid(6, 6)),
            pattern("grid8x8", grid(8, 8)),
            pattern("grid3x4x3", grid(3, 4, 3)),
            pattern("hypercube4", hypercube(4)),
            pattern("aztec5", aztec_diamond(5)),
            pattern("fano", fano()),
            pattern("circulant14", circulant(14, {0, 1, 4})),
            pattern("hessenberg20", hessenberg(20)),
            pattern("mycielskian5", mycielskian(5)),
            real("band40", banded(40, 2, 2, with_signs, 3)),
            real("band60_nonneg", banded(60, 3, 2, some, 3)),
            complex("band30c", banded(30, 2, 1, with_signs, 5)),
            real("tridiagonal60", tridiagonal(60, 1, 2, -3)),
            real("triangular20", triangular(20, with_signs, 3)),
            real("arrow30", arrow(30, integers, 2)),
            real("mesh4x6", mesh2d(4, 6, some, 1)),
            real("mesh9p4x5", mesh2d9(4, 5, with_signs, 1)),
            real("mesh3d3x3x3", mesh3d(3, 3, 3, some, 1)),
            real("power40", power_network(40, some, 1)),
            real("process30", process(30, with_signs, 1)),
            whole("process24", process(24, integers, 2)),
            real("permutation24", permutation_plus(24, 3, some, 7)),
            real("permutation20_signed", permutation_plus(20, 3, with_signs, 8)),
            real("disconnected", block_sum(erdos_renyi(6, 0.8, with_signs, 1), banded(9, 1, 2, some, 2))),
            real("twice_the_same", block_sum(erdos_renyi(7, 0.9, some, 3), erdos_renyi(7, 0.9, some, 3))),
            real("blocks5x5", block_triangular(5, 5, 0.5, some, 1)),
            complex("blocks4x4c", block_triangular(4, 4, 0.6, with_signs, 2)),
            real("chain6x4", chain_of_blocks(6, 4, 0.5, with_signs, 2)),
            real("hanging30", degree_chains(30, 8, some, 1)),
            whole("hanging24", degree_chains(24, 7, integers, 2)),
            real("singular_row", without_row(7)),
            pattern("singular_triangle", triangular(8, Entries::ones, 1)),
            real("no_matching", from_dense({{1, 2, 3}, {4, 0, 0}, {5, 0, 0}})),
            real("dense12", erdos_renyi(12, 1, with_signs, 9)),
            real("dense13_nonneg", erdos_renyi(13, 1, some, 9)),
            real("half18", erdos_renyi(18, 0.5, with_signs, 6)),
            real("rectangle3x5", rectangle(3, 5, with_signs, 1)),
            whole("rectangle6x9", rectangle(6, 9, integers, 2)),
            complex("rectangle4x6c", rectangle(4, 6, with_signs, 3)),
            pattern("rectangle5x11", rectangle(5, 11, Entries::ones, 4))};
}

std::vector<Sample> with_repeats() {
    const auto some = Entries::nonnegative, integers = Entries::integers;
    return {real("repeated14", repeated_lines(14, 5, 4, some, 1)),
            whole("repeated12", repeated_lines(12, 4, 5, integers, 2)),
            real("proportional12", proportional_lines(12, 4, 5, Entries::real, 1)),
            whole("block_constant", block_constant({{1, 2}, {3, -1}}, {4, 5}, {3, 6})),
            pattern("ones20", constant(20, 1)),
            real("tenths15", constant(15, 0.1)),
            pattern("without_pairs12", ones_without_pairs(12)),
            whole("hadamard8", hadamard(8)),
            pattern("derangements14", derangements(14)),
            repeated(real("times5", erdos_renyi(5, 1, Entries::real, 4)), {2, 1, 3, 1, 1}, {1, 2, 2, 1, 2}),
            repeated(complex("times4c", erdos_renyi(4, 1, Entries::real, 5)), {3, 2, 2, 1}, {2, 2, 2, 2}),
            repeated(whole("times_none", erdos_renyi(5, 1, integers, 6)), {2, 0, 2, 1, 1}, {1, 0, 2, 2, 1}),
            repeated(pattern("times_wide", constant(3, 1)), {2, 2, 1}, {3, 4, 3}),
            repeated(real("photons8", erdos_renyi(6, 0.8, some, 2)), {1, 2, 1, 2, 1, 1}, {2, 1, 1, 1, 2, 1})};
}

std::vector<Sample> of_odd_values() {
    const perm::Csr small = erdos_renyi(7, 0.8, Entries::real, 12);
    return {real("far_apart200", far_apart(small, 200)),
            real("far_apart1000", far_apart(small, 1000)),
            complex("far_apart300c", far_apart(small, 300)),
            real("subnormal", times_power(small, -1040)),
            real("subnormal_mixed", far_apart(small, 1060)),
            real("overflow", times_power(small, 900)),
            real("underflow", times_power(small, -900)),
            real("explicit_zeros", with_zeros(erdos_renyi(9, 0.9, Entries::real, 13))),
            real("backwards", backwards(erdos_renyi(9, 0.7, Entries::real, 14))),
            real("nearly_opposite8", nearly_opposite(8)),
            real("nearly_opposite11", nearly_opposite(11)),
            text("text_integers", small, Written::integers),
            text("text_decimals", small, Written::decimals),
            text("text_fractions", small, Written::fractions),
            text("text_far_apart", small, Written::far_apart),
            text("text_complex", small, Written::complex),
            text("text_band", banded(16, 1, 2, Entries::real, 3), Written::fractions)};
}

} // namespace

std::vector<Sample> for_engines() {
    const perm::Csr small = erdos_renyi(7, 0.7, Entries::real, 21);
    return {real("er9", erdos_renyi(9, 0.6, Entries::real, 22)),
            real("er11_nonneg", erdos_renyi(11, 0.5, Entries::nonnegative, 23)),
            real("dense10", erdos_renyi(10, 1, Entries::real, 24)),
            real("counts9", erdos_renyi(9, 0.6, Entries::counts, 25)),
            whole("integers9", erdos_renyi(9, 0.7, Entries::integers, 26)),
            complex("er8c", erdos_renyi(8, 0.7, Entries::real, 27)),
            pattern("grid4x5", grid(4, 5)),
            real("band12", banded(12, 2, 1, Entries::real, 28)),
            whole("repeated10", repeated_lines(10, 4, 4, Entries::integers, 29)),
            real("far_apart7", far_apart(small, 300)),
            real("subnormal7", times_power(small, -1045)),
            real("nearly_opposite8", nearly_opposite(8)),
            text("fractions7", small, Written::fractions),
            text("decimals7", small, Written::decimals),
            text("complex7", small, Written::complex),
            text("integers7", small, Written::integers)};
}

std::vector<Sample> of_shapes() {
    std::vector<Sample> all;
    for (const std::vector<Sample> &some : {tiny(), with_structure(), with_repeats(), of_odd_values()})
        all.insert(all.end(), some.begin(), some.end());
    return all;
}

std::vector<Sample> for_passes() {
    const auto some = Entries::nonnegative, with_signs = Entries::real;
    return {real("blocks4x5", block_triangular(4, 5, 0.5, some, 3)),
            real("hanging22", degree_chains(22, 7, with_signs, 4)),
            whole("repeated11", repeated_lines(11, 4, 5, Entries::integers, 5)),
            real("mesh3x5", mesh2d(3, 5, with_signs, 6)),
            complex("process16c", process(16, with_signs, 7)),
            text("chain3x4", chain_of_blocks(3, 4, 0.6, with_signs, 8), Written::fractions),
            real("far_apart10", far_apart(erdos_renyi(10, 0.5, with_signs, 9), 120))};
}

std::vector<Sample> for_plans() {
    const auto some = Entries::nonnegative, with_signs = Entries::real;
    return {real("er10", erdos_renyi(10, 0.6, with_signs, 41)),
            real("er12_nonneg", erdos_renyi(12, 0.4, some, 42)),
            complex("er8c", erdos_renyi(8, 0.7, with_signs, 43)),
            whole("integers8", erdos_renyi(8, 0.8, Entries::integers, 44)),
            pattern("grid4x4", grid(4, 4)),
            text("fractions6", erdos_renyi(6, 0.8, with_signs, 45), Written::fractions),
            real("band30", banded(30, 2, 2, some, 46)),
            real("repeated12", repeated_lines(12, 4, 5, some, 47)),
            real("blocks4x4", block_triangular(4, 4, 0.6, with_signs, 48)),
            real("rectangle4x6", rectangle(4, 6, with_signs, 49)),
            repeated(complex("times4c", erdos_renyi(4, 1, with_signs, 50)), {2, 1, 2, 1}, {1, 2, 2, 1}),
            real("one1x1", from_dense({{3.5}})),
            real("singular5", without_row(5)),
            real("half20", erdos_renyi(20, 0.4, with_signs, 51))};
}

} // namespace samples
