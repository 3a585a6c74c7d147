#include "lib/periodic/period/period_program.hpp"

#include "lib/base/randomness.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/pattern.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace libperm {
namespace {

// The rows of the first steps, and of the columns that they meet those that a set uses.
class FirstSteps {
  public:
    FirstSteps(const PeriodicMatrix &a, const PeriodProgram &program, std::int64_t steps) {
        std::map<std::pair<std::int64_t, std::int32_t>, std::size_t> numbers; // of a cell's column
        for (std::int64_t step = 0; step < steps; ++step)
            for (const PeriodRow &row : program.rows) {
                const std::int64_t cell = step - row.shift;
                if (cell < 0) continue;
                rows_.emplace_back();
                for (const PeriodTerm &term : row.terms) {
                    const PeriodicEntry &e = a.entries[static_cast<std::size_t>(term.entry)];
                    if (cell + e.cell < 0) continue;
                    const auto column = std::pair(cell + e.cell, e.column);
                    const auto [known, is_new] = numbers.emplace(column, is_open_.size());
                    if (is_new) {
                        const PeriodWindow &w = program.windows[static_cast<std::size_t>(e.column)];
                        is_open_.push_back(w.is_open(column.first, steps));
                    }
                    rows_.back().push_back(known->second);
                }
            }
        for (std::size_t c = 0; c < is_open_.size(); ++c)
            if (is_open_[c]) open_.push_back(c);
    }

    std::size_t open() const { return open_.size(); }
    // Sets of the open columns: more rows than columns, or more columns closed than rows, lead nowhere.
    bool has_sets() const { return closed() <= rows_.size() && rows_.size() <= is_open_.size(); }

    // Whether one of these sets, taken at random, is what some choice of a column for each row has used.
    bool is_reached(Randomness &random, const Poll &poll) {
        const std::size_t used = rows_.size() - closed();
        for (std::size_t k = 0; k < used; ++k) std::swap(open_[k], open_[k + random.below(open_.size() - k)]);
        constexpr std::int32_t unused = -1;
        std::vector<std::int32_t> number(is_open_.size(), unused);
        Pattern pattern;
        for (std::size_t c = 0; c < is_open_.size(); ++c)
            if (!is_open_[c]) number[c] = pattern.cols++;
        for (std::size_t k = 0; k < used; ++k) number[open_[k]] = pattern.cols++;
        for (const std::vector<std::size_t> &row : rows_) {
            const auto begin = static_cast<std::ptrdiff_t>(pattern.col.size());
            for (const std::size_t c : row)
                if (number[c] != unused) pattern.col.push_back(number[c]);
            std::sort(pattern.col.begin() + begin, pattern.col.end());
            pattern.row_ptr.push_back(std::ssize(pattern.col));
        }
        pattern.rows = static_cast<std::int32_t>(rows_.size());
        return maximum_matching(pattern, poll).size == pattern.rows;
    }

  private:
    std::size_t closed() const { return is_open_.size() - open_.size(); }

    std::vector<std::vector<std::size_t>> rows_;
    std::vector<bool> is_open_;
    std::vector<std::size_t> open_;
};

} // namespace

double reachable_share(const PeriodicMatrix &a, const PeriodProgram &program, const Poll &poll) {
    constexpr int sets = 64;
    constexpr std::int64_t few = 4; // times the cells that the open columns are of
    std::int64_t widest = 1;
    for (const PeriodWindow &w : program.windows) widest = std::max<std::int64_t>(widest, w.width());
    FirstSteps steps(a, program, program.most_shift + few * widest + few * program.open_columns() / a.rows);
    if (!steps.has_sets()) return 0;
    Randomness random(0, 0); // the same for every caller
    int reached = 0;
    for (int k = 0; k < sets; ++k) reached += steps.is_reached(random, poll);
    return static_cast<double>(reached) / sets;
}

} // namespace libperm
