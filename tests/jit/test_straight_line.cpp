// Straight-line programs: what the builder keeps of them, where values live, and what they cost.
#include "bench/families.hpp"
#include "jit/program/straight_line.hpp"
#include "tests/support/run.hpp"
#include "tests/support/traffic.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

using namespace libperm;
using perm::families::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x6c696e65); }

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

constexpr std::int32_t inputs = 5, constants = 7;

std::vector<std::int32_t> operands(const Instruction &i) {
    std::vector<std::int32_t> values{i.a};
    if (!takes_constant(i.op)) values.push_back(i.b);
    if (takes_third(i.op)) values.push_back(i.c);
    return values;
}

// Anything that is not its argument.
std::uint64_t magnitude(std::uint64_t x) { return x ^ x >> 7; }

// Values of inputs and code, modulo 2^64: any difference of two programs shows.
std::vector<std::uint64_t> evaluate(const StraightLine &program) {
    std::vector<std::uint64_t> v;
    for (std::uint64_t k = 0; k < at(program.inputs); ++k) v.push_back(0x9e3779b97f4a7c15 * (k + 1));
    const auto constant = [](std::int32_t b) { return 0xd1b54a32d192ed03 * (at(b) + 1); };
    for (const Instruction &i : program.code) {
        const auto of = [&](std::int32_t k) { return v[at(k)]; };
        switch (i.op) {
        case Op::add:
            v.push_back(of(i.a) + constant(i.b));
            break;
        case Op::multiply:
            v.push_back(of(i.a) * of(i.b));
            break;
        case Op::subtract:
            v.push_back(of(i.a) - of(i.b));
            break;
        case Op::nmadd:
            v.push_back(of(i.c) - of(i.a) * of(i.b));
            break;
        case Op::add_absolute:
            v.push_back(magnitude(of(i.a)) + magnitude(of(i.b)));
            break;
        case Op::multiply_absolute:
            v.push_back(magnitude(of(i.a)) * of(i.b));
            break;
        case Op::madd_absolute:
            v.push_back(magnitude(of(i.a)) * of(i.b) + of(i.c));
            break;
        case Op::plus:
            v.push_back(of(i.a) + of(i.b));
            break;
        case Op::madd:
            v.push_back(of(i.a) * of(i.b) + of(i.c));
            break;
        case Op::least:
            v.push_back(std::min(magnitude(of(i.a)), magnitude(of(i.b))));
            break;
        case Op::reciprocal:
            v.push_back(~of(i.a));
            break;
        case Op::derivative_absolute:
            v.push_back(magnitude(of(i.a)) * of(i.b) + magnitude(of(i.c)));
            break;
        }
    }
    return v;
}

struct Built {
    ProgramBuilder builder{inputs};
    std::vector<std::int32_t> values; // of the inputs and of what was asked for
    std::vector<std::uint64_t> should;
};

