#include "lib/input/graph.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

// Calls take(i, j, the entry, its mirror image or -1) for each entry.
template <class Take> void for_mirrored(const Pattern &a, const Take &take) {
    PolledSteps steps;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        std::int64_t entry = a.row_begin(i);
        for (const std::int32_t j : a.row(i)) {
            const auto other = a.row(j);
            steps.take(16);
            const auto place = std::lower_bound(other.begin(), other.end(), i);
            const bool is_there = place != other.end() && *place == i;
            take(i, j, entry++, is_there ? a.row_begin(j) + (place - other.begin()) : -1);
        }
    }
}

void require_square(const Pattern &a) {
    if (a.rows != a.cols)
        throw Error(PERM_BAD_MATRIX,
                    formatted("a hafnian is of a symmetric matrix, and this has {} rows and {} columns",
                              a.rows, a.cols));
}

[[noreturn]] void fail_alone(std::int32_t i, std::int32_t j) {
    throw Error(
        PERM_BAD_MATRIX,
        formatted("a hafnian is of a symmetric matrix: there is an entry at row {}, column {}, and none at "
                  "row {}, column {}. Of a half alone, give both: A + A^T, the diagonal once",
                  i, j, j, i));
}

bool is_nothing(double x) { return x == 0; }
bool is_nothing(const Gaussian &x) { return is_zero(x); }

// An entry of a line with one at least as high, and where it stands among the given ones.
struct HalfEntry {
    std::int32_t line;
    std::int64_t place;
};

// Of each line, ascending. What stands in the lower half alone counts where its mirror image would.
std::vector<std::vector<HalfEntry>> upper_half(const Pattern &a) {
    std::vector<std::vector<HalfEntry>> half(at(a.rows));
    for_mirrored(a, [&](std::int32_t i, std::int32_t j, std::int64_t entry, std::int64_t mirrored) {
        if (j >= i)
            half[at(i)].push_back({j, entry});
        else if (mirrored < 0)
            half[at(j)].push_back({i, entry});
    });
    for (auto &line : half)
        std::sort(line.begin(), line.end(),
                  [](const HalfEntry &x, const HalfEntry &y) { return x.line < y.line; });
    return half;
}

double size_of(const Gaussian &x) { return std::hypot(x.re.get_d(), x.im.get_d()); }

constexpr std::int64_t of_entry = 24; // bytes: lists grow by doubling

// The graph that `given` is written out as: count(i) copies of each of its lines, one behind the other, so
// many in all. Of a line take(j, place) is called by for_higher(i, take) for its entries with j > i, or with
// j = i, which match its copies to each other, ascending; loop_of(i) is the place of its loop, or -1.
template <class Count, class LoopOf, class ForHigher>
InputPattern graph_of(std::shared_ptr<const InputPattern> given, std::int64_t copies, std::int64_t lines,
                      const Count &count, const LoopOf &loop_of, const ForHigher &for_higher,
                      MemoryAccount *account) {
    constexpr std::int64_t most_copies = std::int64_t{1} << 30;
    constexpr double most_bytes = 0x1p60;
    if (std::max(copies, lines) > most_copies)
        throw Error(PERM_UNSUPPORTED,
                    formatted("{} lines, each as often as it counts, are more than this version can index",
                              std::max(copies, lines)));
    std::vector<std::int64_t> first{0};
    for (std::int32_t i = 0; i < lines; ++i) first.push_back(first.back() + count(i));
    auto entries = static_cast<double>(copies);
    for (std::int32_t i = 0; i < lines; ++i)
        for_higher(i, [&](std::int32_t j, std::int64_t) {
            entries += static_cast<double>(count(i)) * static_cast<double>(count(j)) / (j == i ? 2 : 1);
        });
    const Charge charge(account, static_cast<std::int64_t>(std::min(of_entry * entries, most_bytes)));
    InputPattern graph;
    graph.value_type = given->value_type;
    for (std::int32_t i = 0; i < lines; ++i) graph.multiplied = graph.multiplied || count(i) != 1;
    graph.repeats = graph.multiplied;
    graph.pattern.one_sided = true;
    graph.pattern.rows = graph.pattern.cols = static_cast<std::int32_t>(copies);
    PolledSteps steps;
    const auto put = [&](std::int64_t line, std::int64_t value) {
        steps.take(2);
        graph.pattern.col.push_back(static_cast<std::int32_t>(line));
        graph.source.push_back(value);
    };
    for (std::int32_t i = 0; i < lines; ++i)
        for (std::int64_t copy = first[at(i)]; copy < first[at(i) + 1]; ++copy) {
            if (const std::int64_t loop = loop_of(i); loop >= 0) put(copy, loop);
            for_higher(i, [&](std::int32_t j, std::int64_t place) {
                for (std::int64_t other = std::max(copy + 1, first[at(j)]); other < first[at(j) + 1]; ++other)
                    put(other, place);
            });
            graph.pattern.row_ptr.push_back(std::ssize(graph.pattern.col));
        }
    graph.written = std::move(given);
    return graph;
}

} // namespace

