// The sum over a surface. The term of a matching M in a determinant with Kasteleyn's signs has, beside that
// of the matching D on the diagonal, the sign (-1)^q(M + D) of a quadratic form q on the cycles modulo 2: q(a
// + b) = q(a) + q(b) + a.b. Other signs of the entries around the handles give all 4^g forms. With Arf(q) =
// 2^-g sum over the classes h of (-1)^q(h), which is 1 or -1, the sum over all q of Arf(q) (-1)^q(h) is 2^g
// for each h, so that all matchings count once.
#include "lib/planar/kasteleyn.hpp"
#include "lib/planar/signed_sum.hpp"

#include <algorithm>

namespace libperm {
namespace {

// An entry around a handle, and the way back from its column to its row in the forest: darts that follow each
// other. These cycles are a basis.
std::vector<Dart> basic_cycle(const PatternGraph &graph, const Forest &forest, std::int32_t entry) {
    std::vector<Dart> cycle{2 * entry}, from_row;
    std::int32_t row = graph.row_of(entry), column = graph.column_of(entry);
    while (row != column)
        if (forest.depth[at(column)] >= forest.depth[at(row)]) {
            cycle.push_back(forest.to_parent[at(column)]);
            column = graph.line_of(across(cycle.back()));
        } else {
            from_row.push_back(across(forest.to_parent[at(row)]));
            row = graph.line_of(from_row.back());
        }
    cycle.insert(cycle.end(), from_row.rbegin(), from_row.rend());
    return cycle;
}

// Entries that leave the cycle on one side of it, as often as they do: those that cross it when it is moved a
// little to that side.
std::vector<std::int32_t> on_one_side(const Rotation &rotation, const std::vector<Dart> &cycle) {
    std::vector<std::int32_t> entries;
    Dart last = cycle.back();
    for (const Dart d : cycle) {
        for (Dart x = rotation[at(across(last))]; x != d; x = rotation[at(x)]) entries.push_back(entry_of(x));
        last = d;
    }
    return entries;
}

bool is_odd_number_in(const std::vector<std::int32_t> &entries, const std::vector<char> &is_in) {
    return std::count_if(entries.begin(), entries.end(),
                         [&](std::int32_t entry) { return is_in[at(entry)] != 0; }) %
               2 !=
           0;
}

// By the values on the basis, and which of its cycles cross an odd number of times.
class QuadraticForm {
  public:
    std::vector<char> value;
    std::vector<std::vector<char>> crosses;

    bool is_arf_negative() const {
        std::int64_t sum = 0;
        for (std::uint32_t of = 0; of < std::uint32_t{1} << value.size(); ++of) sum += at_sum(of) ? -1 : 1;
        return sum < 0;
    }

  private:
    bool at_sum(std::uint32_t of) const {
        bool odd = false;
        for (std::size_t x = 0; x < value.size(); ++x) {
            if ((of >> x & 1) == 0) continue;
            odd ^= value[x] != 0;
            for (std::size_t y = 0; y < x; ++y) odd ^= (of >> y & 1) != 0 && crosses[x][y] != 0;
        }
        return odd;
    }
};

std::vector<char> entries_of(const PatternGraph &graph, const std::vector<Dart> &darts) {
    std::vector<char> is_in(at(graph.entries()), 0);
    for (const Dart d : darts) is_in[at(entry_of(d))] = 1;
    return is_in;
}

// Cimasoni and Reshetikhin's form: for a cycle of 2k entries, -1 to its value is -(-1)^k times its signs
// times -1 for each line whose entry of the matching leaves the cycle on one side.
QuadraticForm form_of(const PatternGraph &graph, const Rotation &rotation, const Forest &forest,
                      const KasteleynSigns &signs, const std::vector<char> &is_matched) {
    QuadraticForm form;
    std::vector<std::vector<char>> cycles;
    for (const std::int32_t entry : signs.around_handles())
        cycles.push_back(entries_of(graph, basic_cycle(graph, forest, entry)));
    for (const std::int32_t entry : signs.around_handles()) {
        const std::vector<Dart> cycle = basic_cycle(graph, forest, entry);
        const std::vector<std::int32_t> side = on_one_side(rotation, cycle);
        bool odd = cycle.size() % 4 == 0;
        for (const Dart d : cycle) odd ^= signs.is_negative()[at(entry_of(d))] != 0;
        form.value.push_back(odd ^ is_odd_number_in(side, is_matched));
        std::vector<char> &crosses = form.crosses.emplace_back();
        for (const std::vector<char> &other : cycles) crosses.push_back(is_odd_number_in(side, other));
    }
    return form;
}

} // namespace

SignedSum sum_on_surface(const PatternGraph &graph, const Rotation &rotation, const Matching &matching) {
    const Faces faces = faces_of(rotation);
    const Forest forest(graph);
    const KasteleynSigns signs(graph, faces, forest);
    std::vector<char> is_matched(at(graph.entries()), 0);
    const auto first_column = graph.lines() - static_cast<std::int32_t>(matching.row_of_col.size());
    for (std::int32_t e = 0; e < graph.entries(); ++e)
        is_matched[at(e)] = first_column + matching.col_of_row[at(graph.row_of(e))] == graph.column_of(e);
    const QuadraticForm first = form_of(graph, rotation, forest, signs, is_matched);

    SignedSum sum;
    sum.is_negative = signs.is_negative();
    sum.genus = static_cast<std::int32_t>(first.value.size() / 2);
    for (const std::int32_t entry : signs.around_handles()) sum.choices.push_back({signs.flips_with(entry)});
    for (std::uint32_t of = 0; of < std::uint32_t{1} << first.value.size(); ++of) {
        QuadraticForm form = first;
        SignedSum::Term term;
        for (std::size_t x = 0; x < first.value.size(); ++x) {
            if ((of >> x & 1) == 0) continue;
            form.value[x] ^= 1;
            term.choices.push_back(static_cast<std::int32_t>(x));
        }
        term.is_odd = form.is_arf_negative();
        const std::vector<signed char> factors = sum.factors(graph, term);
        for (std::size_t e = 0; e < factors.size(); ++e) term.is_odd ^= is_matched[e] && factors[e] < 0;
        sum.terms.push_back(std::move(term));
    }
    return sum;
}

} // namespace libperm
