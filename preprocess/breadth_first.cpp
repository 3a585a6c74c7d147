#include "preprocess/breadth_first.hpp"

#include "preprocess/permanent_ordering.hpp"

namespace libperm {
namespace {

class BreadthFirst {
  public:
    explicit BreadthFirst(const Pattern &a)
        : a_(a),
          columns_(transpose(a).pattern),
          row_seen_(static_cast<std::size_t>(a.rows), 0),
          column_seen_(static_cast<std::size_t>(a.cols), 0) {
        for (std::int32_t i = 0; i < a.rows; ++i) {
            see(i, row_seen_, order_.rows);
            spread();
        }
        for (std::int32_t j = 0; j < a.cols; ++j) see(j, column_seen_, order_.cols);
    }

    const Ordering &order() const { return order_; }

  private:
    static void see(std::int32_t line, std::vector<char> &seen, std::vector<std::int32_t> &order) {
        if (seen[static_cast<std::size_t>(line)]) return;
        seen[static_cast<std::size_t>(line)] = 1;
        order.push_back(line);
    }

    // Rows and columns take turns, layer by layer: their orders are queues.
    void spread() {
        while (next_row_ < order_.rows.size() || next_column_ < order_.cols.size()) {
            while (next_row_ < order_.rows.size())
                for (const std::int32_t j : a_.row(order_.rows[next_row_++]))
                    see(j, column_seen_, order_.cols);
            while (next_column_ < order_.cols.size())
                for (const std::int32_t i : columns_.row(order_.cols[next_column_++]))
                    see(i, row_seen_, order_.rows);
        }
    }

    const Pattern &a_;
    Pattern columns_;
    Ordering order_;
    std::vector<char> row_seen_, column_seen_;
    std::size_t next_row_ = 0, next_column_ = 0;
};

} // namespace

template <class Value> BlockOf<Value> in_breadth_first_order(const BlockOf<Value> &block) {
    Reordered reordered = reorder(block.pattern, BreadthFirst(block.pattern).order());
    BlockOf<Value> out{std::move(reordered.pattern), {}};
    out.values.reserve(block.values.size());
    for (const std::int64_t source : reordered.source)
        out.values.push_back(block.values[static_cast<std::size_t>(source)]);
    return out;
}

template Block in_breadth_first_order(const Block &block);
template ExactBlock in_breadth_first_order(const ExactBlock &block);

} // namespace libperm
