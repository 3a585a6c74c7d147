#include "jit/program/straight_line.hpp"

#include "jit/number/index.hpp"

#include <numeric>
#include <utility>

namespace libperm {
namespace {

bool is_row_sum(const StraightLine &program, const Instruction &i) {
    return i.op == Op::add && i.a < program.inputs;
}

// Of each instruction the depth; of a row sum that of what first takes it.
std::vector<std::int32_t> depths_of(const StraightLine &leaf) {
    constexpr std::int32_t unknown = -1;
    std::vector<std::int32_t> depths(leaf.code.size(), unknown);
    for (std::size_t k = 0; k < leaf.code.size(); ++k) {
        const Instruction &i = leaf.code[k];
        if (i.op == Op::add) continue;
        std::int32_t depth = 0;
        for_operands(i, [&](std::int32_t v) {
            if (v >= leaf.inputs) depth = std::max(depth, depths[at(v - leaf.inputs)] + 1);
        });
        depths[k] = depth;
        for_operands(i, [&](std::int32_t v) {
            if (v >= leaf.inputs && depths[at(v - leaf.inputs)] == unknown)
                depths[at(v - leaf.inputs)] = depth;
        });
    }
    return depths;
}

} // namespace

Places places_of(const StraightLine &program) {
    const std::size_t size = program.code.size();
    std::vector<std::size_t> last(at(program.inputs) + size, 0); // use; of what is not used, its making
    for (std::size_t k = 0; k < size; ++k) {
        last[at(program.inputs) + k] = k;
        for_operands(program.code[k], [&](std::int32_t v) { last[at(v)] = k; });
    }
    for (const std::int32_t v : program.outputs) last[at(v)] = size;

    Places places;
    places.place.resize(size);
    std::vector<bool> taken;
    for (std::size_t k = 0; k < size; ++k) {
        const auto leave = [&](std::int32_t v) {
            if (v >= program.inputs && last[at(v)] == k)
                taken[at(places.place[at(v - program.inputs)])] = false;
        };
        for_operands(program.code[k], leave);
        const auto free = std::find(taken.begin(), taken.end(), false);
        places.place[k] = static_cast<std::int32_t>(free - taken.begin());
        if (free == taken.end()) taken.push_back(true);
        taken[at(places.place[k])] = true;
        leave(program.inputs + static_cast<std::int32_t>(k));
    }
    places.count = static_cast<std::int32_t>(taken.size());
    return places;
}

double roundings_of(const StraightLine &program, std::size_t which, Arithmetic arithmetic) {
    const double product = product_roundings(arithmetic), fused = fused_roundings(arithmetic);
    std::vector<double> roundings(at(program.inputs));
    for (const Instruction &i : program.code) {
        const auto of = [&](std::int32_t v) { return roundings[at(v)]; };
        const double own = is_absolute(i.op) ? 1 : takes_third(i.op) ? fused : product;
        switch (i.op) {
        case Op::add:
            roundings.push_back(is_row_sum(program, i) ? 0 : of(i.a) + 1);
            break;
        case Op::multiply:
        case Op::multiply_absolute:
            roundings.push_back(of(i.a) + of(i.b) + own);
            break;
        case Op::subtract:
        case Op::plus:
        case Op::add_absolute:
            roundings.push_back(std::max(of(i.a), of(i.b)) + 1);
            break;
        case Op::nmadd:
        case Op::madd:
        case Op::madd_absolute:
        case Op::derivative_absolute:
            roundings.push_back(std::max(of(i.a) + of(i.b), of(i.c)) + own);
            break;
        case Op::least:
        case Op::reciprocal:
            roundings.push_back(0);
            break;
        }
    }
    return roundings[at(program.outputs[which])];
}

std::size_t ProgramBuilder::Hash::operator()(const Instruction &i) const {
    std::uint64_t hash = static_cast<std::uint64_t>(i.op);
    for (const std::int32_t v : {i.a, i.b, i.c}) {
        hash = (hash ^ static_cast<std::uint32_t>(v)) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 32;
    }
    return hash;
}

std::int32_t ProgramBuilder::value(Op op, std::int32_t a, std::int32_t b, std::int32_t c) {
    const Instruction instruction{op, a, b, c};
    const auto next = program_.inputs + static_cast<std::int32_t>(program_.code.size());
    const auto [found, is_new] = known_.try_emplace(instruction, next);
    if (is_new) program_.code.push_back(instruction);
    return found->second;
}

StraightLine in_order(const StraightLine &program, const std::vector<std::int32_t> &order,
                      std::vector<std::int32_t> outputs) {
    StraightLine result{program.inputs, program.constants, {}, std::move(outputs)};
    std::vector<std::int32_t> number(at(program.inputs) + program.code.size());
    std::iota(number.begin(), number.begin() + program.inputs, 0);
    for (const std::int32_t k : order) {
        number[at(program.inputs + k)] = program.inputs + static_cast<std::int32_t>(result.code.size());
        Instruction i = program.code[at(k)];
        i.a = number[at(i.a)];
        if (!takes_constant(i.op)) i.b = number[at(i.b)];
        if (takes_third(i.op)) i.c = number[at(i.c)];
        result.code.push_back(i);
    }
    for (std::int32_t &v : result.outputs) v = number[at(v)];
    return result;
}

StraightLine by_depth(const StraightLine &leaf) {
    const std::vector<std::int32_t> depths = depths_of(leaf);
    std::vector<std::int32_t> order(leaf.code.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t x, std::int32_t y) { return depths[at(x)] < depths[at(y)]; });
    return in_order(leaf, order, leaf.outputs);
}

StraightLine with_outputs(const StraightLine &program, std::size_t count) {
    std::vector<std::int32_t> outputs = program.outputs;
    outputs.resize(std::min(count, outputs.size()));
    std::vector<bool> needed(at(program.inputs) + program.code.size());
    for (const std::int32_t v : outputs) needed[at(v)] = true;
    for (std::size_t k = program.code.size(); k-- > 0;)
        if (needed[at(program.inputs) + k])
            for_operands(program.code[k], [&](std::int32_t v) { needed[at(v)] = true; });
    std::vector<std::int32_t> order;
    for (std::int32_t k = 0; k < std::ssize(program.code); ++k)
        if (needed[at(program.inputs + k)]) order.push_back(k);
    return in_order(program, order, std::move(outputs));
}

StraightLine ProgramBuilder::finish(std::vector<std::int32_t> outputs, std::int32_t constants) && {
    program_.constants = constants;
    program_.outputs = std::move(outputs);
    return with_outputs(program_, program_.outputs.size());
}

} // namespace libperm
