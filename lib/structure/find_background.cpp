#include "lib/structure/find_background.hpp"

#include "lib/number/residues.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/structure/integers.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace libperm {
namespace {

// Rows of residues that are multiples of each other at most places, in classes.

struct ResidueRows {
    std::int32_t n; // columns
    std::span<const std::uint64_t> residues;

    std::int32_t count() const { return static_cast<std::int32_t>(std::ssize(residues) / n); }
    std::span<const std::uint64_t> row(std::int32_t i) const {
        const auto length = static_cast<std::size_t>(n);
        return residues.subspan(static_cast<std::size_t>(i) * length, length);
    }
};

// Rows are alike that differ at one in so many columns where either is not 0, or fewer; so many classes of
// them are kept.
struct Likeness {
    std::int32_t one_in, classes;
};

struct RowClasses {
    std::vector<std::int32_t> bases;  // by class; none: no two of the rows that were looked at are alike
    std::vector<std::int32_t> of_row; // -1: of none
    std::vector<std::uint64_t> scale; // by row: how many times its base it is

    std::vector<std::int32_t> rows_of(std::int32_t a) const {
        std::vector<std::int32_t> rows;
        for (std::int32_t i = 0; i < std::ssize(of_row); ++i)
            if (of_row[at(i)] == a) rows.push_back(i);
        return rows;
    }
};

constexpr std::int32_t guesses = 5;     // at a column in which a row is not changed
constexpr std::int32_t least_alike = 2; // rows that differ at more than one column in two are no multiples
constexpr std::int32_t sampled_rows = 32, most_tried = 8;

using Row = std::span<const std::uint64_t>;

// y is x times y_col / x_col but at so many columns.
struct Proportion {
    std::int32_t col = -1, differences;
};

// Counted up to `most`; one more if neither is often not 0.
std::int32_t differences_at(const Montgomery &field, Row x, Row y, std::int32_t col, std::int32_t most,
                            std::int32_t one_in) {
    std::int32_t count = 0, either = 0;
    for (std::size_t j = 0; j < x.size() && count <= most; ++j) {
        either += (x[j] | y[j]) != 0;
        count += field.multiply(x[j], y[at(col)]) != field.multiply(y[j], x[at(col)]);
    }
    return one_in * count <= either ? count : most + 1;
}

// No column: they are not alike.
Proportion proportion(const Montgomery &field, Row x, Row y, std::int32_t first, std::int32_t one_in) {
    constexpr std::int32_t enough = 8;
    const auto n = static_cast<std::int32_t>(x.size());
    Proportion best{-1, n / one_in + 1};
    for (std::int32_t guess = 0; guess < guesses; ++guess) {
        const std::int32_t col = (first + guess * (n / guesses)) % n;
        if (x[at(col)] == 0 || y[at(col)] == 0) continue;
        const std::int32_t count = differences_at(field, x, y, col, best.differences - 1, one_in);
        if (count < best.differences) best = {col, count};
        if (best.col >= 0 && enough * best.differences <= n) break;
    }
    return best;
}

// The rows by which the others are measured: those that are like most others of a sample.
std::vector<std::int32_t> class_bases(const Montgomery &field, const ResidueRows &a, const Likeness &by) {
    struct Tried {
        std::int32_t row, alike = 0;
    };
    std::vector<Tried> tried;
    const std::int32_t rows = std::min(a.count(), sampled_rows);
    for (std::int32_t k = 0; k < rows; ++k) {
        const auto i = static_cast<std::int32_t>(std::int64_t{k} * a.count() / rows);
        const auto base = std::find_if(tried.begin(), tried.end(), [&](const Tried &other) {
            return proportion(field, a.row(other.row), a.row(i), i, by.one_in).col >= 0;
        });
        if (base != tried.end())
            ++base->alike;
        else if (std::ssize(tried) < most_tried)
            tried.push_back({i});
    }
    std::erase_if(tried, [](const Tried &t) { return t.alike == 0; });
    std::ranges::stable_sort(tried, std::greater(), &Tried::alike);
    if (std::ssize(tried) > by.classes) tried.resize(at(by.classes));
    std::vector<std::int32_t> bases;
    for (const Tried &t : tried) bases.push_back(t.row);
    return bases;
}

RowClasses row_classes(const Montgomery &field, const ResidueRows &a, const Likeness &by) {
    RowClasses found{class_bases(field, a, by), {}, {}};
    if (found.bases.empty()) return found;
    found.of_row.assign(at(a.count()), -1);
    found.scale.assign(at(a.count()), 0);
    std::vector<std::int32_t> &of_row = found.of_row;
    PolledSteps steps;
    for (std::int32_t i = 0; i < a.count(); ++i) {
        Proportion best{-1, a.n};
        for (std::size_t c = 0; c < found.bases.size(); ++c) {
            steps.take(4 * a.n);
            const Proportion to = proportion(field, a.row(found.bases[c]), a.row(i), i, least_alike);
            if (to.col < 0 || to.differences >= best.differences) continue;
            best = to;
            of_row[at(i)] = static_cast<std::int32_t>(c);
        }
        if (best.col < 0) continue;
        const std::uint64_t of_base = a.row(found.bases[at(of_row[at(i)])])[at(best.col)];
        found.scale[at(i)] = field.multiply(a.row(i)[at(best.col)], field.power(of_base, field.prime() - 2));
    }
    for (std::size_t c = 0; c < found.bases.size(); ++c) {
        of_row[at(found.bases[c])] = static_cast<std::int32_t>(c);
        found.scale[at(found.bases[c])] = field.to(1);
    }
    return found;
}

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
    ModularBackground(const Montgomery &field, const ResidueRows &a, const Likeness &by)
        : field_(field), a_(a), rows_(row_classes(field, a, by)), v_(at(a.n)) {
        if (rows_.bases.empty()) return;
        const auto classes = static_cast<std::int32_t>(rows_.bases.size());
        for (std::int32_t c = 0; c < classes; ++c) profiles_.push_back(profile_of(c));
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
        beside_ = places_beside();
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

    Profile profile_of(std::int32_t c) const {
        const std::vector<std::int32_t> rows = rows_.rows_of(c);
        Profile profile{std::vector<std::uint64_t>(at(a_.n)), std::vector<std::int32_t>(at(a_.n), -1)};
        std::vector<std::int32_t> most(at(a_.n), static_cast<std::int32_t>(rows.size() / 2));
        PolledSteps steps;
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

    std::int64_t places_beside() const {
        std::int64_t count = 0;
        PolledSteps steps;
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
std::optional<Pattern> compared(const ExactBlock &block, const Background &of, std::int64_t most) {
    const std::int32_t n = block.n();
    const BackgroundLines<Gaussian> lines = background_lines(
        of, [&](std::int32_t i, std::int32_t j) { return exact_entry(block, i, j); },
        [](const Gaussian &x, const Gaussian &y, const Gaussian &z) { return x / (y * z); }, Gaussian{1, 0});
    PolledSteps steps;
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

bool has_alike_rows(const std::vector<std::uint64_t> &residues, std::int32_t n) {
    return !class_bases(Montgomery(probe_prime()), {n, residues}, one_background).empty();
}

template <class Value>
Background find_background(const BlockOf<Value> &block, const std::vector<std::uint64_t> &residues) {
    const std::int64_t n = block.n(), most = n * n / 4;
    std::optional<ModularBackground> best;
    for (const Likeness &by : {one_background, several_backgrounds}) {
        if (best && best->beside() <= 2 * n) break;
        ModularBackground other(Montgomery(probe_prime()), {block.n(), residues}, by);
        if (!other.is_none() && (!best || 2 * other.beside() < best->beside())) best = std::move(other);
    }
    if (!best || best->beside() > most) return {};
    Background found = best->found();
    std::optional<Pattern> beside = compared(exact_block(block), found, most);
    if (!beside) return {};
    found.beside = *std::move(beside);
    return found;
}

template Background find_background(const Block &block, const std::vector<std::uint64_t> &residues);
template Background find_background(const ExactBlock &block, const std::vector<std::uint64_t> &residues);

} // namespace libperm
