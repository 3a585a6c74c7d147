#include "jit/lanes/decoded_tree.hpp"

#include <algorithm>
#include <utility>

namespace libperm {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Places of blocks are handed out once, but for those of the leaves, which follow all others and are shared.
class Decoder {
  public:
    Decoder(const Tree &tree, Arithmetic arithmetic, DecodedTree &decoded)
        : tree_(tree), arithmetic_(arithmetic), next_(0) {
        decoded.one = one_ = block();
    }

    DecodedPart part(const TreePart &part, bool is_root) {
        DecodedPart result;
        result.loop = part.loop;
        result.loop_end = is_root ? tree_.segment_bits : part.end;
        std::uint32_t from = one_;
        if (is_root) {
            result.top = product(from, top_rows());
            from = result.top.to;
        }
        result.levels.resize(at(result.loop_end - result.loop));
        for (std::size_t j = result.levels.size(); j-- > 0;) {
            result.levels[j] = product(from, part.level[j]);
            from = result.levels[j].to;
        }
        result.factor = from;
        for (const TreePart &child : part.parts) result.parts.push_back(this->part(child, false));
        result.inner_f = result.inner_g = one_;
        if (result.parts.size() > 1) {
            result.inner_f = block();
            result.inner_g = block();
        }
        result.sum = block();
        result.error = block();
        result.absolute = block();
        result.value_f = block();
        result.value_g = block();
        return result;
    }

    // Once all other blocks have their places.
    void leaves(const TreePart &part, DecodedPart &result) {
        for (std::size_t k = 0; k < part.parts.size(); ++k) leaves(part.parts[k], result.parts[k]);
        if (part.parts.empty() && !part.leaf.outputs.empty()) {
            LeafWords words = decode_leaf(part.leaf, offset(next_), arithmetic_);
            result.leaf = std::move(words.leaf);
            leaf_bytes_ = std::max(leaf_bytes_, words.bytes);
            result.inner_f = result.leaf.outputs[0];
            result.inner_g = result.leaf.outputs[1];
        }
        if (part.parts.size() == 1) {
            result.inner_f = result.parts[0].value_f;
            result.inner_g = result.parts[0].value_g;
        }
        if (result.levels.empty()) {
            result.value_f = result.inner_f;
            result.value_g = result.inner_g;
        }
    }

    std::uint32_t bytes() const { return offset(next_) + leaf_bytes_; }

  private:
    std::uint32_t of_row(std::int32_t row) const {
        return static_cast<std::uint32_t>(row * row_bytes(arithmetic_));
    }
    std::uint32_t offset(std::int64_t block) const { // behind all rows
        return of_row(tree_.n) + static_cast<std::uint32_t>(block * number_bytes(arithmetic_));
    }
    std::uint32_t block() { return offset(next_++); }

    std::vector<std::int32_t> top_rows() const {
        std::vector<std::int32_t> rows = tree_.fixed_rows;
        for (auto j = tree_.root.level.size(); j-- > at(tree_.segment_bits - tree_.root.loop);)
            rows.insert(rows.end(), tree_.root.level[j].begin(), tree_.root.level[j].end());
        return rows;
    }

    Product product(std::uint32_t from, const std::vector<std::int32_t> &rows) {
        Product product{from, rows.empty() ? from : block(), {}};
        for (const std::int32_t row : rows) product.rows.push_back(of_row(row));
        return product;
    }

    const Tree &tree_;
    const Arithmetic arithmetic_;
    std::int32_t next_;
    std::uint32_t one_ = 0, leaf_bytes_ = 0;
};

} // namespace

DecodedTree::DecodedTree(const Tree &tree, Arithmetic arithmetic) {
    Decoder decoder(tree, arithmetic, *this);
    root = decoder.part(tree.root, true);
    decoder.leaves(tree.root, root);
    bytes = decoder.bytes();
}

} // namespace libperm
