#include "jit/lanes/decoded_leaf.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace libperm {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Where an operand is read: values that are one sum of an input and a constant, and their absolute that are
// multiplied once, are made where they are used.
enum class Kind : std::uint8_t { accumulator, value, sum };

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
          kind_(at(inputs_) + program.code.size(), Kind::value),
          block_(kind_.size()) {
        for (std::int32_t v = 0; v < inputs_; ++v) block_[at(v)] = static_cast<std::uint32_t>(v * row_bytes);
        choose_kinds();
        choose_order();
        find_uses();
    }

    DecodedLeaf decode() {
        for (std::size_t t = 0; t < made_.size(); ++t) step(t);
        for (std::size_t k = 0; k < 2; ++k) leaf_.outputs[k] = block_[at(program_.outputs[k])];
        word(Step::end);
        return std::move(leaf_);
    }

    std::uint32_t bytes() const { return static_cast<std::uint32_t>(taken_.size() * block_bytes); }

  private:
    const Instruction &code(std::int32_t v) const { return program_.code[at(v - inputs_)]; }
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
            if (takes_values(i.op)) for_operands(i, [&](std::int32_t operand) { plain[at(operand)] = true; });
        }
        for (std::int32_t v = inputs_; v < end; ++v) {
            const Instruction &i = code(v);
            if (is_output(v)) continue;
            if (i.op == Op::add && i.a < inputs_ && !plain[at(v)]) kind_[at(v)] = Kind::sum;
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
            if (kind_[at(v)] != Kind::value) continue;
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
        Kind kind;
        std::int32_t v;
    };
    Operand operand(std::int32_t v, std::size_t t) const {
        if (t > 0 && v == made_[t - 1] && !takes_values(code(made_[t]).op)) {
            int times = 0;
            for_operands(code(made_[t]), [&](std::int32_t other) { times += other == v; });
            if (times == 1) return {Kind::accumulator, v};
        }
        return {kind_[at(v)], v};
    }

    void word(Step step, std::uint32_t flags = 0) {
        leaf_.words.push_back(static_cast<std::uint32_t>(step) + flags);
    }
    void words(Operand operand) {
        const auto constant = [&](std::int32_t v) {
            leaf_.words.push_back(static_cast<std::uint32_t>(code(v).b));
        };
        switch (operand.kind) {
        case Kind::accumulator:
            break;
        case Kind::value:
            leaf_.words.push_back(block_[at(operand.v)]);
            break;
        case Kind::sum:
            leaf_.words.push_back(block_[at(code(operand.v).a)]);
            constant(operand.v);
            break;
        }
    }

    void emit(Step step, std::initializer_list<Operand> operands) {
        begin_ = leaf_.words.size();
        word(step);
        for (const Operand &operand : operands) words(operand);
        sums_ = step == Step::times_sum ? sums_ + 1 : 0;
    }
    void load(Operand &operand) {
        emit(operand.kind == Kind::value ? Step::value : Step::sum, {operand});
        operand.kind = Kind::accumulator;
    }

    void step(std::size_t t) {
        const std::int32_t v = made_[t];
        const Instruction &i = code(v);
        const Operand a = operand(i.a, t);
        switch (i.op) {
        case Op::add:
            if (i.a < inputs_)
                emit(Step::sum, {{Kind::sum, v}});
            else
                plus(a, Step::plus, i.b);
            break;
        case Op::multiply:
            multiply(a, operand(i.b, t));
            break;
        case Op::subtract:
            subtract(a, operand(i.b, t));
            break;
        case Op::nmadd:
            nmadd(a, operand(i.b, t), operand(i.c, t));
            break;
        case Op::add_absolute:
            add_absolute(a, operand(i.b, t));
            break;
        case Op::multiply_absolute:
            multiply_absolute(a, operand(i.b, t));
            break;
        case Op::madd_absolute:
            madd_absolute(a, operand(i.b, t), operand(i.c, t));
            break;
        case Op::plus:
            emit(Step::value_plus_value, {a, operand(i.b, t)});
            break;
        case Op::madd:
            emit(Step::value_times_value_plus_value, {a, operand(i.b, t), operand(i.c, t)});
            break;
        case Op::least:
            emit(Step::least_of_values, {a, operand(i.b, t)});
            break;
        case Op::reciprocal:
            emit(Step::reciprocal_of_value, {a});
            break;
        case Op::derivative_absolute:
            emit(Step::derivative_absolute_of_values, {a, operand(i.b, t), operand(i.c, t)});
            break;
        }
        release(t);
        if (stored_[at(v)])
            keep(v);
        else if (sums_ == 4)
            join_sums();
    }

    void plus(Operand a, Step step, std::int32_t constant) {
        if (a.kind != Kind::accumulator) load(a);
        emit(step, {});
        leaf_.words.push_back(static_cast<std::uint32_t>(constant));
    }

    void multiply(Operand a, Operand b) {
        if (a.kind > b.kind) std::swap(a, b);
        if (a.kind == Kind::value && b.kind == Kind::value) return emit(Step::value_times_value, {a, b});
        if (a.kind == Kind::value && b.kind == Kind::sum) return emit(Step::value_times_sum, {a, b});
        if (a.kind == Kind::sum && b.kind == Kind::sum) return emit(Step::sum_times_sum, {a, b});
        if (a.kind != Kind::accumulator) load(a);
        emit(b.kind == Kind::value ? Step::times_value : Step::times_sum, {b});
    }

    void subtract(Operand a, Operand b) {
        if (b.kind == Kind::accumulator)
            return emit(a.kind == Kind::value ? Step::value_minus : Step::sum_minus, {a});
        if (a.kind != Kind::accumulator) load(a);
        emit(b.kind == Kind::value ? Step::minus_value : Step::minus_sum, {b});
    }

    void nmadd(Operand a, Operand b, Operand c) {
        if (a.kind > b.kind) std::swap(a, b);
        if (c.kind == Kind::accumulator)
            return emit(b.kind == Kind::value   ? Step::minus_value_times_value
                        : a.kind == Kind::value ? Step::minus_value_times_sum
                                                : Step::minus_sum_times_sum,
                        {a, b});
        if (a.kind == Kind::value && b.kind == Kind::value && c.kind == Kind::value)
            return emit(Step::value_minus_value_times_value, {c, a, b});
        if (a.kind != Kind::accumulator) load(a);
        if (c.kind == Kind::value)
            emit(b.kind == Kind::value ? Step::value_minus_times_value : Step::value_minus_times_sum, {c, b});
        else
            emit(b.kind == Kind::value ? Step::sum_minus_times_value : Step::sum_minus_times_sum, {c, b});
    }

    void add_absolute(Operand a, Operand b) {
        if (a.kind > b.kind) std::swap(a, b);
        if (a.kind == Kind::value && b.kind == Kind::value)
            return emit(Step::abs_value_plus_abs_value, {a, b});
        if (a.kind != Kind::accumulator) load(a);
        emit(b.kind == Kind::value ? Step::abs_plus_abs_value : Step::abs_plus_abs_sum, {b});
    }

    void multiply_absolute(Operand a, Operand b) {
        if (a.kind == Kind::accumulator) return emit(Step::abs_times_value, {b});
        if (a.kind == Kind::value && b.kind == Kind::value) return emit(Step::abs_value_times_value, {a, b});
        if (b.kind != Kind::accumulator) load(b);
        emit(a.kind == Kind::value ? Step::abs_value_times : Step::abs_sum_times, {a});
    }

    void madd_absolute(Operand a, Operand b, Operand c) {
        if (a.kind == Kind::accumulator) return emit(Step::abs_times_value_plus_value, {b, c});
        if (b.kind == Kind::accumulator)
            return emit(a.kind == Kind::value ? Step::abs_value_times_plus_value
                                              : Step::abs_sum_times_plus_value,
                        {a, c});
        if (a.kind == Kind::value && c.kind == Kind::value)
            return emit(Step::abs_value_times_value_plus_value, {a, b, c});
        if (c.kind != Kind::accumulator) load(c);
        emit(a.kind == Kind::value ? Step::plus_abs_value_times_value : Step::plus_abs_sum_times_value,
             {a, b});
    }

    void join_sums() {
        auto from = leaf_.words.end() - 12;
        const std::vector<std::uint32_t> four(from, leaf_.words.end());
        leaf_.words.erase(from, leaf_.words.end());
        word(Step::times_4_sums);
        for (std::size_t k = 0; k < 12; k += 3)
            leaf_.words.insert(leaf_.words.end(), {four[k + 1], four[k + 2]});
        sums_ = 0;
    }

    // The operands are read before the result is written, which may take the place of one.
    void release(std::size_t t) {
        for_operands(code(made_[t]), [&](std::int32_t v) {
            if (v >= inputs_ && kind_[at(v)] == Kind::value && stored_[at(v)] && last_use_[at(v)] == t)
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
    std::vector<Kind> kind_;
    std::vector<std::uint32_t> block_;
    std::vector<std::int32_t> made_; // values that have steps of their own
    std::vector<std::size_t> last_use_;
    std::vector<bool> stored_, taken_;
    DecodedLeaf leaf_;
    std::size_t begin_ = 0; // of the last step
    int sums_ = 0;          // steps times_sum before here
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

} // namespace

LeafWords decode_leaf(const StraightLine &program, std::uint32_t first_block, Arithmetic arithmetic) {
    if (arithmetic != Arithmetic::real && arithmetic != Arithmetic::two_grids)
        return decode_plainly(program, first_block, arithmetic);
    LeafDecoder decoder(program, first_block, row_bytes(arithmetic));
    DecodedLeaf leaf = decoder.decode();
    return {std::move(leaf), decoder.bytes()};
}

} // namespace libperm
