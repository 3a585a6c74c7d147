#include "preprocess/matching.hpp"

#include <iterator>

namespace libperm {
namespace {

constexpr std::int32_t unreached = -1;

class HopcroftKarp {
  public:
    HopcroftKarp(const Pattern &a)
        : a_(a), layer_(static_cast<std::size_t>(a.rows)), next_(static_cast<std::size_t>(a.rows)), steps_() {
        m_.col_of_row.assign(static_cast<std::size_t>(a.rows), -1);
        m_.row_of_col.assign(static_cast<std::size_t>(a.cols), -1);
    }

    Matching run() {
        while (build_layers())
            for (std::int32_t i = 0; i < a_.rows; ++i) {
                steps_.take();
                if (m_.col_of_row[at(i)] < 0 && augment(i)) ++m_.size;
            }
        return std::move(m_);
    }

  private:
    static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

    // Breadth-first layers of rows from the free rows; true if a free column is reached.
    bool build_layers() {
        queue_.clear();
        for (std::int32_t i = 0; i < a_.rows; ++i) {
            steps_.take();
            next_[at(i)] = 0;
            layer_[at(i)] = m_.col_of_row[at(i)] < 0 ? 0 : unreached;
            if (layer_[at(i)] == 0) queue_.push_back(i);
        }
        bool found = false;
        for (std::size_t head = 0; head < queue_.size(); ++head) {
            const std::int32_t i = queue_[head];
            steps_.take(1 + std::ssize(a_.row(i)));
            for (const std::int32_t j : a_.row(i)) {
                const std::int32_t k = m_.row_of_col[at(j)];
                if (k < 0)
                    found = true;
                else if (layer_[at(k)] == unreached) {
                    layer_[at(k)] = layer_[at(i)] + 1;
                    queue_.push_back(k);
                }
            }
        }
        return found;
    }

    // Depth-first along the layers with an explicit stack: long chains must not exhaust the call stack.
    bool augment(std::int32_t root) {
        stack_.assign(1, root);
        while (!stack_.empty()) {
            steps_.take();
            const std::int32_t i = stack_.back();
            const auto row = a_.row(i);
            if (next_[at(i)] == row.size()) {
                layer_[at(i)] = unreached;
                stack_.pop_back();
                continue;
            }
            const std::int32_t j = row[next_[at(i)]++];
            const std::int32_t k = m_.row_of_col[at(j)];
            if (k >= 0) {
                if (layer_[at(k)] == layer_[at(i)] + 1) stack_.push_back(k);
                continue;
            }
            steps_.take(std::ssize(stack_));
            for (const std::int32_t r : stack_) { // every row takes the column it last tried
                const std::int32_t c = a_.row(r)[next_[at(r)] - 1];
                m_.col_of_row[at(r)] = c;
                m_.row_of_col[at(c)] = r;
                layer_[at(r)] = unreached;
            }
            return true;
        }
        return false;
    }

    const Pattern &a_;
    Matching m_;
    std::vector<std::int32_t> layer_;
    std::vector<std::size_t> next_;
    std::vector<std::int32_t> queue_, stack_;
    PolledSteps steps_;
};

} // namespace

Matching maximum_matching(const Pattern &a) { return HopcroftKarp(a).run(); }

} // namespace libperm
