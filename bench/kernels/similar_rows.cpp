#include "bench/kernels/similar_rows.hpp"

#include <algorithm>

namespace bench {
namespace {

using namespace libperm;

// Lists one behind the other.
struct Lists {
    std::vector<std::uint32_t> first{0}, item;

    const std::uint32_t *begin(std::size_t k) const { return item.data() + first[k]; }
    const std::uint32_t *end(std::size_t k) const { return item.data() + first[k + 1]; }
    std::uint32_t size(std::size_t k) const { return first[k + 1] - first[k]; }
    std::size_t count() const { return first.size() - 1; }
};

// Each row's blocks of columns.
Lists quotient_of(const std::vector<std::uint32_t> &first, const std::vector<std::uint32_t> &column,
                  std::uint32_t width) {
    Lists out;
    for (std::size_t i = 0; i + 1 < first.size(); ++i) {
        for (std::uint32_t k = first[i]; k < first[i + 1]; ++k)
            if (const std::uint32_t block = column[k] / width;
                out.item.size() == out.first.back() || out.item.back() != block)
                out.item.push_back(block);
        out.first.push_back(static_cast<std::uint32_t>(out.item.size()));
    }
    return out;
}

Lists transposed(const Lists &a, std::size_t count) {
    Lists out;
    out.first.assign(count + 1, 0);
    for (const std::uint32_t j : a.item) ++out.first[j + 1];
    for (std::size_t j = 0; j < count; ++j) out.first[j + 1] += out.first[j];
    std::vector<std::uint32_t> next(out.first.begin(), out.first.end() - 1);
    out.item.resize(a.item.size());
    for (std::size_t i = 0; i < a.count(); ++i)
        for (const std::uint32_t *j = a.begin(i); j != a.end(i); ++j)
            out.item[next[*j]++] = static_cast<std::uint32_t>(i);
    return out;
}

class Grouping {
  public:
    Grouping(const Lists &rows, std::size_t blocks, double tau)
        : rows_(rows),
          with_block_(transposed(rows, blocks)),
          tau_(tau),
          steps_(),
          is_in_(blocks, false),
          shared_(rows.count(), 0) {
        for (std::uint32_t i = 0; i < rows.count(); ++i) left_.push_back(i);
    }

    RowGroups groups() {
        while (!left_.empty()) {
            form(left_.front());
            out_.first.push_back(static_cast<std::uint32_t>(out_.row.size()));
        }
        return std::move(out_);
    }

  private:
    // Of the first row that is left, and of those behind it, as their turn comes.
    void form(std::uint32_t leader) {
        pattern_.clear();
        const double most = rows_.size(leader) / (1 - tau_ / 2);
        std::size_t kept = 0;
        steps_.take(static_cast<std::int64_t>(left_.size()));
        for (const std::uint32_t j : left_)
            if (j == leader || joins(j, most)) {
                out_.row.push_back(j);
                widen(j);
            } else {
                left_[kept++] = j;
            }
        left_.resize(kept);
        for (const std::uint32_t block : pattern_) {
            is_in_[block] = false;
            for (const std::uint32_t *i = with_block_.begin(block); i != with_block_.end(block); ++i)
                shared_[*i] = 0;
        }
    }
    bool joins(std::uint32_t j, double most) const {
        const auto all = static_cast<std::uint32_t>(pattern_.size()) + rows_.size(j) - shared_[j];
        return shared_[j] >= tau_ * all && all <= most;
    }
    void widen(std::uint32_t j) {
        for (const std::uint32_t *block = rows_.begin(j); block != rows_.end(j); ++block) {
            if (is_in_[*block]) continue;
            is_in_[*block] = true;
            pattern_.push_back(*block);
            steps_.take(with_block_.size(*block));
            for (const std::uint32_t *i = with_block_.begin(*block); i != with_block_.end(*block); ++i)
                ++shared_[*i];
        }
    }

    const Lists &rows_;
    Lists with_block_;
    double tau_;
    PolledSteps steps_;
    std::vector<bool> is_in_;            // the group's pattern
    std::vector<std::uint32_t> pattern_; // its blocks
    std::vector<std::uint32_t> shared_;  // of each row, with the pattern
    std::vector<std::uint32_t> left_;
    RowGroups out_;
};

} // namespace

RowGroups similar_rows(const std::vector<std::uint32_t> &first, const std::vector<std::uint32_t> &column,
                       std::uint32_t columns, std::uint32_t width, double tau) {
    const Lists rows = quotient_of(first, column, width);
    return Grouping(rows, (columns + width - 1) / width, tau).groups();
}

} // namespace bench
