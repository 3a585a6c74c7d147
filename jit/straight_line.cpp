#include "jit/straight_line.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace libperm {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

template <class F> void for_operands(const Instruction &i, F f) {
    f(i.a);
    if (!takes_constant(i.op)) f(i.b);
    if (takes_third(i.op)) f(i.c);
}

bool is_row_sum(const StraightLine &program, const Instruction &i) {
    return i.op == Op::add && i.a < program.inputs;
}

// One machine with its registers; values that the code does not need again are not kept.
class Belady {
  public:
    Belady(const StraightLine &program, std::int32_t registers)
        : program_(program),
          registers_(at(std::max(registers, 4))),
          uses_(at(program.inputs) + program.code.size()),
          written_(uses_.size()) {
        const auto end = static_cast<std::int64_t>(program.code.size());
        for (std::int64_t k = 0; k < end; ++k)
            for_operands(program.code[at(k)], [&](std::int32_t v) { uses_[at(v)].push_back(k); });
        for (const std::int32_t v : program.outputs) uses_[at(v)].push_back(end);
        for (auto &uses : uses_) std::reverse(uses.begin(), uses.end());
    }

    Traffic run() {
        for (std::size_t k = 0; k < program_.code.size(); ++k) {
            for_operands(program_.code[k], [&](std::int32_t v) { pinned_.push_back(v); });
            for (const std::int32_t v : pinned_) fetch(v);
            forget(static_cast<std::int64_t>(k));
            enter(program_.inputs + static_cast<std::int32_t>(k));
            pinned_.clear();
        }
        std::vector<std::int32_t> outputs = program_.outputs;
        std::sort(outputs.begin(), outputs.end());
        outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
        for (const std::int32_t v : outputs)
            if (!held(v)) count_again(v);
        return traffic_;
    }

  private:
    static constexpr auto never = std::numeric_limits<std::int64_t>::max();

    std::int64_t next_use(std::int32_t v) const { return uses_[at(v)].empty() ? never : uses_[at(v)].back(); }

    void forget(std::int64_t done) {
        for (const std::int32_t v : pinned_)
            while (next_use(v) <= done) uses_[at(v)].pop_back();
        std::erase_if(held_, [&](std::int32_t v) { return next_use(v) == never; });
    }

    void enter(std::int32_t v) {
        if (held_.size() == registers_) evict();
        held_.push_back(v);
    }

    void evict() {
        auto furthest = held_.end();
        for (auto v = held_.begin(); v != held_.end(); ++v) {
            const bool pinned = std::find(pinned_.begin(), pinned_.end(), *v) != pinned_.end();
            if (!pinned && (furthest == held_.end() || next_use(*v) > next_use(*furthest))) furthest = v;
        }
        if (next_use(*furthest) != never && !remade(*furthest) && !written_[at(*furthest)]) {
            written_[at(*furthest)] = true;
            ++traffic_.stores;
        }
        held_.erase(furthest);
    }

    void fetch(std::int32_t v) {
        if (held(v)) return;
        count_again(v);
        enter(v);
    }

    bool held(std::int32_t v) const {
        return v < program_.inputs || std::find(held_.begin(), held_.end(), v) != held_.end();
    }
    void count_again(std::int32_t v) { ++(remade(v) ? traffic_.repeated : traffic_.loads); }

    bool remade(std::int32_t v) const { return is_row_sum(program_, program_.code[at(v - program_.inputs)]); }

