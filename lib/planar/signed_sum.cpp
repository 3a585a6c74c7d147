#include "lib/planar/signed_sum.hpp"

#include "lib/planar/determinant.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <utility>

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

// By the values on the basis, a bit each, and which of its cycles cross an odd number of times.
struct QuadraticForm {
    std::uint32_t value = 0;
    std::vector<std::uint32_t> crosses; // by cycle

    bool is_arf_negative() const {
        std::int64_t sum = 0;
        for (std::uint32_t of = 0; of < std::uint32_t{1} << crosses.size(); ++of) sum += at_sum(of) ? -1 : 1;
        return sum < 0;
    }

  private:
    bool at_sum(std::uint32_t of) const {
        int odd = std::popcount(of & value);
        for (std::size_t x = 0; x < crosses.size(); ++x)
            if ((of >> x & 1) != 0) odd += std::popcount(of & crosses[x] & ((std::uint32_t{1} << x) - 1));
        return odd % 2 != 0;
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
        form.value |= std::uint32_t{odd != is_odd_number_in(side, is_matched)} << form.crosses.size();
        std::uint32_t &crosses = form.crosses.emplace_back(0);
        for (std::size_t y = 0; y < cycles.size(); ++y)
            crosses |= std::uint32_t{is_odd_number_in(side, cycles[y])} << y;
    }
    return form;
}

bool is_odd_between(const Matching &matching, const Matching &other) {
    std::vector<std::int32_t> to;
    for (const std::int32_t col : other.col_of_row) to.push_back(matching.row_of_col[at(col)]);
    return is_odd_permutation(to);
}

// Whether there is a matching that uses just these crossings; then the sign of all of them is known.
bool has_matchings(const Pattern &a, const std::vector<signed char> &factors, const Matching &diagonal,
                   SignedSum::Term &term) {
    const Matching matching =
        maximum_matching(with_entries(a, std::vector<char>(factors.begin(), factors.end())));
    if (matching.size < a.rows) return false;
    term.is_odd = is_odd_between(diagonal, matching);
    std::size_t entry = 0;
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (const std::int32_t j : a.row(i))
            term.is_odd ^= factors[entry++] < 0 && matching.col_of_row[at(i)] == j;
    return true;
}

} // namespace

std::int64_t SignedSum::bytes() const {
    auto bytes = static_cast<std::int64_t>(is_negative.size());
    for (const Choice &choice : choices)
        bytes += static_cast<std::int64_t>(sizeof choice + 4 * choice.flips.capacity());
    for (const Term &term : terms)
        bytes += static_cast<std::int64_t>(sizeof term + 4 * term.choices.capacity());
    return bytes;
}

std::vector<std::int32_t> SignedSum::crossings() const {
    std::vector<std::int32_t> crossings;
    for (const Choice &choice : choices)
        if (choice.crossing != -1) crossings.push_back(choice.crossing);
    return crossings;
}

std::vector<signed char> SignedSum::factors(const PatternGraph &graph, const Term &term) const {
    std::vector<signed char> factors(is_negative.size());
    for (std::size_t k = 0; k < factors.size(); ++k) factors[k] = is_negative[k] ? -1 : 1;
    for (const Choice &choice : choices)
        if (choice.crossing != -1) factors[at(choice.crossing)] = 0;
    for (const std::int32_t c : term.choices) {
        for (const std::int32_t entry : choices[at(c)].flips)
            factors[at(entry)] = static_cast<signed char>(-factors[at(entry)]);
        if (const std::int32_t crossing = choices[at(c)].crossing; crossing != -1)
            for (const std::int32_t line : {graph.row_of(crossing), graph.column_of(crossing)})
                for (const Dart d : graph.around(line)) factors[at(entry_of(d))] = 0;
    }
    for (const std::int32_t c : term.choices)
        if (choices[at(c)].crossing != -1) factors[at(choices[at(c)].crossing)] = 1;
    return factors;
}

