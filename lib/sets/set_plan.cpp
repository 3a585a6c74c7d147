#include "lib/sets/set_plan.hpp"

#include "jit/lanes/set_steps.hpp"
#include "lib/number/doubles.hpp"
#include "preprocess/index.hpp"
#include "preprocess/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace libperm {
namespace {

class OrderSearch {
  public:
    OrderSearch(const Pattern &rows)
        : rows_(rows), first_(at(rows.cols)), last_(at(rows.cols)), change_(at(rows.rows) + 1) {}

    // Each next line lets the fewest others wait; `first` may be none.
    std::vector<std::int32_t> greedy(std::int32_t first) const {
        std::vector<std::int32_t> order, left(at(rows_.rows)), open_since(at(rows_.cols), -1),
            missing(at(rows_.cols), 0);
        std::iota(left.begin(), left.end(), 0);
        for (std::int32_t i = 0; i < rows_.rows; ++i)
            for (const std::int32_t j : rows_.row(i)) ++missing[at(j)];
        while (!left.empty()) {
            poll();
            std::size_t best = 0;
            double least = infinity;
            for (std::size_t k = 0; k < left.size(); ++k) {
                if (left[k] == first) {
                    best = k;
                    break;
                }
                double opens = 0, closes = 0, age = 0;
                for (const std::int32_t j : rows_.row(left[k])) {
                    if (open_since[at(j)] < 0)
                        ++opens;
                    else
                        age += static_cast<double>(std::ssize(order)) - open_since[at(j)];
                    closes += missing[at(j)] == 1 ? 1 : 0;
                }
                const double price = 1024 * (opens - closes) + 32 * opens - age / (age + 1);
                if (price < least) {
                    least = price;
                    best = k;
                }
            }
            const std::int32_t row = left[best];
            for (const std::int32_t j : rows_.row(row)) {
                --missing[at(j)];
                if (open_since[at(j)] < 0) open_since[at(j)] = static_cast<std::int32_t>(order.size());
            }
            order.push_back(row);
            left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
        }
        return order;
    }

    SetOrder priced(std::vector<std::int32_t> order) {
        SetOrder found{std::move(order), 0, 0};
        price(found);
        return found;
    }

    // Moves single lines for so many trials.
    void better(SetOrder &best, std::int64_t trials, std::uint64_t seed) {
        const auto count = static_cast<std::int32_t>(best.lines.size());
        if (count < 3) return;
        SearchRandom random(seed);
        SetOrder now = best, next;
        for (std::int64_t k = 0; k < trials; ++k) {
            if (k % 64 == 0) poll();
            const std::int32_t from = random.below(count), to = random.below(count);
            if (from == to) continue;
            next.lines = now.lines;
            const auto begin = next.lines.begin();
            if (from < to)
                std::rotate(begin + from, begin + from + 1, begin + to + 1);
            else
                std::rotate(begin + to, begin + from, begin + from + 1);
            price(next);
            const double warmth = 0.3 * (1 - static_cast<double>(k) / static_cast<double>(trials));
            if (next.operations <= now.operations * (1 + warmth * random.uniform())) std::swap(now, next);
            if (now.operations < best.operations) best = now;
        }
    }

  private:
    void price(SetOrder &of) {
        const auto count = static_cast<std::int32_t>(of.lines.size());
        std::fill(first_.begin(), first_.end(), count);
        std::fill(last_.begin(), last_.end(), -1);
        for (std::int32_t t = 0; t < count; ++t)
            for (const std::int32_t j : rows_.row(of.lines[at(t)])) {
                first_[at(j)] = std::min(first_[at(j)], t);
                last_[at(j)] = t;
            }
        std::fill(change_.begin(), change_.end(), 0);
        for (std::size_t j = 0; j < first_.size(); ++j)
            if (last_[j] >= 0) {
                ++change_[at(first_[j])];
                --change_[at(last_[j] + 1)];
            }
        of.operations = 0;
        of.widest = 0;
        std::int32_t wait = 0;
        for (std::int32_t t = 0; t < count; ++t) {
            wait += change_[at(t)];
            of.widest = std::max(of.widest, wait);
            const auto degree = static_cast<double>(rows_.row(of.lines[at(t)]).size());
            of.operations += std::ldexp(degree / 2 + 1.5, std::max(wait, set_block_bits));
        }
    }