    const StraightLine &program_;
    std::size_t registers_;
    std::vector<std::vector<std::int64_t>> uses_; // of each value, the next one last
    std::vector<bool> written_;
    std::vector<std::int32_t> held_, pinned_;
    Traffic traffic_;
};

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
    const double product = product_roundings(arithmetic), fused = nmadd_roundings(arithmetic);
    std::vector<double> roundings(at(program.inputs));
    for (const Instruction &i : program.code) {
        const auto of = [&](std::int32_t v) { return roundings[at(v)]; };
        switch (i.op) {
        case Op::add:
            roundings.push_back(is_row_sum(program, i) ? 0 : of(i.a) + 1);
            break;
        case Op::multiply:
            roundings.push_back(of(i.a) + of(i.b) + product);
            break;
        case Op::subtract:
            roundings.push_back(std::max(of(i.a), of(i.b)) + 1);
            break;
        case Op::nmadd:
            roundings.push_back(std::max(of(i.a) + of(i.b), of(i.c)) + fused);
            break;
        case Op::add_absolute:
            roundings.push_back(std::max(of(i.a), of(i.b)) + 1);
            break;
        case Op::multiply_absolute:
            roundings.push_back(of(i.a) + of(i.b) + 1);
            break;
        case Op::madd_absolute:
            roundings.push_back(std::max(of(i.a) + of(i.b), of(i.c)) + 1);
            break;
        }
    }
    return roundings[at(program.outputs[which])];
}

Traffic traffic_of(const StraightLine &program, std::int32_t registers) {
    return Belady(program, registers).run();
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
    if (is_new)
        program_.code.push_back(instruction);
    else
        asked_again_ = std::max(asked_again_, found->second);
    return found->second;
}

std::int32_t ProgramBuilder::nmadd(std::int32_t a, std::int32_t b, std::int32_t c) {
    return value(Op::nmadd, std::min(a, b), std::max(a, b), c);
}

std::int32_t ProgramBuilder::add_absolute(std::int32_t a, std::int32_t b) {
    return value(Op::add_absolute, std::min(a, b), std::max(a, b), 0);
}

std::int32_t ProgramBuilder::multiply(std::int32_t a, std::int32_t b) {
    return value(Op::multiply, std::min(a, b), std::max(a, b), 0);
}

std::int32_t ProgramBuilder::subtract_product(std::int32_t c, std::int32_t v) {
    const auto last = program_.inputs + static_cast<std::int32_t>(program_.code.size()) - 1;
    if (v < program_.inputs || v != last || v == c || v == asked_again_) return subtract(c, v);
    const Instruction product = program_.code.back();
    if (product.op != Op::multiply) return subtract(c, v);
    known_.erase(product);
    program_.code.pop_back();
    return nmadd(product.a, product.b, c);
}

StraightLine with_outputs(const StraightLine &program, std::size_t count) {
    const std::int32_t inputs = program.inputs;
    StraightLine result{inputs, program.constants, {}, program.outputs};
    result.outputs.resize(std::min(count, program.outputs.size()));
    std::vector<bool> needed(at(inputs) + program.code.size());
    for (const std::int32_t v : result.outputs) needed[at(v)] = true;
    for (std::size_t k = program.code.size(); k-- > 0;)
        if (needed[at(inputs) + k])
            for_operands(program.code[k], [&](std::int32_t v) { needed[at(v)] = true; });

    std::vector<std::int32_t> number(needed.size());
    for (std::int32_t v = 0; v < inputs; ++v) number[at(v)] = v;
    for (std::size_t k = 0; k < program.code.size(); ++k) {
        if (!needed[at(inputs) + k]) continue;
        number[at(inputs) + k] = inputs + static_cast<std::int32_t>(result.code.size());
        Instruction i = program.code[k];
        i.a = number[at(i.a)];
        if (!takes_constant(i.op)) i.b = number[at(i.b)];
        if (takes_third(i.op)) i.c = number[at(i.c)];
        result.code.push_back(i);
    }
    for (std::int32_t &v : result.outputs) v = number[at(v)];
    return result;
}

StraightLine ProgramBuilder::finish(std::vector<std::int32_t> outputs, std::int32_t constants) && {
    program_.constants = constants;
    program_.outputs = std::move(outputs);
    return with_outputs(program_, program_.outputs.size());
}

} // namespace libperm
