#include "bench/kernels/diagonal_product.hpp"

#include "bench/kernels/device_code.hpp"
#include "jit/text/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace bench {
namespace {

using namespace libperm;

// Where row 0 of each diagonal is, or would be.
std::vector<std::uint32_t> origins(DiagonalStorage storage, std::uint32_t n,
                                   const std::vector<std::int32_t> &diagonals) {
    std::vector<std::uint32_t> at;
    for (const DiagonalLine &line : diagonal_lines(storage, n, diagonals)) at.push_back(line.at - line.low);
    return at;
}

} // namespace

KernelRecipe diagonal_product_kernels() {
    static constexpr std::pair<const char *, const char *> bodies[] = {
        {hm_product_entry, "multiply<false>"},
        {cdm_product_entry, "multiply<true>"},
        {hm_vector_entry, "apply<false>"},
        {cdm_vector_entry, "apply<true>"},
    };
    std::string text = std::string("// libperm: the product of two matrices stored by diagonals.\n\n") +
                       diagonal_product_cuh;
    std::vector<std::string> entries;
    for (const auto &[entry, body] : bodies) {
        text += formatted("\nextern \"C\" __global__ void __launch_bounds__(most_threads)\n"
                          "{}(const __grid_constant__ Product product) {{\n    {}(product);\n}}\n",
                          entry, body);
        entries.emplace_back(entry);
    }
    return kernels_of(std::move(text), std::move(entries));
}

std::vector<DiagonalLine> diagonal_lines(DiagonalStorage storage, std::uint32_t n,
                                         const std::vector<std::int32_t> &diagonals) {
    std::vector<DiagonalLine> lines;
    std::uint32_t at = 0;
    for (const std::int32_t d : diagonals) {
        DiagonalLine line{0, n, at};
        if (storage == DiagonalStorage::hm) {
            line.low = static_cast<std::uint32_t>(std::max(0, -d));
            line.rows = n - static_cast<std::uint32_t>(std::abs(d));
        }
        at += line.rows;
        lines.push_back(line);
    }
    return lines;
}

DiagonalPlan diagonal_plan(DiagonalStorage storage, std::uint32_t n, const std::vector<std::int32_t> &a,
                           const std::vector<std::int32_t> &b) {
    const std::vector<std::uint32_t> a_at = origins(storage, n, a), b_at = origins(storage, n, b);
    const auto size = static_cast<std::int64_t>(n);
    std::map<std::int64_t, std::vector<DiagonalPair>> of;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b.size(); ++j) {
            std::int64_t d = std::int64_t{a[i]} + b[j];
            if (storage == DiagonalStorage::cdm) d %= size;
            if (std::abs(d) < size) of[d].push_back({a_at[i], b_at[j], static_cast<std::uint32_t>(a[i])});
        }
    DiagonalPlan out;
    for (const auto &[d, pairs] : of) {
        out.diagonals.push_back(static_cast<std::int32_t>(d));
        out.pairs.insert(out.pairs.end(), pairs.begin(), pairs.end());
        out.first.push_back(static_cast<std::uint32_t>(out.pairs.size()));
    }
    out.lines = diagonal_lines(storage, n, out.diagonals);
    for (const DiagonalLine &line : out.lines) out.stored += line.rows;
    return out;
}

std::vector<DiagonalPair> diagonal_pairs(DiagonalStorage storage, std::uint32_t n,
                                         const std::vector<std::int32_t> &a) {
    const std::vector<std::uint32_t> at = origins(storage, n, a);
    std::vector<DiagonalPair> pairs;
    for (std::size_t i = 0; i < a.size(); ++i) pairs.push_back({at[i], 0, static_cast<std::uint32_t>(a[i])});
    return pairs;
}

} // namespace bench