    const Pattern &rows_;
    std::vector<std::int32_t> first_, last_, change_;
};

constexpr std::int32_t most_starts = 8;
constexpr double most_trials = 40000;

bool is_full(const Pattern &rows) {
    return rows.nnz() == std::int64_t{rows.rows} * rows.cols;
} // any is as good

double trials_worth(const Pattern &rows, const SetOrder &order) {
    constexpr double of_an_operation = 1e-9, of_an_entry = 4e-9; // seconds: of a walk and back, of a trial
    const double trial = of_an_entry * static_cast<double>(rows.nnz() + rows.cols + rows.rows + 100);
    return 0.1 * of_an_operation * order.operations / trial;
}

} // namespace

SetOrder greedy_set_order(const Pattern &rows) {
    OrderSearch search(rows);
    SetOrder best = search.priced(search.greedy(-1));
    if (is_full(rows)) return best;
    const std::int32_t starts = std::min(most_starts, rows.rows);
    for (std::int32_t k = 0; k < starts && trials_worth(rows, best) > rows.rows; ++k) {
        SetOrder other =
            search.priced(search.greedy(static_cast<std::int32_t>(std::int64_t{k} * rows.rows / starts)));
        if (other.operations < best.operations) best = std::move(other);
    }
    return best;
}

void better_set_order(const Pattern &rows, std::uint64_t seed, SetOrder &order) {
    if (is_full(rows)) return;
    OrderSearch search(rows);
    search.better(order, static_cast<std::int64_t>(std::min(trials_worth(rows, order), most_trials)), seed);
}

namespace {

constexpr std::int32_t most_lines = 1024; // that a search looks at

bool may_be_met(const Pattern &rows) {
    for (std::int32_t i = 0; i < rows.rows; ++i)
        if (rows.row(i).size() > most_waiting) return false;
    return true;
}

} // namespace

std::int64_t doubles_of_table(std::int32_t lines) {
    return (std::int64_t{1} << std::max(lines, set_block_bits)) + 2 * std::int64_t{set_margin};
}

// One side's lines, which are met, and what they and the others are told by.
struct SetLayers::Side {
    Side(const InputPattern &of, bool meets_rows)
        : given(of),
          by_rows(meets_rows),
          turned(meets_rows ? Transposed() : transpose(of.pattern)),
          rows(meets_rows ? of.pattern : turned.pattern),
          place(at(of.pattern.nnz())) {
        for (std::size_t k = 0; k < place.size(); ++k) {
            const std::int64_t entry = by_rows ? static_cast<std::int64_t>(k) : turned.source[k];
            place[k] = of.source.empty() ? entry : of.source[at(entry)];
        }
    }
    Side(const Side &) = delete;
    Side &operator=(const Side &) = delete;

    // A line of the rows or columns that were given.
    SetClosing line(bool is_row, std::int32_t i, std::int32_t bit) const {
        const std::int64_t nnz = rows.nnz(), m = given.pattern.rows, n = given.pattern.cols;
        const bool is_longer = is_row ? m > n : n > m, is_plain = !given.row_weights && !given.col_weights;
        std::int64_t unmatched = is_plain && is_longer ? weight_one : absent_weight;
        if (is_row ? given.row_weights : given.col_weights)
            unmatched = nnz + (is_row || !given.row_weights ? 0 : m) + i;
        return {bit, unmatched, nnz + (is_row ? 0 : m) + i, i};
    }
    SetLayer met(std::int32_t i) const {
        const SetClosing of = line(by_rows, i, 0);
        SetLayer layer;
        layer.unmatched = of.unmatched;
        layer.told = of.told;
        return layer;
    }
    SetClosing closing(std::int32_t j, std::int32_t bit) const { return line(!by_rows, j, bit); }

    const InputPattern &given;
    bool by_rows;
    Transposed turned;               // where columns are met
    const Pattern &rows;             // those that are met
    std::vector<std::int64_t> place; // of each entry's value
};

