#include "lib/separable/generators.hpp"

#include "lib/number/montgomery.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace libperm {
namespace {

// A line, less multiples of such lines before: it is 0 behind its last place, where no other has its last.
struct GeneratorLine {
    std::size_t kind = 0, last = 0;
    std::uint64_t inverse = 0; // of the value there, in Montgomery's form
    std::vector<std::uint64_t> values;
};

// Eliminates lines one by one, each where it has left the diagonal: lines that still reach beyond it are
// independent there, so that there are never more of them than the rank of a block.
class TriangleElimination {
  public:
    TriangleElimination(std::size_t n, std::uint64_t prime) : n_(n), field_(prime) {
        triangle_.opens.resize(n);
        triangle_.closes.resize(n);
        triangle_.ends.resize(n);
    }

    // Line i, whose values behind place i count. False: it needs one kind more than there are.
    bool take(std::size_t i, std::vector<std::uint64_t> &line) {
        std::erase_if(lines_, [i](const GeneratorLine &other) { return other.last < i; });
        for (const GeneratorLine &other : lines_) { // the one that reaches furthest comes first
            if (other.last == i) break;
            const std::uint64_t factor = field_.to(field_.multiply(line[other.last], other.inverse));
            if (factor == 0) continue;
            triangle_.opens[i][other.kind] = field_.from(factor);
            for (std::size_t j = i + 1; j <= other.last; ++j)
                line[j] = field_.subtract(line[j], field_.multiply(factor, other.values[j]));
        }
        std::size_t last = n_ - 1;
        while (last > i && line[last] == 0) --last;
        return last == i || add(i, last, line);
    }

    Triangle triangle() { return std::move(triangle_); }

  private:
    bool add(std::size_t i, std::size_t last, const std::vector<std::uint64_t> &line) {
        std::array<bool, most_kinds> is_taken{};
        for (const GeneratorLine &other : lines_) is_taken[other.kind] = true;
        const auto kind =
            static_cast<std::size_t>(std::find(is_taken.begin(), is_taken.end(), false) - is_taken.begin());
        if (kind == most_kinds) return false;
        triangle_.kinds = std::max(triangle_.kinds, kind + 1);
        triangle_.opens[i][kind] = 1;
        triangle_.ends[last] |= static_cast<std::uint8_t>(1U << kind);
        for (std::size_t j = i + 1; j <= last; ++j) triangle_.closes[j][kind] = line[j];
        const auto behind = std::find_if(lines_.begin(), lines_.end(),
                                         [last](const GeneratorLine &other) { return other.last < last; });
        const std::uint64_t inverse = field_.power(field_.to(line[last]), field_.prime() - 2);
        lines_.insert(behind, {kind, last, inverse, line});
        return true;
    }

    std::size_t n_;
    Montgomery field_;
    std::vector<GeneratorLine> lines_;
    Triangle triangle_;
};

// `entry(i, j)`: between line i and the line j behind it.
template <class Entry>
std::optional<Triangle> triangle_of(std::size_t n, std::uint64_t prime, const Entry &entry) {
    TriangleElimination elimination(n, prime);
    std::vector<std::uint64_t> line(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i + 1; j < n; ++j) line[j] = entry(i, j);
        if (!elimination.take(i, line)) return {};
    }
    return elimination.triangle();
}

} // namespace

LineOrder order_as_given(std::size_t n) {
    LineOrder order;
    order.rows.resize(n);
    std::iota(order.rows.begin(), order.rows.end(), std::size_t{0});
    order.cols = order.rows;
    return order;
}

std::optional<Generators> generators_of(const DenseResidues &matrix, const LineOrder &order) {
    const auto entry = [&](std::size_t i, std::size_t j) {
        return matrix.values[order.rows[i] * matrix.n + order.cols[j]];
    };
    auto above = triangle_of(matrix.n, matrix.prime, entry);
    if (!above) return {};
    auto below =
        triangle_of(matrix.n, matrix.prime, [&entry](std::size_t j, std::size_t i) { return entry(i, j); });
    if (!below) return {};
    Generators found{matrix.prime, {}, std::move(*above), std::move(*below)};
    for (std::size_t k = 0; k < matrix.n; ++k) found.diagonal.push_back(entry(k, k));
    return found;
}

} // namespace libperm
