#include "lib/structure/find_background.hpp"

#include "lib/number/wide_value.hpp"
#include "lib/structure/background_lines.hpp"
#include "lib/structure/row_classes.hpp"
#include "lib/structure/structure.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace libperm {
namespace {

std::uint64_t inverse_of(const Montgomery &field, std::uint64_t x) {
    return field.power(x, field.prime() - 2);
}

// Rows that are far from each other, as entries beside the background are often near to each other.
std::vector<std::int32_t> who_is_asked(const std::vector<std::int32_t> &rows, std::int32_t base) {
    std::vector<std::int32_t> asked{base};
    for (const std::size_t k : {rows.size() / 3, 2 * rows.size() / 3})
        if (rows[k] != base && rows[k] != asked.back()) asked.push_back(rows[k]);
    return asked;
}

constexpr std::int32_t most_kinds_tried = 16; // of columns

// A background as one prime shows it: the classes of rows first, then the columns by what most rows of each
// class say.
class ModularBackground {
  public:
    ModularBackground(const Montgomery &field, const ResidueRows &a, const Likeness &by, const Poll &poll)
        : field_(field), a_(a), rows_(row_classes(field, a, by, poll)), v_(at(a.n)) {
        if (rows_.bases.empty()) return;
        const auto classes = static_cast<std::int32_t>(rows_.bases.size());
        for (std::int32_t c = 0; c < classes; ++c) profiles_.push_back(profile_of(c, poll));
        found_.base_cols = common_columns();
        if (is_none()) return;
        found_.base_rows = rows_.bases;
        class_columns();
        found_.row_class = rows_.of_row;
        for (std::int32_t &c : found_.row_class) c = std::max(c, 0); // any will do where u_i = 0
        found_.col_of_row.assign(at(a_.n), -1);
        std::vector<char> is_asked(at(a_.n));
        for (const std::int32_t i : found_.row_of_col)
            if (i >= 0) is_asked[at(i)] = 1;
        for (std::int32_t i = 0; i < a_.n; ++i) choose_columns(i, is_asked[at(i)]);
        beside_ = places_beside(poll);
    }

    bool is_none() const { return found_.base_cols.empty(); }
    std::int64_t beside() const { return beside_; } // places where it does not hold
    const Background &found() const { return found_; }

  private:
    // What most rows of a class say of each column, as rows times their scale, and one that says it.
    struct Profile {
        std::vector<std::uint64_t> values; // 0: most say so, or nothing else
        std::vector<std::int32_t> said_by;
    };

    Profile profile_of(std::int32_t c, const Poll &poll) const {
        const std::vector<std::int32_t> rows = rows_.rows_of(c);
        Profile profile{std::vector<std::uint64_t>(at(a_.n)), std::vector<std::int32_t>(at(a_.n), -1)};
        std::vector<std::int32_t> most(at(a_.n), static_cast<std::int32_t>(rows.size() / 2));
        PolledSteps steps(poll);
        for (const std::int32_t r : who_is_asked(rows, rows_.bases[at(c)])) {
            const std::uint64_t inverse = inverse_of(field_, rows_.scale[at(r)]);
            std::vector<std::uint64_t> said;
            for (const std::uint64_t x : a_.row(r)) said.push_back(field_.multiply(x, inverse));
            std::vector<std::int32_t> count(at(a_.n));
            for (const std::int32_t i : rows) {
                steps.take(4 * a_.n);
                const std::uint64_t scale = rows_.scale[at(i)];
                for (std::size_t j = 0; j < said.size(); ++j)
                    count[j] += field_.multiply(scale, said[j]) == a_.row(i)[j];
            }
            for (std::size_t j = 0; j < said.size(); ++j) {
                if (said[j] == 0 || count[j] <= most[j]) continue;
                most[j] = count[j];
                profile.values[j] = said[j];
                profile.said_by[j] = r;
            }
        }
        return profile;
    }

    // Whether the base rows say of it what most rows do, and not only zeros.
    bool is_clean(std::int32_t j) const {
        bool is_zero = true;
        for (std::size_t c = 0; c < profiles_.size(); ++c) {
            if (a_.row(rows_.bases[c])[at(j)] != profiles_[c].values[at(j)]) return false;
            is_zero = is_zero && profiles_[c].values[at(j)] == 0;
        }
        return !is_zero;
    }

