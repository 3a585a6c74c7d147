#include "jit/lanes/decoded_tree.hpp"

#include "jit/number/index.hpp"

#include <algorithm>
#include <utility>

namespace libperm {
namespace {

bool is_symmetric(Op op) { return op == Op::multiply || op == Op::nmadd || op == Op::add_absolute; }

// Whose operands are values, all of them.
bool takes_values(Op op) {
    return op == Op::plus || op == Op::madd || op == Op::least || op == Op::reciprocal ||
           op == Op::derivative_absolute;
}

class LeafDecoder {
  public:
    LeafDecoder(const StraightLine &program, std::uint32_t first_block, std::int64_t row_bytes)
        : program_(program),
          inputs_(program.inputs),
          first_block_(first_block),
          kind_(at(inputs_) + program.code.size(), OperandKind::value),
          block_(kind_.size()) {
        for (std::int32_t v = 0; v < inputs_; ++v) block_[at(v)] = static_cast<std::uint32_t>(v * row_bytes);
        choose_kinds();
        choose_order();
        find_uses();
    }

    DecodedLeaf decode() {
        for (std::size_t t = 0; t < made_.size(); ++t) step(t);
        for (std::size_t k = 0; k < 2; ++k) leaf_.outputs[k] = block_[at(program_.outputs[k])];
        leaf_.words.push_back(none_left);
        return std::move(leaf_);
    }

    std::uint32_t bytes() const { return static_cast<std::uint32_t>(taken_.size() * block_bytes); }

  private:
    const Instruction &code(std::int32_t v) const { return program_.code[at(v - inputs_)]; }
    bool is_row_sum(const Instruction &i) const { return i.op == Op::add && i.a < inputs_; }
    bool is_output(std::int32_t v) const {
        return std::find(program_.outputs.begin(), program_.outputs.end(), v) != program_.outputs.end();
    }

    void choose_kinds() {
        const auto end = static_cast<std::int32_t>(kind_.size());
        std::vector<bool> plain(kind_.size()); // there is no step that takes a sum there
        for (std::int32_t v = inputs_; v < end; ++v) {
            const Instruction &i = code(v);
            if (i.op == Op::multiply_absolute || i.op == Op::madd_absolute) plain[at(i.b)] = true;
            if (i.op == Op::madd_absolute) plain[at(i.c)] = true;
            if (i.op == Op::add && !is_row_sum(i)) plain[at(i.a)] = true;
            if (takes_values(i.op)) for_operands(i, [&](std::int32_t operand) { plain[at(operand)] = true; });
        }
        for (std::int32_t v = inputs_; v < end; ++v) {
            const Instruction &i = code(v);
            if (is_output(v)) continue;
            if (is_row_sum(i) && !plain[at(v)]) kind_[at(v)] = OperandKind::sum;
        }
    }

    // What takes a value follows it if it can, so that the value stays in the accumulator; else the program's
    // order.
    void choose_order() {
        const auto end = static_cast<std::int32_t>(kind_.size());
        std::vector<std::vector<std::int32_t>> users(kind_.size());
        std::vector<int> awaited(kind_.size());
        std::vector<bool> done(kind_.size(), true);
        for (std::int32_t v = inputs_; v < end; ++v) {
            if (kind_[at(v)] != OperandKind::value) continue;
            done[at(v)] = false;
            for_operands(code(v), [&](std::int32_t operand) {
                if (done[at(operand)]) return;
                users[at(operand)].push_back(v);
                ++awaited[at(v)];
            });
        }
        for (std::int32_t first = inputs_; first < end; ++first)
            for (std::int32_t v = first; !done[at(v)];) {
                made_.push_back(v);
                done[at(v)] = true;
                for (const std::int32_t user : users[at(v)]) --awaited[at(user)];
                for (const std::int32_t user : users[at(v)])
                    if (awaited[at(user)] == 0) {
                        v = user;
                        break;
                    }
            }
    }

    // A value that the next step takes stays in the accumulator.
    void find_uses() {
        last_use_.assign(kind_.size(), 0);
        stored_.assign(kind_.size(), false);
        for (std::size_t t = 0; t < made_.size(); ++t) {
            const std::int32_t before = t == 0 ? -1 : made_[t - 1];
            int of_before = 0;
            for_operands(code(made_[t]), [&](std::int32_t v) { of_before += v == before; });
            for_operands(code(made_[t]), [&](std::int32_t v) {
                last_use_[at(v)] = t;
                if (v != before || of_before > 1 || takes_values(code(made_[t]).op)) stored_[at(v)] = true;
            });
        }
        for (const std::int32_t v : program_.outputs) {
            last_use_[at(v)] = made_.size();
            stored_[at(v)] = true;
        }
    }

    struct Operand {
        OperandKind kind = OperandKind::none;
        std::int32_t v = 0;
    };
    Operand operand(std::int32_t v, std::size_t t) const {
        if (t > 0 && v == made_[t - 1] && !takes_values(code(made_[t]).op)) {
            int times = 0;
            for_operands(code(made_[t]), [&](std::int32_t other) { times += other == v; });
            if (times == 1) return {OperandKind::accumulator, v};
        }
        return {kind_[at(v)], v};
    }