// The sum over a surface. The term of a matching M in a determinant with Kasteleyn's signs has, beside that
// of the matching D on the diagonal, the sign (-1)^q(M + D) of a quadratic form q on the cycles modulo 2: q(a
// + b) = q(a) + q(b) + a.b. Other signs of the entries around the handles give all 4^g forms. With Arf(q) =
// 2^-g sum over the classes h of (-1)^q(h), which is 1 or -1, the sum over all q of Arf(q) (-1)^q(h) is 2^g
// for each h, so that all matchings count once.
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
    sum.genus = static_cast<std::int32_t>(first.crosses.size() / 2);
    for (const std::int32_t entry : signs.around_handles()) sum.choices.push_back({signs.flips_with(entry)});
    for (std::uint32_t of = 0; of < std::uint32_t{1} << first.crosses.size(); ++of) {
        QuadraticForm form = first;
        form.value ^= of;
        SignedSum::Term term;
        for (std::size_t x = 0; x < first.crosses.size(); ++x)
            if ((of >> x & 1) != 0) term.choices.push_back(static_cast<std::int32_t>(x));
        term.is_odd = form.is_arf_negative();
        const std::vector<signed char> factors = sum.factors(graph, term);
        for (std::size_t e = 0; e < factors.size(); ++e) term.is_odd ^= is_matched[e] && factors[e] < 0;
        sum.terms.push_back(std::move(term));
    }
    return sum;
}

// The sum over crossings. Let G be the graph without them. A cycle of 2k entries in G round v lines has the
// product of Kasteleyn's signs (-1)^(k+1+v). Of the lines inside a cycle that two matchings differ by all are
// matched inside, but for those of the crossings that are used. Entries that a curve from the row of each
// such crossing to its column crosses are negated: the cycle meets the curve an odd number of times where
// just one of both lines is inside, so its signs are (-1)^(k+1), and all matchings that use these crossings
// have one sign.
std::optional<SignedSum> sum_over_crossings(const Pattern &a, const std::vector<std::int32_t> &crossings,
                                            const Matching &matching, std::size_t most) {
    std::vector<char> is_kept(at(a.nnz()), 1);
    for (const std::int32_t crossing : crossings) is_kept[at(crossing)] = 0;
    const Pattern rest = with_entries(a, is_kept);
    const std::optional<Rotation> rotation = planar_rotation(rest);
    if (!rotation) return {};
    const PatternGraph graph(a), planar(rest);
    const Faces faces = faces_of(*rotation);
    const KasteleynSigns signs(planar, faces, Forest(planar));
    std::vector<std::int32_t> entries; // of the rest, by their numbers in the block
    SignedSum sum;
    sum.is_negative.assign(is_kept.size(), 0);
    for (std::size_t e = 0; e < is_kept.size(); ++e) {
        if (!is_kept[e]) continue;
        sum.is_negative[e] = signs.is_negative()[entries.size()];
        entries.push_back(static_cast<std::int32_t>(e));
    }
    for (const std::int32_t crossing : crossings) {
        std::vector<std::int32_t> flips =
            signs.flips_between(graph.row_of(crossing), graph.column_of(crossing));
        for (std::int32_t &entry : flips) entry = entries[at(entry)];
        sum.choices.push_back({std::move(flips), crossing});
    }
    // Sets of crossings that share no line: the last choice is taken back, or left out. False: too many.
    std::vector<char> is_used(at(graph.lines()), 0);
    std::vector<std::int32_t> chosen;
    std::size_t sets = 0;
    const std::function<bool(std::size_t)> take_from = [&](std::size_t first) {
        poll();
        if (++sets > most) return false;
        SignedSum::Term term{chosen};
        if (has_matchings(a, sum.factors(graph, term), matching, term)) sum.terms.push_back(std::move(term));
        for (std::size_t c = first; c < sum.choices.size(); ++c) {
            const std::int32_t entry = sum.choices[c].crossing;
            char &row = is_used[at(graph.row_of(entry))], &column = is_used[at(graph.column_of(entry))];
            if (row || column) continue;
            row = column = 1;
            chosen.push_back(static_cast<std::int32_t>(c));
            const bool goes_on = take_from(c + 1);
            chosen.pop_back();
            row = column = 0;
            if (!goes_on) return false;
        }
        return true;
    };
    if (!take_from(0)) return {};
    return sum;
}