InputPattern as_graph(InputPattern given, const LineCounts &count, bool has_loops, MemoryAccount *account) {
    const Pattern &a = given.pattern;
    require_square(a);
    if (given.col_weights)
        throw Error(PERM_BAD_ARGUMENT,
                    "rows and columns are the same lines of a hafnian: give the weights of "
                    "leaving a line unmatched in row_unmatched alone");
    if (given.value_type == PERM_VALUE_PATTERN) // of others the values tell, when they come
        for_mirrored(a, [](std::int32_t i, std::int32_t j, std::int64_t, std::int64_t mirrored) {
            if (mirrored < 0) fail_alone(i, j);
        });
    const Charge charge(account, of_entry * (a.nnz() + a.rows));
    const std::vector<std::vector<HalfEntry>> half = upper_half(a);
    const std::int64_t weights = given.row_weights ? a.nnz() : -1;
    const auto loop_of = [&half, weights, has_loops](std::int32_t i) {
        if (weights >= 0) return weights + i;
        const bool has_own = has_loops && !half[at(i)].empty() && half[at(i)].front().line == i;
        return has_own ? half[at(i)].front().place : -1;
    };
    const auto for_higher = [&half](std::int32_t i, const auto &take) {
        for (const auto &[j, place] : half[at(i)]) take(j, place);
    };
    const std::int64_t lines = a.rows;
    return graph_of(
        std::make_shared<const InputPattern>(std::move(given)), count.sum(), lines,
        [&count](std::int32_t i) { return count[i]; }, loop_of, for_higher, account);
}

InputPattern as_two_sided_graph(InputPattern given, const LineCounts &row_count,
                                const LineCounts &column_count, MemoryAccount *account) {
    const auto written = std::make_shared<const InputPattern>(std::move(given));
    const Pattern &a = written->pattern;
    const auto count = [&](std::int32_t i) { return i < a.rows ? row_count[i] : column_count[i - a.rows]; };
    const auto for_higher = [&a](std::int32_t i, const auto &take) {
        if (i >= a.rows) return;
        std::int64_t place = a.row_begin(i);
        for (const std::int32_t j : a.row(i)) take(a.rows + j, place++);
    };
    return graph_of(
        written, row_count.sum() + column_count.sum(), std::int64_t{a.rows} + a.cols, count,
        [&a](std::int32_t i) { return a.nnz() + i; }, for_higher, account);
}

void require_symmetric(const InputPattern &given, const Values &values) {
    constexpr double rounding = 0x1p-46;
    const bool is_rounded = given.value_type == PERM_VALUE_F64 || given.value_type == PERM_VALUE_C128;
    const auto check = [&](const auto &all, const auto &distance, const auto &size) {
        for_mirrored(given.pattern, [&](std::int32_t i, std::int32_t j, std::int64_t k, std::int64_t m) {
            if (m < 0 && !is_nothing(all[at(k)])) fail_alone(i, j);
            if (m < 0 || j <= i || all[at(k)] == all[at(m)]) return;
            const double apart = distance(all[at(k)], all[at(m)]);
            const double most = std::max(size(all[at(k)]), size(all[at(m)]));
            if (is_rounded && apart <= rounding * most) return;
            throw Error(
                PERM_BAD_MATRIX,
                formatted("a hafnian is of a symmetric matrix: the values at row {}, column {} and at row "
                          "{}, column {} differ by {:.3g} of the larger, which is {:.17g}. Where that is "
                          "rounding, give (A + A^T)/2",
                          i, j, j, i, most > 0 ? apart / most : 0.0, most));
        });
    };
    if (values.wide.empty())
        check(
            values.real, [](double x, double y) { return std::fabs(x - y); },
            [](double x) { return std::fabs(x); });
    else
        check(
            values.wide,
            [](const Gaussian &x, const Gaussian &y) {
                return size_of({x.re - y.re, x.im - y.im});
            },
            [](const Gaussian &x) { return size_of(x); });
}

void mirror_upper_half(const InputPattern &given, Values &values) {
    for_mirrored(given.pattern, [&](std::int32_t i, std::int32_t j, std::int64_t k, std::int64_t m) {
        if (m < 0 || j <= i) return;
        if (values.wide.empty())
            values.real[at(m)] = values.real[at(k)];
        else
            values.wide[at(m)] = values.wide[at(k)];
    });
}

} // namespace libperm
