#include "lib/samples/boson/narrow_minors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

namespace libperm {
namespace {

// Subsets of so many of the first places, in colexicographic order: by their highest places first. Those of
// fewer places begin the list of those of more.
constexpr int most_places = 64;

// All moves by which one of the first places is taken: the subset's number before and behind, in order.
constexpr int low_places = 8;

struct LowMove {
    std::uint8_t from, to;
};

using Binomials = std::array<std::array<std::size_t, most_places + 1>, most_places + 1>;

constexpr Binomials places_taken = [] {
    Binomials table{};
    for (std::size_t n = 0; n <= most_places; ++n) {
        table[n][0] = 1;
        for (std::size_t k = 1; k <= n; ++k) table[n][k] = table[n - 1][k - 1] + table[n - 1][k];
    }
    return table;
}();

constexpr std::size_t low = low_places;

struct LowMoves {
    std::array<std::array<std::vector<LowMove>, low + 1>, low> of; // a place, so many taken before

    LowMoves() {
        std::array<std::uint8_t, 1 << low> number{};
        std::array<std::uint8_t, low + 1> count{};
        for (unsigned set = 0; set < number.size(); ++set)
            number[set] = count[static_cast<std::size_t>(std::popcount(set))]++;
        for (std::size_t place = 0; place < low; ++place)
            for (unsigned set = 0; set < number.size(); ++set)
                if ((set >> place & 1) == 0)
                    of[place][static_cast<std::size_t>(std::popcount(set))].push_back(
                        {number[set], number[set | 1u << place]});
    }
};

// C(places, taken), 0 where it makes no sense.
std::size_t subsets(int places, int taken) {
    return taken < 0 || places < 0 || taken > places
               ? 0
               : places_taken[static_cast<std::size_t>(places)][static_cast<std::size_t>(taken)];
}

std::span<const LowMove> low_moves(int places, int place, int taken) {
    static const LowMoves moves;
    if (taken < 0 || taken >= places) return {};
    const auto &all = moves.of[static_cast<std::size_t>(place)][static_cast<std::size_t>(taken)];
    return {all.data(), subsets(places - 1, taken)};
}

// All moves by which `place` is taken: run.apart(from, to, how many) where they follow each other in both
// lists, run.moves(from, to, moves) where these are counted from there.
template <class Run>
void move_runs(int places, int place, int taken, std::size_t from, std::size_t to, const Run &run) {
    if (place == places - 1) {
        if (const std::size_t count = subsets(place, taken); count > 0)
            run.apart(from, to + subsets(place, taken + 1), count);
        return;
    }
    if (places <= low_places) return run.moves(from, to, low_moves(places, place, taken));
    const int high = places - 1;
    if (taken < high) move_runs(high, place, taken, from, to, run);
    if (taken > 0)
        move_runs(high, place, taken - 1, from + subsets(high, taken), to + subsets(high, taken + 1), run);
}

using Value = NarrowMinors::Value;

Value product(Value s, double x, double y) {
    return {x * s.real() - y * s.imag(), x * s.imag() + y * s.real()};
}

// Adds a multiple of one table to another along moves; or back along them.
template <bool back> struct AddAlong {
    const Value *s;
    Value *t;
    double x, y;

    void apart(std::size_t from, std::size_t to, std::size_t count) const {
        const Value *const source = s + (back ? to : from);
        Value *const target = t + (back ? from : to);
        for (std::size_t i = 0; i < count; ++i) target[i] += product(source[i], x, y);
    }
    void moves(std::size_t from, std::size_t to, std::span<const LowMove> all) const {
        for (const LowMove move : all) {
            const std::size_t f = from + move.from, g = to + move.to;
            t[back ? f : g] += product(s[back ? g : f], x, y);
        }
    }
};

// Those subsets that a place is in, one after the other, without it; or back.
template <bool back> struct Close {
    const Value *s;
    Value *t;
    mutable std::size_t next = 0;

    void apart(std::size_t, std::size_t to, std::size_t count) const {
        std::copy_n(s + (back ? next : to), count, t + (back ? to : next));
        next += count;
    }
    void moves(std::size_t, std::size_t to, std::span<const LowMove> all) const {
        for (const LowMove move : all) t[back ? to + move.to : next] = s[back ? next : to + move.to], ++next;
    }
};

} // namespace

void NarrowMatrix::clear() {
    rows.clear();
    entries.clear();
    ends.clear();
}

void NarrowMinors::look(const NarrowMatrix &a) {
    a_ = &a;
    if (columns_.size() < a.columns()) columns_.resize(a.columns());
    std::array<std::size_t, NarrowMatrix::most_rows> first{}, last{};
    for (std::size_t l = a.columns(); l-- > 0;)
        for (std::size_t k = a.first(l); k < a.ends[l]; ++k) {
            first[a.rows[k]] = l;
            if (last[a.rows[k]] == 0) last[a.rows[k]] = l;
        }
    multiplications_ = states_ = 0;
    std::vector<std::uint8_t> open;
    int closed = 0;
    for (std::size_t l = 0; l < a.columns(); ++l) {
        Column &c = columns_[l];
        c.before = static_cast<int>(open.size());
        c.taken = static_cast<int>(l) - closed;
        for (std::size_t k = a.first(l); k < a.ends[l]; ++k)
            if (first[a.rows[k]] == l) open.push_back(a.rows[k]);
        c.open = open;
        c.closing.clear();
        for (int place = c.width(); place-- > 0;)
            if (last[c.open[static_cast<std::size_t>(place)]] == l) c.closing.push_back(place);
        std::erase_if(open, [&](std::uint8_t row) { return last[row] == l; });
        closed += static_cast<int>(c.closing.size());
        const auto number = [](int places, int taken) { return static_cast<double>(subsets(places, taken)); };
        const auto entries = static_cast<double>(a.ends[l] - a.first(l));
        states_ += number(c.before, c.taken);
        multiplications_ += entries * (number(c.before, c.taken) + number(c.before, c.taken - 1)) +
                            number(c.width(), c.taken + 1) + number(c.width(), c.taken);
    }
}

// Adds along all entries of the column, where so many of the rows that are open before it are taken.
template <class Added>
void NarrowMinors::add_entries(std::size_t column, int taken, const Value *s, Value *t,
                               PolledSteps &steps) const {
    const Column &c = columns_[column];
    const std::size_t known = subsets(c.before, taken);
    for (std::size_t k = a_->first(column); k < a_->ends[column]; ++k) {
        const auto place =
            static_cast<int>(std::find(c.open.begin(), c.open.end(), a_->rows[k]) - c.open.begin());
        const Added add{s, t, a_->entries[k].real(), a_->entries[k].imag()};
        if (place < c.before)
            move_runs(c.before, place, taken, 0, 0, add);
        else if (known > 0)
            add.apart(0, subsets(place, taken + 1), known);
        steps.take(static_cast<std::int64_t>(known));
    }
}

NarrowMinors::Value *NarrowMinors::room(std::vector<Value> &values, std::size_t size) {
    if (values.size() < size) {
        charge_.grow(static_cast<std::int64_t>((size - values.size()) * sizeof(Value)));
        std::vector<Value>(size).swap(values);
    }
    return values.data();
}

std::size_t NarrowMinors::most_wide() const {
    std::size_t most = 1;
    for (std::size_t l = 0; l < a_->columns(); ++l)
        most = std::max({most, subsets(columns_[l].width(), columns_[l].taken),
                         subsets(columns_[l].width(), columns_[l].taken + 1)});
    return most;
}

void NarrowMinors::run(std::span<Value> minors) {
    const std::size_t columns = a_->columns(), most = most_wide();
    PolledSteps steps;
    if (before_.size() < columns) before_.resize(columns);
    *room(before_[0], 1) = 1;
    Value *wide = room(wide_, most), *spare = room(spare_, most);
    for (std::size_t l = 0; l + 1 < columns; ++l) {
        const Column &c = columns_[l];
        std::fill_n(wide, subsets(c.width(), c.taken + 1), Value());
        add_entries<AddAlong<false>>(l, c.taken, before_[l].data(), wide, steps);
        int width = c.width(), taken = c.taken + 1;
        for (const int place : c.closing) { // where it is taken it comes no sooner than in the shorter list
            move_runs(width--, place, --taken, 0, 0, Close<false>{wide, wide});
        }
        std::copy_n(wide, subsets(width, taken), room(before_[l + 1], subsets(width, taken)));
    }
    std::fill_n(wide, 1, Value(1));
    for (std::size_t l = columns; l-- > 0;) { // wide: B, of the rows open behind the column
        const Column &c = columns_[l];
        int width = c.behind(), taken = c.taken - static_cast<int>(c.closing.size());
        for (std::size_t k = c.closing.size(); k-- > 0; ++width, ++taken) {
            std::fill_n(spare, subsets(width + 1, taken + 1), Value());
            move_runs(width + 1, c.closing[k], taken, 0, 0, Close<true>{wide, spare});
            std::swap(wide, spare);
        }
        double re = 0, im = 0;
        const Value *const f = before_[l].data();
        for (std::size_t i = 0; i < subsets(c.before, c.taken); ++i) {
            re += f[i].real() * wide[i].real() - f[i].imag() * wide[i].imag();
            im += f[i].real() * wide[i].imag() + f[i].imag() * wide[i].real();
        }
        minors[l] = {re, im};
        std::fill_n(spare, subsets(c.before, c.taken - 1), Value());
        add_entries<AddAlong<true>>(l, c.taken - 1, wide, spare, steps);
        std::swap(wide, spare);
    }
}

} // namespace libperm
