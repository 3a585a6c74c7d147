// The sum over crossings. Let G be the graph without them. A cycle of 2k entries in G round v lines has the
// product of Kasteleyn's signs (-1)^(k+1+v). Of the lines inside a cycle that two matchings differ by all are
// matched inside, but for those of the crossings that are used. Entries that a curve from the row of each
// such crossing to its column crosses are negated: the cycle meets the curve an odd number of times where
// just one of both lines is inside, so its signs are (-1)^(k+1), and all matchings that use these crossings
// have one sign.
#include "lib/planar/kasteleyn.hpp"
#include "lib/planar/odd_permutation.hpp"
#include "lib/planar/signed_sum.hpp"

#include <numeric>
#include <utility>

namespace libperm {
namespace {

// Sets of crossings that share no line, one after the other: the last choice is taken back, or left out.
class CompatibleSets {
  public:
    CompatibleSets(const PatternGraph &graph, const SignedSum &sum)
        : graph_(graph), sum_(sum), is_used_(at(graph.lines()), 0) {}

    // of(chosen): false stops.
    template <class Of> bool each(const Of &of, std::size_t from = 0) {
        if (!of(chosen_)) return false;
        for (std::size_t c = from; c < sum_.choices.size(); ++c) {
            const std::int32_t entry = sum_.choices[c].crossing;
            char &row = is_used_[at(graph_.row_of(entry))], &column = is_used_[at(graph_.column_of(entry))];
            if (row || column) continue;
            row = column = 1;
            chosen_.push_back(static_cast<std::int32_t>(c));
            const bool goes_on = each(of, c + 1);
            chosen_.pop_back();
            row = column = 0;
            if (!goes_on) return false;
        }
        return true;
    }

  private:
    const PatternGraph &graph_;
    const SignedSum &sum_;
    std::vector<char> is_used_; // by line
    std::vector<std::int32_t> chosen_;
};

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

std::optional<SignedSum> sum_over_crossings(const Pattern &a, const std::vector<std::int32_t> &crossings,
                                            const Matching &matching, std::size_t most, const Poll &poll) {
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
    std::size_t sets = 0;
    const bool are_few = CompatibleSets(graph, sum).each([&](const std::vector<std::int32_t> &chosen) {
        poll();
        if (++sets > most) return false;
        SignedSum::Term term{chosen};
        if (has_matchings(a, sum.factors(graph, term), matching, term)) sum.terms.push_back(std::move(term));
        return true;
    });
    if (!are_few) return {};
    return sum;
}

} // namespace libperm
