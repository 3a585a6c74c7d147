// Tapes on a device: the kernel played on the host, and on a GPU where there is one. The same bits as on the
// CPU.
#include "bench/families.hpp"
#include "jit/compile/nvrtc.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/kernel/tape.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"
#include "lib/run/call.hpp"
#include "lib/run/gpu_device.hpp"
#include "lib/tape/on_device.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/ptxas.hpp"
#include "tests/support/run.hpp"
#include "tests/support/tape_of.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>

using namespace libperm;
namespace families = perm::families;

namespace {

std::uint64_t test_seed() { return run::seed(0x74617065); }

constexpr double infinity = std::numeric_limits<double>::infinity();

// `count` matrices of one random pattern.
struct Case {
    Pattern pattern;
    bool complex = false;
    std::size_t doubles = 0; // of a matrix
    std::vector<double> values;

    Case(families::Random &random, std::int32_t n, bool complex_values, bool nonnegative, int count)
        : complex(complex_values) {
        pattern.rows = pattern.cols = n;
        for (std::int32_t i = 0; i < n; ++i) {
            for (std::int32_t j = 0; j < n; ++j)
                if (i == j || random.uniform() < 0.5) pattern.col.push_back(j);
            pattern.row_ptr.push_back(static_cast<std::int64_t>(pattern.col.size()));
        }
        doubles = pattern.col.size() * (complex ? 2 : 1);
        values.resize(doubles * static_cast<std::size_t>(count));
        for (double &x : values) x = nonnegative ? random.uniform() : 2 * random.uniform() - 1;
    }
    std::span<double> matrix(std::size_t k) { return std::span(values).subspan(k * doubles, doubles); }

    std::unique_ptr<const TapePlan> direct() const {
        InputPattern input;
        input.pattern = pattern;
        input.value_type = complex ? PERM_VALUE_C128 : PERM_VALUE_F64;
        return tape_of(input);
    }
};

bool same(const Scaled &x, const Scaled &y) {
    return std::bit_cast<std::uint64_t>(x.mantissa) == std::bit_cast<std::uint64_t>(y.mantissa) &&
           x.exp2 == y.exp2;
}

int compared = 0;

void check_same(DeviceQueue &queue, const Case &matrices, bool dd) {
    const std::unique_ptr<const TapePlan> direct = matrices.direct();
    REQUIRE(direct);
    REQUIRE(fits_device(*direct, dd, 64 << 10));
    std::vector<std::int64_t> which(matrices.values.size() / matrices.doubles);
    std::iota(which.rbegin(), which.rend(), 0); // any order
    const MatrixList list{matrices.values.data(), static_cast<std::int64_t>(matrices.doubles), which};
    std::vector<TapeAnswer> there(list.size());
    std::vector<char> done(list.size(), 0);
    TapeOnDevice tape(queue, *direct, dd,
                      2 * matrices.doubles * sizeof(double)); // each stage is used again
    tape.run(
        list, [](std::size_t) {},
        [&](std::size_t k, const TapeAnswer &answer) {
            there[k] = answer;
            ++done[k];
        });
    for (std::size_t k = 0; k < list.size(); ++k) {
        CAPTURE(k);
        TapeAnswer here;
        const void *const values = list[k];
        const bool finite = direct->run({&values, 1}, dd, &here);
        REQUIRE(done[k] <= 1);
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
                Case matrices(random, n, complex, nonnegative, 10);
                matrices.matrix(1).front() = 0;
                matrices.matrix(2).back() = infinity;
                for (double &x : matrices.matrix(3))
                    x = static_cast<double>(random.integer(nonnegative ? 0 : -3, 3));
                for (double &x : matrices.matrix(4)) x *= random.uniform() < 0.5 ? 0x1p900 : 0x1p-900;
                for (double &x : matrices.matrix(5)) x *= 0x1p-1030; // subnormal, some rows altogether
                for (double &x : matrices.matrix(6)) x = std::copysign(0x1.8p1023, x);
                for (double &x : matrices.matrix(7)) x = std::copysign(0x1p-1021, x);
                for (double &x : matrices.matrix(8))
                    x *= std::ldexp(1, static_cast<int>(random.integer(-60, 60)));
                matrices.matrix(9).back() = std::numeric_limits<double>::quiet_NaN();
                for (const bool dd : {false, true}) check_same(queue, matrices, dd);
            }
}

} // namespace

TEST_CASE("a tape in slices has the tape's moves, in their order") {
    families::Random random(test_seed());
    int moves = 0;
    for (int round = 0; round < 20; ++round) {
        const Case matrices(random, static_cast<std::int32_t>(random.integer(1, 9)), false, true, 1);
        const std::optional<Tape> tape =
            make_tape(tape_program({matrices.pattern}, find_tape_order({matrices.pattern}, 0)),
                      matrices.pattern, 1 << 20);
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

TEST_CASE("plans for a GPU have a tape, though starting one takes longer than the tape") {
    std::ifstream file(std::filesystem::path(PERM_TEST_SOURCE_DIR) / "../docs/machines/h200.json");
    std::stringstream machine;
    machine << file.rdbuf();
    const std::string text = machine.str();
    perm_opts opts = PERM_OPTS_INIT;
    opts.machine = text.c_str();
    opts.device = "gpu";
    const Options options = read_options(&opts);
    families::Random random(test_seed());
    InputPattern input;
    input.pattern = Case(random, 16, false, true, 1).pattern;
    CurrentCall control(options);
    Plan plan = make_plan(input, options, {});
    TapePlan::order(plan);
    CHECK(TapePlan::of(plan));
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

TEST_CASE("played on the host, states that do not fit the shared memory: the bits of the CPU") {
    HostQueue queue;
    queue.device.shared_bytes = 3 << 10;
    int in_memory = 0;
    queue.before_launch = [&](const HostLaunch &launch) {
        in_memory += launch.entry.ends_with("_in_memory") ? 1 : 0;
    };
    compared = 0;
    try {
        check_all(queue, 9);
    } catch (const JitError &) {
        return; // no compiler: announced
    }
    CHECK(queue.is_whole());
    CHECK(compared > 30);
    CHECK(in_memory > 5);
}

TEST_CASE("on a GPU: the bits of the CPU") {
    const GpuChoice choice = first_gpu();
    if (!choice.gpu) return run::skip("no GPU: " + choice.why_not);
    GpuQueue queue(choice.gpu, {});
    check_all(queue, 12);
    check_all(queue, 16); // states of complex numbers of twice the precision: 0.5 MB
    CHECK(compared > 30);
}

TEST_CASE("NVRTC compiles the kernels without a spilled register") {
    if (!nvrtc_status().found) return run::skip(nvrtc_status().why_not);
    const auto check = [](Arithmetic arithmetic, bool magnitudes, bool in_memory) {
        CAPTURE(arithmetic_name(arithmetic));
        const KernelRecipe recipe =
            tape_kernel({arithmetic, magnitudes, in_memory}, tape_most_threads(arithmetic));
        const Compiled compiled = compile(recipe.source(), "sm_90", recipe.flags);
        for (const PtxasReport &report : read_ptxas(compiled.log)) {
            CHECK(report.spill_stores == 0);
            CHECK(report.kernel == recipe.entries.front());
        }
    };
    check(Arithmetic::real, false, false);
    check(Arithmetic::real, false, true);
    for (const Arithmetic arithmetic :
         {Arithmetic::real, Arithmetic::complex, Arithmetic::dd, Arithmetic::complex_dd})
        for (const bool in_memory : {false, true}) check(arithmetic, true, in_memory);
}