Forest::Forest(const PatternGraph &graph) : to_parent(at(graph.lines()), -1), depth(at(graph.lines()), -1) {
    std::vector<std::int32_t> lines;
    for (std::int32_t root = 0; root < graph.lines(); ++root) {
        if (depth[at(root)] != -1) continue;
        depth[at(root)] = 0;
        lines.assign(1, root);
        for (std::size_t k = 0; k < lines.size(); ++k)
            for (const Dart d : graph.around(lines[k])) {
                const std::int32_t other = graph.line_of(across(d));
                if (depth[at(other)] != -1) continue;
                depth[at(other)] = depth[at(lines[k])] + 1;
                to_parent[at(other)] = across(d);
                lines.push_back(other);
            }
    }
}

KasteleynSigns::KasteleynSigns(const PatternGraph &graph, const Faces &faces, const Forest &forest)
    : graph_(graph),
      faces_(faces),
      parent_(faces.darts.size(), -1),
      to_parent_(faces.darts.size(), -1),
      is_negative_(at(graph.entries()), 0) {
    std::vector<char> is_taken(at(graph.entries()), 0); // by one of the forests
    for (const Dart d : forest.to_parent)
        if (d != -1) is_taken[at(entry_of(d))] = 1;
    std::vector<char> is_met(faces.darts.size(), 0);
    std::vector<std::int32_t> order;
    for (std::size_t root = 0; root < faces.darts.size(); ++root) {
        if (is_met[root]) continue;
        is_met[root] = 1;
        order.push_back(static_cast<std::int32_t>(root));
        for (std::size_t k = order.size() - 1; k < order.size(); ++k)
            for (const Dart d : faces.darts[at(order[k])]) {
                const std::int32_t other = faces.of_dart[at(across(d))];
                if (is_met[at(other)] || is_taken[at(entry_of(d))]) continue;
                is_taken[at(entry_of(d))] = 1;
                is_met[at(other)] = 1;
                parent_[at(other)] = order[k];
                to_parent_[at(other)] = entry_of(d);
                order.push_back(other);
            }
    }
    for (auto face = order.rbegin(); face != order.rend(); ++face) { // each behind all below it
        if (parent_[at(*face)] == -1) continue;
        bool is_wrong = true; // an even number points the way round
        for (const Dart d : faces.darts[at(*face)])
            is_wrong ^= leaves_row(d) != (is_negative_[at(entry_of(d))] != 0);
        is_negative_[at(to_parent_[at(*face)])] = is_wrong;
    }
    for (std::int32_t entry = 0; entry < graph.entries(); ++entry)
        if (!is_taken[at(entry)]) around_handles_.push_back(entry);
}

std::vector<std::int32_t> KasteleynSigns::from_outer(std::int32_t face) const {
    std::vector<std::int32_t> entries;
    for (; face != -1; face = parent_[at(face)])
        if (parent_[at(face)] != -1) entries.push_back(to_parent_[at(face)]);
    std::sort(entries.begin(), entries.end());
    return entries;
}

std::vector<std::int32_t> KasteleynSigns::between(std::int32_t face, std::int32_t other) const {
    const std::vector<std::int32_t> x = from_outer(face), y = from_outer(other);
    std::vector<std::int32_t> flips;
    std::set_symmetric_difference(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(flips));
    return flips;
}

std::vector<std::int32_t> KasteleynSigns::flips_with(std::int32_t entry) const {
    std::vector<std::int32_t> flips =
        between(faces_.of_dart[at(2 * entry)], faces_.of_dart[at(2 * entry + 1)]);
    flips.push_back(entry);
    return flips;
}

std::vector<std::int32_t> KasteleynSigns::flips_between(std::int32_t line, std::int32_t other) const {
    const auto a_face = [&](std::int32_t of) { // a line without entries stands outside
        return graph_.around(of).empty() ? -1 : faces_.of_dart[at(graph_.around(of).front())];
    };
    return between(a_face(line), a_face(other));
}

} // namespace libperm