    // Of the kinds of columns with most columns the first of each: columns are of one kind if all classes of
    // rows say multiples of each other.
    std::vector<std::int32_t> common_columns() const {
        struct Kind {
            std::int32_t col, count = 1;
        };
        const auto is_multiple = [this](std::int32_t x, std::int32_t y) {
            const auto of = [&](std::size_t c, std::int32_t j) { return profiles_[c].values[at(j)]; };
            std::size_t pivot = 0;
            while (of(pivot, x) == 0) ++pivot;
            bool is = of(pivot, y) != 0;
            for (std::size_t c = 0; is && c < profiles_.size(); ++c)
                is = field_.multiply(of(c, x), of(pivot, y)) == field_.multiply(of(c, y), of(pivot, x));
            return is;
        };
        std::vector<Kind> kinds;
        for (std::int32_t j = 0; j < a_.n; ++j) {
            if (!is_clean(j)) continue;
            const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                           [&](const Kind &k) { return is_multiple(k.col, j); });
            if (kind != kinds.end())
                ++kind->count;
            else if (std::ssize(kinds) < most_kinds_tried)
                kinds.push_back({j});
        }
        std::ranges::stable_sort(kinds, std::greater(), &Kind::count);
        std::vector<std::int32_t> cols;
        for (const Kind &kind : kinds)
            if (std::ssize(cols) < most_classes && (kind.count > 1 || cols.empty())) cols.push_back(kind.col);
        return cols;
    }

    // Each column to the class, and by the factor, that most rows agree with.
    void class_columns() {
        const std::size_t p = profiles_.size(), q = found_.base_cols.size();
        std::vector<std::uint64_t> inverse(p * q); // of C
        std::vector<std::size_t> rows;
        for (std::size_t c = 0; c < p; ++c) {
            rows.push_back(rows_.rows_of(static_cast<std::int32_t>(c)).size());
            for (std::size_t b = 0; b < q; ++b)
                inverse[c * q + b] = inverse_of(field_, profiles_[c].values[at(found_.base_cols[b])]);
        }
        found_.col_class.assign(at(a_.n), 0);
        found_.row_of_col.assign(at(a_.n), -1);
        for (std::size_t j = 0; j < at(a_.n); ++j) {
            std::size_t most = 0;
            for (std::size_t b = 0; b < q; ++b)
                for (std::size_t by = 0; by < p; ++by) {
                    const std::uint64_t factor =
                        field_.multiply(profiles_[by].values[j], inverse[by * q + b]);
                    if (factor == 0) continue;
                    std::size_t agree = 0;
                    for (std::size_t c = 0; c < p; ++c) {
                        const std::uint64_t of_base = profiles_[c].values[at(found_.base_cols[b])];
                        if (field_.multiply(factor, of_base) == profiles_[c].values[j]) agree += rows[c];
                    }
                    if (agree <= most) continue;
                    most = agree;
                    v_[j] = factor;
                    found_.col_class[j] = static_cast<std::int32_t>(b);
                    found_.row_of_col[j] = profiles_[by].said_by[j];
                }
        }
        for (std::size_t b = 0; b < q; ++b)
            found_.col_class[at(found_.base_cols[b])] = static_cast<std::int32_t>(b);
    }

    // Of a row that says something of a column, a column of which a base row says it.
    void choose_columns(std::int32_t i, bool is_asked) {
        const std::vector<std::int32_t> &bases = found_.base_rows;
        if (rows_.scale[at(i)] == 0 || std::find(bases.begin(), bases.end(), i) != bases.end()) return;
        for (std::int32_t step = 0; step < a_.n; ++step) {
            const std::int32_t j = (i + 1 + step) % a_.n;
            const std::uint64_t there = value(i, j);
            if (there == 0 || there != a_.row(i)[at(j)]) continue;
            if (is_asked && std::find(bases.begin(), bases.end(), found_.row_of_col[at(j)]) == bases.end())
                continue;
            found_.col_of_row[at(i)] = j;
            return;
        }
        rows_.scale[at(i)] = 0;
    }

    std::uint64_t value(std::int32_t i, std::int32_t j) const {
        const std::size_t c = at(found_.row_class[at(i)]), b = at(found_.col_class[at(j)]);
        const std::uint64_t of_classes = profiles_[c].values[at(found_.base_cols[b])];
        return field_.multiply(field_.multiply(rows_.scale[at(i)], of_classes), v_[at(j)]);
    }

    std::int64_t places_beside(const Poll &poll) const {
        std::int64_t count = 0;
        PolledSteps steps(poll);
        for (std::int32_t i = 0; i < a_.n; ++i) {
            steps.take(4 * a_.n);
            for (std::int32_t j = 0; j < a_.n; ++j) count += value(i, j) != a_.row(i)[at(j)];
        }
        return count;
    }

    Montgomery field_;
    ResidueRows a_;
    RowClasses rows_;
    std::vector<Profile> profiles_; // by class of rows
    std::vector<std::uint64_t> v_;
    Background found_; // without B
    std::int64_t beside_ = 0;
};

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
