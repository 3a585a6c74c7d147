#include "lib/structure/find_background.hpp"

#include "lib/number/wide_value.hpp"
#include "lib/structure/background_lines.hpp"
#include "lib/structure/modular_background.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace libperm {
namespace {

// One background leaves much beside it, as no others can be mistaken for it; of several the rows must differ.
constexpr Likeness one_background{2, 1}, several_backgrounds{6, most_classes};

const Gaussian &exact_entry(const ExactBlock &block, std::int32_t i, std::int32_t j) {
    static const Gaussian zero{};
    const auto row = block.pattern.row(i);
    const auto place = std::lower_bound(row.begin(), row.end(), j);
    if (place == row.end() || *place != j) return zero;
    return block.values[at(block.pattern.row_begin(i) + (place - row.begin()))];
}

bool is_product(const Gaussian &x, const Gaussian &u, const Gaussian &v) {
    if (is_zero(u) || is_zero(v)) return is_zero(x);
    if (u.im == 0 && u.re == 1) return x == v;
    if (v.im == 0 && v.re == 1) return x == u;
    return x == u * v;
}

// The rows u_i C_a. of an exact background times v_j, compared with the block's; none: too many places
// differ.
std::optional<Pattern> compared(const ExactBlock &block, const Background &of, std::int64_t most,
                                const Poll &poll) {
    const std::int32_t n = block.n();
    const BackgroundLines<Gaussian> lines = background_lines(
        of, [&](std::int32_t i, std::int32_t j) { return exact_entry(block, i, j); },
        [](const Gaussian &x, const Gaussian &y, const Gaussian &z) { return x / (y * z); }, Gaussian{1, 0});
    PolledSteps steps(poll);
    Pattern beside;
    beside.rows = beside.cols = n;
    const Gaussian zero{};
    for (std::int32_t i = 0; i < n; ++i) {
        std::vector<Gaussian> of_class;
        for (const std::int32_t b : of.base_cols)
            of_class.push_back(lines.u[at(i)] * lines.of_classes(of, i, b));
        std::int64_t k = block.pattern.row_begin(i);
        const auto row = block.pattern.row(i);
        auto place = row.begin();
        for (std::int32_t j = 0; j < n; ++j) {
            steps.take(16);
            const bool is_there = place != row.end() && *place == j;
            const Gaussian &x = is_there ? block.values[at(k++)] : zero;
            place += is_there;
            if (!is_product(x, of_class[at(of.col_class[at(j)])], lines.v[at(j)])) beside.col.push_back(j);
        }
        if (std::ssize(beside.col) > most) return {};
        beside.row_ptr.push_back(std::ssize(beside.col));
    }
    return beside;
}

} // namespace

template <class Value> bool may_have_background(const Probe<Value> &probe) {
    constexpr std::int32_t rows = 6; // of four classes two are of the same, most likely
    const std::int32_t n = probe.n();
    std::vector<std::uint64_t> residues(at(rows) * at(n));
    for (std::int32_t k = 0; k < rows; ++k)
        probe.row(k * n / rows, std::span(residues).subspan(at(k) * at(n), at(n)));
    return !class_bases(probe.field(), {n, residues}, one_background).empty();
}

template <class Value>
Background find_background(const BlockOf<Value> &block, const Probe<Value> &probe,
                           const std::vector<std::uint64_t> &residues, const Poll &poll) {
    const std::int64_t n = block.n(), most = n * n / 4;
    std::optional<ModularBackground> best;
    for (const Likeness &by : {one_background, several_backgrounds}) {
        if (best && best->beside() <= 2 * n) break;
        ModularBackground other(probe.field(), {block.n(), residues}, by, poll);
        if (!other.is_none() && (!best || 2 * other.beside() < best->beside())) best = std::move(other);
    }
    if (!best || best->beside() > most) return {};
    Background found = best->found();
    std::optional<Pattern> beside = compared(exact_block(block), found, most, poll);
    if (!beside) return {};
    found.beside = *std::move(beside);
    return found;
}

template bool may_have_background(const Probe<Tracked> &probe);
template bool may_have_background(const Probe<Gaussian> &probe);
template Background find_background(const Block &block, const Probe<Tracked> &probe,
                                    const std::vector<std::uint64_t> &residues, const Poll &poll);
template Background find_background(const ExactBlock &block, const Probe<Gaussian> &probe,
                                    const std::vector<std::uint64_t> &residues, const Poll &poll);

} // namespace libperm