// What each call should come to is kept beside it.
Built random_builder(Random &random) {
    Built built;
    StraightLine none;
    none.inputs = inputs;
    built.should = evaluate(none);
    built.values.resize(at(inputs));
    std::iota(built.values.begin(), built.values.end(), 0);
    const std::int64_t size = random.integer(0, 40);
    for (std::int64_t k = 0; k < size; ++k) {
        const auto pick = [&] {
            const auto last = static_cast<std::int64_t>(built.values.size()) - 1;
            return at(random.chance(0.3) ? last : random.integer(0, last));
        };
        const std::size_t a = pick(), b = pick(), c = pick();
        const std::uint64_t va = built.should[a], vb = built.should[b], vc = built.should[c];
        const std::int32_t ia = built.values[a], ib = built.values[b], ic = built.values[c];
        const auto constant = static_cast<std::int32_t>(random.integer(0, constants - 1));
        const std::uint64_t of_constant = 0xd1b54a32d192ed03 * (at(constant) + 1);
        switch (random.integer(0, 12)) {
        case 0:
            built.values.push_back(built.builder.add(ia, constant));
            built.should.push_back(va + of_constant);
            break;
        case 1:
            built.values.push_back(built.builder.add_absolute(ia, ib));
            built.should.push_back(magnitude(va) + magnitude(vb));
            break;
        case 2:
            built.values.push_back(built.builder.subtract(ia, ib));
            built.should.push_back(va - vb);
            break;
        case 3:
            built.values.push_back(built.builder.nmadd(ia, ib, ic));
            built.should.push_back(vc - va * vb);
            break;
        case 4:
            built.values.push_back(built.builder.multiply_absolute(ia, ib));
            built.should.push_back(magnitude(va) * vb);
            break;
        case 6:
            built.values.push_back(built.builder.plus(ia, ib));
            built.should.push_back(va + vb);
            break;
        case 7:
            built.values.push_back(built.builder.madd(ia, ib, ic));
            built.should.push_back(va * vb + vc);
            break;
        case 8:
            built.values.push_back(built.builder.least(ia, ib));
            built.should.push_back(std::min(magnitude(va), magnitude(vb)));
            break;
        case 9:
            built.values.push_back(built.builder.reciprocal(ia));
            built.should.push_back(~va);
            break;
        case 10:
            built.values.push_back(built.builder.derivative_absolute(ia, ib, ic));
            built.should.push_back(magnitude(va) * vb + magnitude(vc));
            break;
        case 5:
            built.values.push_back(built.builder.madd_absolute(ia, ib, ic));
            built.should.push_back(magnitude(va) * vb + vc);
            break;
        default:
            built.values.push_back(built.builder.multiply(ia, ib));
            built.should.push_back(va * vb);
        }
    }
    return built;
}

StraightLine random_program(Random &random) {
    Built built = random_builder(random);
    std::vector<std::int32_t> outputs;
    for (int k = 0; k < 2; ++k)
        outputs.push_back(
            built.values[at(random.integer(0, static_cast<std::int64_t>(built.values.size()) - 1))]);
    return std::move(built.builder).finish(outputs, constants);
}

} // namespace

TEST_CASE("equal operations are one value") {
    ProgramBuilder b(3);
    const std::int32_t product = b.multiply(0, 1);
    CHECK(b.multiply(1, 0) == product);
    CHECK(b.nmadd(0, 1, 2) == b.nmadd(1, 0, 2));
    CHECK(b.subtract(0, 1) != b.subtract(1, 0));
    CHECK(b.add(0, 1) == b.add(0, 1));
    CHECK(b.add_absolute(0, 1) == b.add_absolute(1, 0));
    CHECK(b.multiply_absolute(0, 1) != b.multiply_absolute(1, 0));
    CHECK(b.size() == 8);
}

TEST_CASE("finished programs compute what was asked for, and nothing else") {
    Random random(test_seed());
    for (int k = 0; k < run::cases(500); ++k) {
        CAPTURE(k);
        const Built built = random_builder(random);
        const StraightLine all = ProgramBuilder(built.builder).finish(built.values, constants);
        const auto of_all = evaluate(all);
        bool right = true;
        for (std::size_t v = 0; v < built.values.size(); ++v)
            right = right && of_all[at(all.outputs[v])] == built.should[v];
        CHECK(right);

        const auto which = at(random.integer(0, static_cast<std::int64_t>(built.values.size()) - 1));
        const StraightLine one = ProgramBuilder(built.builder).finish({built.values[which]}, constants);
        CHECK(evaluate(one)[at(one.outputs[0])] == built.should[which]);
        std::set<std::int32_t> used(one.outputs.begin(), one.outputs.end());
        for (const Instruction &i : one.code)
            for (const std::int32_t v : operands(i)) used.insert(v);
        bool all_used = true;
        for (std::size_t v = 0; v < one.code.size(); ++v)
            all_used = all_used && used.contains(inputs + static_cast<std::int32_t>(v));
        CHECK(all_used);
    }
}

