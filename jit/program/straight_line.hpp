// Straight-line programs: what a block of subsets comes to, as data. The printer (jit/kernel/tree.hpp) makes
// CUDA C++ of one, the interpreter (jit/lanes/tree_walk.hpp) runs it on a CPU: the same operations in the
// same order, so the same bits.
#pragma once

#include "jit/number/arithmetic.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace libperm {

// Each rounds once; those from add_absolute on give doubles, whatever the arithmetic.
enum class Op : std::uint8_t {
    add,                // a + constant b
    multiply,           // a * b
    subtract,           // a - b
    nmadd,              // c - a * b
    plus,               // a + b
    madd,               // a * b + c
    add_absolute,       // |a| + |b|
    multiply_absolute,  // |a| * b
    madd_absolute,      // |a| * b + c
    least,              // min(|a|, |b|), rounded down
    reciprocal,         // of a, which is such: 16 / max(a, 2^-400), rounded up
    derivative_absolute // |a| * b + |c|
};

struct Instruction {
    Op op;
    std::int32_t a, b, c; // values, unless said otherwise above; 0 where there is none
    friend bool operator==(const Instruction &, const Instruction &) = default;
};

inline bool takes_constant(Op op) { return op == Op::add; }
inline bool is_absolute(Op op) { return op >= Op::add_absolute; }
inline bool takes_third(Op op) {
    return op == Op::nmadd || op == Op::madd || op == Op::madd_absolute || op == Op::derivative_absolute;
}

template <class F> void for_operands(const Instruction &i, F f) {
    f(i.a);
    if (!takes_constant(i.op) && i.op != Op::reciprocal) f(i.b);
    if (takes_third(i.op)) f(i.c);
}

// Values are numbered: first the inputs, then the results of the code in its order.
struct StraightLine {
    std::int32_t inputs = 0, constants = 0;
    std::vector<Instruction> code;
    std::vector<std::int32_t> outputs;
};

// The program of these instructions alone, in this order, each after those that it takes from.
StraightLine in_order(const StraightLine &program, const std::vector<std::int32_t> &order,
                      std::vector<std::int32_t> outputs);

// The same instructions, those of one depth side by side.
StraightLine by_depth(const StraightLine &program);

// The program with the first so many outputs alone.
StraightLine with_outputs(const StraightLine &program, std::size_t count);

// Where the values live when each goes to the lowest free place as soon as it is made: place[k] of the result
// of code[k]; inputs have places of their own and keep them.
struct Places {
    std::vector<std::int32_t> place;
    std::int32_t count = 0;
};
Places places_of(const StraightLine &program);

// Roundings on the way of a term to output `which` at most: a product has those of its factors and its own.
// Inputs, constants and sums of the two are exact.
double roundings_of(const StraightLine &program, std::size_t which, Arithmetic arithmetic = Arithmetic::real);

// Builds programs: equal operations on equal values are one value (value numbering).
class ProgramBuilder {
  public:
    explicit ProgramBuilder(std::int32_t inputs) { program_.inputs = inputs; }

    std::int32_t add(std::int32_t a, std::int32_t constant) { return value(Op::add, a, constant, 0); }
    std::int32_t subtract(std::int32_t a, std::int32_t b) { return value(Op::subtract, a, b, 0); }
    std::int32_t multiply(std::int32_t a, std::int32_t b) { return of_both(Op::multiply, a, b, 0); }
    std::int32_t plus(std::int32_t a, std::int32_t b) { return of_both(Op::plus, a, b, 0); }
    std::int32_t nmadd(std::int32_t a, std::int32_t b, std::int32_t c) { return of_both(Op::nmadd, a, b, c); }
    std::int32_t madd(std::int32_t a, std::int32_t b, std::int32_t c) { return of_both(Op::madd, a, b, c); }
    std::int32_t add_absolute(std::int32_t a, std::int32_t b) { return of_both(Op::add_absolute, a, b, 0); }
    std::int32_t multiply_absolute(std::int32_t a, std::int32_t b) {
        return value(Op::multiply_absolute, a, b, 0);
    }
    std::int32_t madd_absolute(std::int32_t a, std::int32_t b, std::int32_t c) {
        return value(Op::madd_absolute, a, b, c);
    }
    std::int32_t least(std::int32_t a, std::int32_t b) { return value(Op::least, a, b, 0); }
    std::int32_t reciprocal(std::int32_t a) { return value(Op::reciprocal, a, a, 0); }
    std::int32_t derivative_absolute(std::int32_t a, std::int32_t b, std::int32_t c) {
        return value(Op::derivative_absolute, a, b, c);
    }

    std::size_t size() const { return program_.code.size(); }

    // Without what the outputs do not need.
    StraightLine finish(std::vector<std::int32_t> outputs, std::int32_t constants) &&;

  private:
    std::int32_t value(Op op, std::int32_t a, std::int32_t b, std::int32_t c);
    std::int32_t of_both(Op op, std::int32_t a, std::int32_t b, std::int32_t c) { // in whichever order
        return value(op, std::min(a, b), std::max(a, b), c);
    }

    StraightLine program_;
    struct Hash {
        std::size_t operator()(const Instruction &i) const;
    };
    std::unordered_map<Instruction, std::int32_t, Hash> known_;
};

} // namespace libperm
