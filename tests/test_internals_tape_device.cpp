// Tapes on a device: the kernel played on the host, and on a GPU where there is one. The same bits as on the
// CPU.
#include "bench/families.hpp"
#include "jit/gpu_queue.hpp"
#include "jit/jit_error.hpp"
#include "jit/tape_kernel.hpp"
#include "lib/gpu_device.hpp"
#include "lib/matrix.hpp"
#include "lib/tape_on_device.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <limits>

using namespace libperm;
namespace families = perm::families;

namespace {

std::uint64_t test_seed() { return run::seed(0x74617065); }

constexpr double infinity = std::numeric_limits<double>::infinity();

// `count` matrices of one random pattern.
struct Case {
    Pattern pattern;
    bool complex = false;
    std::vector<std::vector<double>> values;

    Case(families::Random &random, std::int32_t n, bool complex_values, bool nonnegative, int count)
        : complex(complex_values) {
        pattern.rows = pattern.cols = n;
        for (std::int32_t i = 0; i < n; ++i) {
            for (std::int32_t j = 0; j < n; ++j)
                if (i == j || random.uniform() < 0.5) pattern.col.push_back(j);
            pattern.row_ptr.push_back(static_cast<std::int64_t>(pattern.col.size()));
        }
        for (int k = 0; k < count; ++k) {
            values.emplace_back(pattern.col.size() * (complex ? 2 : 1));
            for (double &x : values.back()) x = nonnegative ? random.uniform() : 2 * random.uniform() - 1;
        }
    }

    std::unique_ptr<const Direct> direct() const {
        InputPattern input;
        input.pattern = pattern;
        input.value_type = complex ? PERM_VALUE_C128 : PERM_VALUE_F64;
        Options options;
        options.device = Device::cpu;
        options.memory_limit = std::int64_t{1} << 30;
        RunControl control(options);
        Plan plan = make_plan(input, options, {}, control);
        Direct::order(plan, control);
        return Direct::of(plan, control);
    }
    std::vector<const void *> addresses() const {
        std::vector<const void *> all;
        for (const auto &matrix : values) all.push_back(matrix.data());
        return all;
    }
};

bool same(const Scaled &x, const Scaled &y) {
    return std::bit_cast<std::uint64_t>(x.mantissa) == std::bit_cast<std::uint64_t>(y.mantissa) &&
           x.exp2 == y.exp2;
}

int compared = 0;

void check_same(DeviceQueue &queue, const Case &matrices) {
    const std::unique_ptr<const Direct> direct = matrices.direct();
    REQUIRE(direct);
    REQUIRE(fits_device(*direct, 64 << 10));
    const std::vector<const void *> addresses = matrices.addresses();
    std::vector<DirectAnswer> there(addresses.size());
    std::vector<char> done(addresses.size(), 0);
    run_on(
        queue, *direct, addresses, [](std::size_t) {},
        [&](std::size_t k, const DirectAnswer &answer) {
            there[k] = answer;
            done[k] = 1;
        });
    for (std::size_t k = 0; k < addresses.size(); ++k) {
        CAPTURE(k);
        DirectAnswer here;
        const bool finite = direct->run(std::span(addresses).subspan(k, 1), false, &here);
        REQUIRE(finite == (done[k] != 0));
        if (!finite) continue;
        CHECK(same(there[k].re, here.re));
        CHECK(same(there[k].im, here.im));
        CHECK(same(there[k].error, here.error));
        CHECK(there[k].exact == here.exact);
        ++compared;
    }
}

void check_all(DeviceQueue &queue, int most) {
    families::Random random(test_seed());
    for (const bool complex : {false, true})
        for (const bool nonnegative : {true, false})
            for (const std::int32_t n : {1, 2, 5, most}) {
                CAPTURE(n);
                CAPTURE(complex);
                CAPTURE(nonnegative);
                Case matrices(random, n, complex, nonnegative, 5);
                matrices.values[1].front() = 0;
                matrices.values[2].back() = infinity;
                for (double &x : matrices.values[3])
                    x = static_cast<double>(random.integer(nonnegative ? 0 : -3, 3));
                check_same(queue, matrices);
            }
}

} // namespace

TEST_CASE("a tape in slices has the tape's moves, in their order") {
    families::Random random(test_seed());
    int moves = 0;
    for (int round = 0; round < 20; ++round) {
        const Case matrices(random, static_cast<std::int32_t>(random.integer(1, 9)), false, true, 1);
        const std::optional<Tape> tape = make_tape(matrices.pattern, 1 << 20, 0, [] {});
        REQUIRE(tape);
        const SlicedTape slices = sliced(*tape);
        std::size_t real = 0;
        for (const std::uint32_t move : slices.moves) real += (move & 0xffff) != tape->nnz;
        CHECK(real == tape->moves.size());
        CHECK(slices.row.size() == static_cast<std::size_t>(tape->n) + 1);
        moves += static_cast<int>(real);
    }
    CHECK(moves > 0);
}

TEST_CASE("played on the host: the bits of the CPU") {
    HostQueue queue;
    try {
        check_all(queue, 9);
    } catch (const JitError &) {
        return; // no compiler: announced
    }
    CHECK(queue.is_whole());
    CHECK(compared > 30);
}

TEST_CASE("on a GPU: the bits of the CPU") {
    const GpuChoice choice = first_gpu();
    if (!choice.gpu) return run::skip("no GPU: " + choice.why_not);
    GpuQueue queue(choice.gpu, {});
    check_all(queue, 12);
    CHECK(compared > 30);
}