SetLayers::SetLayers(const Side &side, const std::vector<std::int32_t> &order, bool all_wait)
    : lines_(side.rows.cols) {
    std::vector<std::int32_t> left(at(lines_), all_wait ? 1 : 0), waiting; // by bit
    for (const std::int32_t j : side.rows.col) ++left[at(j)];
    for (std::int32_t j = 0; j < lines_; ++j) {
        if (all_wait) waiting.push_back(j);
        if (all_wait || left[at(j)] == 0) alone_.push_back(side.closing(j, all_wait ? j : 0));
    }
    layers_.reserve(order.size());
    for (const std::int32_t i : order) {
        SetLayer layer = side.met(i);
        layer.before = static_cast<std::int32_t>(waiting.size());
        layer.moves.reserve(side.rows.row(i).size());
        std::int64_t k = side.rows.row_begin(i);
        for (const std::int32_t j : side.rows.row(i)) {
            const auto found = std::find(waiting.begin(), waiting.end(), j);
            const auto bit = static_cast<std::int32_t>(found - waiting.begin());
            if (found == waiting.end()) waiting.push_back(j);
            layer.moves.push_back({bit, side.place[at(k++)], j});
            --left[at(j)];
        }
        layer.open = static_cast<std::int32_t>(waiting.size());
        widest_ = std::max(widest_, layer.open);
        std::sort(layer.moves.begin(), layer.moves.end(),
                  [](const SetMove &x, const SetMove &y) { return x.bit < y.bit; });
        for (std::int32_t bit = layer.open; bit-- > 0;)
            if (left[at(waiting[at(bit)])] == 0) {
                layer.closings.push_back(side.closing(waiting[at(bit)], bit));
                waiting.erase(waiting.begin() + bit);
            }
        const double sets = std::ldexp(1.0, std::max(layer.open, set_block_bits));
        operations_ += sets * (2 * static_cast<double>(layer.moves.size()) +
                               3 * static_cast<double>(layer.closings.size()) + 4);
        layers_.push_back(std::move(layer));
    }
}

std::optional<SetLayers> SetLayers::of(const InputPattern &given, std::uint64_t seed) {
    if (std::max(given.pattern.rows, given.pattern.cols) > most_lines) return {};
    const Side by_rows(given, true), by_cols(given, false);
    SetOrder of_rows, of_cols;
    const bool rows_may = may_be_met(by_rows.rows), cols_may = may_be_met(by_cols.rows);
    if (rows_may) of_rows = greedy_set_order(by_rows.rows);
    if (cols_may) of_cols = greedy_set_order(by_cols.rows);
    if (!rows_may && !cols_may) return {};
    const bool meets_rows = rows_may && (!cols_may || of_rows.operations <= of_cols.operations);
    const Side &side = meets_rows ? by_rows : by_cols;
    SetOrder &order = meets_rows ? of_rows : of_cols;
    better_set_order(side.rows, seed, order);
    if (order.widest > most_waiting) return {};
    return SetLayers(side, order.lines, false);
}

SetLayers SetLayers::all_waiting(const InputPattern &given) {
    const Side side(given, given.pattern.rows >= given.pattern.cols);
    std::vector<std::int32_t> order(at(side.rows.rows));
    std::iota(order.begin(), order.end(), 0);
    return SetLayers(side, order, true);
}

double SetLayers::states() const {
    double all = 0;
    for (const SetLayer &layer : layers_) all += std::ldexp(1.0, layer.open);
    return all;
}

KeptTables kept_tables(const SetLayers &of, std::int64_t most_doubles) {
    const auto &layers = of.layers();
    const auto count = static_cast<std::int32_t>(layers.size());
    std::vector<std::int64_t> up_to(at(count) + 1, 0); // of the tables before
    for (std::int32_t t = 0; t < count; ++t)
        up_to[at(t) + 1] = up_to[at(t)] + doubles_of_table(layers[at(t)].before);
    const auto size = [&](std::int32_t t) { return up_to[at(t) + 1] - up_to[at(t)]; };
    if (count == 0) return {{}, 0, 0};
    if (up_to[at(count)] <= most_doubles) return {{0}, size(0), up_to[at(count)] - size(0)};
    KeptTables best;
    // A stretch from b to e holds the table before b, and those between.
    std::vector<std::int64_t> kept(at(count) + 1);
    std::vector<std::int32_t> from(at(count) + 1);
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t between = 1; between < 2 * up_to[at(count)]; between += (between + 1) / 2) {
        kept[0] = 0;
        for (std::int32_t e = 1; e <= count; ++e) {
            kept[at(e)] = std::numeric_limits<std::int64_t>::max();
            for (std::int32_t b = e - 1; b >= 0; --b) {
                if (up_to[at(e)] - up_to[at(b) + 1] > between) break;
                if (kept[at(b)] + size(b) < kept[at(e)]) {
                    kept[at(e)] = kept[at(b)] + size(b);
                    from[at(e)] = b;
                }
            }
        }
        std::vector<std::int32_t> first;
        std::int64_t most = 0;
        for (std::int32_t e = count; e > 0; e = from[at(e)]) {
            first.push_back(from[at(e)]);
            most = std::max(most, up_to[at(e)] - up_to[at(from[at(e)]) + 1]);
        }
        if (kept[at(count)] + most >= least) continue;
        least = kept[at(count)] + most;
        std::reverse(first.begin(), first.end());
        best = {std::move(first), kept[at(count)], most};
    }
    return best;
}

} // namespace libperm