    void put(const Operand &operand) {
        std::vector<std::uint32_t> &words = leaf_.words;
        if (operand.kind == OperandKind::value) words.push_back(block_[at(operand.v)]);
        if (operand.kind == OperandKind::sum)
            words.insert(words.end(),
                         {block_[at(code(operand.v).a)], static_cast<std::uint32_t>(code(operand.v).b)});
    }

    void step(std::size_t t) {
        const std::int32_t v = made_[t];
        const Instruction &i = code(v);
        std::array<Operand, 3> of{};
        std::size_t count = 0;
        if (is_row_sum(i))
            of[count++] = {OperandKind::sum, v};
        else
            for_operands(i, [&](std::int32_t operand_of) { of[count++] = operand(operand_of, t); });
        if (is_symmetric(i.op) && of[0].kind > of[1].kind) std::swap(of[0], of[1]);
        begin_ = leaf_.words.size();
        leaf_.words.push_back(step_of(i.op, of[0].kind, of[1].kind, of[2].kind));
        for (std::size_t k = 0; k < count; ++k) put(of[k]);
        if (i.op == Op::add && !is_row_sum(i)) leaf_.words.push_back(static_cast<std::uint32_t>(i.b));
        sums_ = leaf_.words[begin_] == step_of(Op::multiply, OperandKind::accumulator, OperandKind::sum)
                    ? sums_ + 1
                    : 0;
        release(t);
        if (stored_[at(v)])
            keep(v);
        else if (sums_ == 4)
            join_sums();
    }

    void join_sums() {
        auto from = leaf_.words.end() - 12;
        const std::vector<std::uint32_t> four(from, leaf_.words.end());
        leaf_.words.erase(from, leaf_.words.end());
        leaf_.words.push_back(step_of(Op::multiply, OperandKind::accumulator, OperandKind::four_sums));
        for (std::size_t k = 0; k < 12; k += 3)
            leaf_.words.insert(leaf_.words.end(), {four[k + 1], four[k + 2]});
        sums_ = 0;
    }

    // The operands are read before the result is written, which may take the place of one.
    void release(std::size_t t) {
        for_operands(code(made_[t]), [&](std::int32_t v) {
            if (v >= inputs_ && kind_[at(v)] == OperandKind::value && stored_[at(v)] && last_use_[at(v)] == t)
                taken_[(block_[at(v)] - first_block_) / block_bytes] = false;
        });
    }
    void keep(std::int32_t v) {
        const auto free = std::find(taken_.begin(), taken_.end(), false);
        block_[at(v)] = first_block_ + static_cast<std::uint32_t>((free - taken_.begin()) * block_bytes);
        if (free == taken_.end())
            taken_.push_back(true);
        else
            *free = true;
        leaf_.words[begin_] += kept;
        leaf_.words.push_back(block_[at(v)]);
        sums_ = 0;
    }

    const StraightLine &program_;
    std::int32_t inputs_;
    std::uint32_t first_block_;
    std::vector<OperandKind> kind_;
    std::vector<std::uint32_t> block_;
    std::vector<std::int32_t> made_; // values that have steps of their own
    std::vector<std::size_t> last_use_;
    std::vector<bool> stored_, taken_;
    DecodedLeaf leaf_;
    std::size_t begin_ = 0; // of the last step
    int sums_ = 0;          // steps before here that multiply the accumulator by a sum
};

struct LeafWords {
    DecodedLeaf leaf;
    std::uint32_t bytes; // that it needs, from its first block on
};

// For other arithmetics: how the words are read takes little of their time.
LeafWords decode_plainly(const StraightLine &program, std::uint32_t first_block, Arithmetic arithmetic) {
    const std::int64_t bytes = number_bytes(arithmetic), of_row = row_bytes(arithmetic);
    const Places places = places_of(program);
    const auto block = [&](std::int32_t v) {
        return static_cast<std::uint32_t>(
            v < program.inputs ? v * of_row : first_block + places.place[at(v - program.inputs)] * bytes);
    };
    DecodedLeaf leaf{{}, {}};
    for (std::size_t k = 0; k < program.code.size(); ++k) {
        const Instruction &i = program.code[k];
        const auto result = block(program.inputs + static_cast<std::int32_t>(k));
        leaf.words.insert(leaf.words.end(),
                          {static_cast<std::uint32_t>(i.op), block(i.a),
                           takes_constant(i.op) ? static_cast<std::uint32_t>(i.b) : block(i.b),
                           takes_third(i.op) ? block(i.c) : 0, result});
    }
    leaf.words.push_back(none_left);
    for (std::size_t k = 0; k < 2; ++k) // of residues there is one
        leaf.outputs[k] = block(program.outputs[std::min(k, program.outputs.size() - 1)]);
    return {leaf, static_cast<std::uint32_t>(places.count * bytes)};
}

LeafWords decode_leaf(const StraightLine &program, std::uint32_t first_block, Arithmetic arithmetic) {
    if (arithmetic != Arithmetic::real && arithmetic != Arithmetic::two_grids)
        return decode_plainly(program, first_block, arithmetic);
    LeafDecoder decoder(program, first_block, row_bytes(arithmetic));
    DecodedLeaf leaf = decoder.decode();
    return {std::move(leaf), decoder.bytes()};
}

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
