#include "preprocess/dulmage_mendelsohn.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace libperm {
namespace {

// Tarjan's algorithm (SIAM J. Comput. 1, 1972) with its own stack: long chains must not exhaust the call
// stack.
class StrongComponents {
  public:
    StrongComponents(const Pattern &a, const Matching &matching)
        : a_(a), matching_(matching), component_(at(a.rows), -1), rows_(at(a.rows)) {
        for (std::int32_t i = 0; i < a.rows; ++i)
            if (rows_[at(i)].seen == 0) search(i);
    }

    std::int32_t count() const { return count_; }
    // Of each row, numbered so that what a component leads to comes before it.
    const std::vector<std::int32_t> &of_row() const { return component_; }
    // The component of each row, numbered by their lowest rows.
    std::vector<std::int32_t> by_lowest_row() const {
        std::vector<std::int32_t> number(at(count_), -1), out;
        std::int32_t next = 0;
        for (const std::int32_t c : component_) {
            if (number[at(c)] < 0) number[at(c)] = next++;
            out.push_back(number[at(c)]);
        }
        return out;
    }

  private:
    struct Visit {
        std::int32_t row;
        const std::int32_t *next, *end; // entries to follow
    };
    struct Row {
        std::int32_t seen = 0, low = 0; // when it was met, and the first that is reached from it
    };
    static constexpr std::int32_t closed = std::numeric_limits<std::int32_t>::max(); // of `seen`

    void enter(std::int32_t row) {
        ++clock_;
        rows_[at(row)] = {clock_, clock_};
        open_.push_back(row);
        const auto entries = a_.row(row);
        path_.push_back({row, entries.data(), entries.data() + entries.size()});
    }

    void search(std::int32_t root) {
        enter(root);
        while (!path_.empty()) {
            steps_.take();
            Visit &visit = path_.back();
            const std::int32_t i = visit.row;
            if (visit.next != visit.end) {
                const std::int32_t j = *visit.next++,
                                   k = matching_.row_of_col.empty() ? j : matching_.row_of_col[at(j)];
                if (rows_[at(k)].seen == 0)
                    enter(k);
                else
                    rows_[at(i)].low = std::min(rows_[at(i)].low, rows_[at(k)].seen);
                continue;
            }
            path_.pop_back();
            if (!path_.empty()) {
                std::int32_t &parent = rows_[at(path_.back().row)].low;
                parent = std::min(parent, rows_[at(i)].low);
            }
            if (rows_[at(i)].low == rows_[at(i)].seen) close(i);
        }
    }

    void close(std::int32_t root) {
        std::int32_t row = -1;
        do {
            row = open_.back();
            open_.pop_back();
            component_[at(row)] = count_;
            rows_[at(row)].seen = closed;
        } while (row != root);
        ++count_;
    }

    const Pattern &a_;
    const Matching &matching_;
    std::vector<std::int32_t> component_, open_;
    std::vector<Row> rows_;
    std::vector<Visit> path_;
    std::int32_t clock_ = 0, count_ = 0;
    PolledSteps steps_;
};

} // namespace

std::vector<std::int32_t> triangular_blocks(const Pattern &a, const Matching &perfect) {
    return StrongComponents(a, perfect).of_row();
}

template <class Value>
std::vector<BlockOf<Value>> dulmage_mendelsohn(BlockOf<Value> block, const Matching &perfect) {
    const Pattern &a = block.pattern;
    const StrongComponents components(a, perfect);
    PolledSteps steps;
    std::vector<BlockOf<Value>> blocks(at(components.count()));
    if (components.count() == 1) {
        blocks.front() = std::move(block);
        return blocks;
    }
    const std::vector<std::int32_t> of_row = components.by_lowest_row();
    std::vector<std::int32_t> place(at(a.cols)); // of a column in its block
    steps.take(2 * std::int64_t{a.cols});
    for (std::int32_t j = 0; j < a.cols; ++j)
        place[at(j)] = blocks[at(of_row[at(perfect.row_of_col[at(j)])])].pattern.cols++;
    std::vector<std::size_t> entries(blocks.size(), 0); // so that none grows beyond what it holds
    for (std::int32_t i = 0; i < a.rows; ++i) {
        steps.take(4 + std::ssize(a.row(i)));
        for (const std::int32_t j : a.row(i))
            entries[at(of_row[at(i)])] += of_row[at(perfect.row_of_col[at(j)])] == of_row[at(i)];
    }
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        blocks[b].pattern.row_ptr.reserve(at(blocks[b].pattern.cols) + 1);
        blocks[b].pattern.col.reserve(entries[b]);
        blocks[b].values.reserve(entries[b]);
    }
    std::size_t k = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        steps.take(4 + std::ssize(a.row(i)));
        BlockOf<Value> &b = blocks[at(of_row[at(i)])];
        for (const std::int32_t j : a.row(i)) {
            if (of_row[at(perfect.row_of_col[at(j)])] == of_row[at(i)]) {
                b.pattern.col.push_back(place[at(j)]);
                b.values.push_back(block.values[k]);
            }
            ++k;
        }
        b.pattern.row_ptr.push_back(static_cast<std::int64_t>(b.pattern.col.size()));
        ++b.pattern.rows;
    }
    return blocks;
}

template std::vector<Block> dulmage_mendelsohn(Block block, const Matching &perfect);
template std::vector<ExactBlock> dulmage_mendelsohn(ExactBlock block, const Matching &perfect);

} // namespace libperm