TEST_CASE("each value goes to the lowest place that no living one has") {
    Random random(test_seed() + 1);
    for (int k = 0; k < run::cases(500); ++k) {
        CAPTURE(k);
        const StraightLine program = random_program(random);
        const Places places = places_of(program);
        REQUIRE(places.place.size() == program.code.size());
        std::int32_t count = 0;
        bool right = true;
        for (std::size_t t = 0; t < program.code.size(); ++t) {
            std::set<std::int32_t> taken; // by earlier values that are needed after t
            for (std::size_t e = 0; e < t; ++e) {
                const auto v = inputs + static_cast<std::int32_t>(e);
                bool needed =
                    std::find(program.outputs.begin(), program.outputs.end(), v) != program.outputs.end();
                for (std::size_t later = t + 1; later < program.code.size(); ++later)
                    for (const std::int32_t operand : operands(program.code[later]))
                        needed = needed || operand == v;
                if (needed) taken.insert(places.place[e]);
            }
            std::int32_t lowest = 0;
            while (taken.contains(lowest)) ++lowest;
            right = right && places.place[t] == lowest;
            count = std::max(count, lowest + 1);
        }
        CHECK(right);
        CHECK(places.count == count);
    }
}

TEST_CASE("roundings") {
    ProgramBuilder b(3);
    const std::int32_t sum = b.add(0, 0);                                     // exact
    const std::int32_t product = b.multiply(sum, 1);                          // 1
    const std::int32_t longer = b.multiply_absolute(product, 1);              // 2
    const std::int32_t power = b.multiply(longer, longer);                    // 5
    const std::int32_t difference = b.nmadd(product, longer, power);          // max(1 + 2, 5) + 1
    const std::int32_t absolute = b.madd_absolute(longer, difference, power); // max(2 + 6, 5) + 1
    const std::int32_t moved = b.add(longer, 0);                              // 3
    const std::int32_t last = b.subtract(moved, absolute);                    // 10
    const std::int32_t both = b.add_absolute(last, moved);                    // 11
    const StraightLine program =
        std::move(b).finish({sum, product, longer, power, difference, absolute, moved, last, both}, 1);
    const double should[] = {0, 1, 2, 5, 6, 9, 3, 10, 11};
    for (std::size_t k = 0; k < std::size(should); ++k) CHECK(roundings_of(program, k) == should[k]);
}

TEST_CASE("traffic of programs done by hand") {
    // Six values, then s = p0 - p1 - p2 - p3 - p4 - p5. Four registers hold p0 .. p2 and the latest.
    const auto differences = [](bool sums) {
        ProgramBuilder b(7);
        std::vector<std::int32_t> p;
        for (std::int32_t k = 0; k < 6; ++k) p.push_back(sums ? b.add(k, k) : b.multiply(k, k + 1));
        std::int32_t s = p[0];
        for (std::size_t k = 1; k < 6; ++k) s = b.subtract(s, p[k]);
        return std::move(b).finish({s}, 6);
    };
    const auto check = [](const Traffic &is, std::int32_t loads, std::int32_t stores, std::int32_t repeated) {
        CHECK(is.loads == loads);
        CHECK(is.stores == stores);
        CHECK(is.repeated == repeated);
    };
    check(traffic_of(differences(false), 4), 2, 2, 0);
    check(traffic_of(differences(false), 5), 1, 1, 0);
    check(traffic_of(differences(false), 6), 0, 0, 0);
    check(traffic_of(differences(true), 4), 0, 0, 2);

    // Outputs wait to the end; a value that is written once is not written again.
    ProgramBuilder b(7);
    std::vector<std::int32_t> p;
    for (std::int32_t k = 0; k < 6; ++k) p.push_back(b.multiply(k, k + 1));
    check(traffic_of(std::move(b).finish(p, 0), 4), 2, 2, 0);
}

TEST_CASE("no traffic where there are enough registers, and some where there are not") {
    Random random(test_seed() + 2);
    for (int k = 0; k < run::cases(500); ++k) {
        CAPTURE(k);
        const StraightLine program = random_program(random);
        const std::int32_t enough = std::max(4, places_of(program).count);
        const Traffic none = traffic_of(program, enough);
        CHECK((none.loads == 0 && none.stores == 0 && none.repeated == 0));
        if (enough == 4) continue;
        const Traffic some = traffic_of(program, enough - 1);
        CHECK(some.loads + some.repeated > 0);
        CHECK(some.stores <= some.loads);
    }
}
