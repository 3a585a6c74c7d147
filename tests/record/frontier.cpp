#include "tests/record/host.hpp"

#include "lib/frontier/on_device.hpp"
#include "lib/input/matrix.hpp"
#include "lib/run/call.hpp"
#include "lib/tape/on_device.hpp"
#include "preprocess/scaling.hpp"
#include "tests/record/outcome_text.hpp"
#include "tests/record/played.hpp"
#include "tests/support/tape_of.hpp"
#include "tests/support/wide_cases.hpp"

#include <numeric>

using namespace libperm;
using wide::at;
using wide::Budgets;
using wide::Case;
using wide::Random;

namespace {

// ---------------------------------------------------------------- the frontier

struct Named {
    const char *name;
    wide::Entries entries;
    Arithmetic arithmetic;
};
constexpr Named all_numbers[] = {{"nonnegative", wide::Entries::nonnegative, Arithmetic::real},
                                 {"signed", wide::Entries::real, Arithmetic::real},
                                 {"complex", wide::Entries::complex, Arithmetic::complex},
                                 {"dd", wide::Entries::thirds, Arithmetic::dd},
                                 {"dd_signed", wide::Entries::cancelling, Arithmetic::dd},
                                 {"complex_dd", wide::Entries::complex, Arithmetic::complex_dd},
                                 {"far_apart", wide::Entries::far_apart, Arithmetic::complex_dd},
                                 {"residues", wide::Entries::real, Arithmetic::modular}};

Case case_of(const Named &numbers, std::int64_t n, double density, bool repeated) {
    Random random(at(n));
    Case c = wide::make_case(n, density, numbers.entries, repeated, wide::Order::searched, random);
    if (numbers.arithmetic == Arithmetic::modular) wide::make_integer(c, 60);
    return c;
}

Block rounded_block(const ExactBlock &block) {
    Block rounded{block.pattern, {}};
    for (const Gaussian &x : block.values) rounded.values.push_back(tracked(x.re.get_d()));
    (void)scale(rounded);
    return rounded;
}

// `room`: of the sparse form's lists at first.
std::string frontier_text(HostQueue &queue, const Case &c, Arithmetic arithmetic, FrontierForm form,
                          double room) {
    Budgets b;
    const auto run_on = [&](const FrontierInput &input) {
        const FrontierRun run{input, c.program, b.memory, 1};
        return form == FrontierForm::sparse ? run_sparse_frontier_on(queue, run, room)
                                            : run_dense_frontier_on(queue, run, {});
    };
    if (arithmetic == Arithmetic::real) {
        const Block block = rounded_block(c.block);
        return outcome_text(run_on(block));
    }
    if (arithmetic == Arithmetic::modular) {
        const Residues residues = wide::residues_of(c.block, wide::primes_below(modular_bits, 2));
        const EngineResult result = run_on(residues);
        const auto &permanents = std::get<ResidueVector>(result.value);
        return fmt::format("residues={},{} {}", permanents[0], permanents[1], outcome_text(result));
    }
    const WideEntries entries = wide_entries(c.block, arithmetic);
    return outcome_text(run_on(entries));
}

double dense_bytes(const Case &c, const Named &numbers) {
    if (numbers.arithmetic != Arithmetic::real) return dense_device_bytes(c.program, numbers.arithmetic);
    return dense_device_bytes(c.program, is_nonnegative(rounded_block(c.block)));
}

void record_numbers(RecordLines &to, HostQueue &queue, const Named &numbers) {
    struct Shape {
        std::int64_t n;
        double density;
        bool repeated;
    };
    for (const Shape &s : {Shape{6, 0.5, false}, Shape{10, 0.35, false}, Shape{14, 0.4, false}}) {
        const Case c = case_of(numbers, s.n, s.density, s.repeated);
        record_on(to, fmt::format("frontier/{}/dense/n{}", numbers.name, s.n), queue, [&](HostQueue &q) {
            return frontier_text(q, c, numbers.arithmetic, FrontierForm::dense, 0);
        });
    }
    for (const Shape &s : {Shape{7, 0.5, false}, Shape{11, 0.3, false}, Shape{12, 0.4, true}})
        for (const double room : {0.0, sparse_device_room}) {
            const Case c = case_of(numbers, s.n, s.density, s.repeated);
            const char *const how = room == 0 ? "counted" : "roomy";
            record_on(to, fmt::format("frontier/{}/sparse/n{}/{}", numbers.name, s.n, how), queue,
                      [&](HostQueue &q) {
                          return frontier_text(q, c, numbers.arithmetic, FrontierForm::sparse, room);
                      });
        }
}

// On a device that has less memory than the tables need.
void record_slices(RecordLines &to, const Named &numbers) {
    const Case c = case_of(numbers, 15, 0.45, false);
    const double needed = dense_bytes(c, numbers);
    for (const double share : {0.95, 0.8}) {
        HostQueue tight(static_cast<std::int64_t>(share * needed));
        record_on(
            to, fmt::format("frontier/{}/slices/{:.2f}", numbers.name, share), tight,
            [&](HostQueue &q) { return frontier_text(q, c, numbers.arithmetic, FrontierForm::dense, 0); });
    }
}

// ---------------------------------------------------------------- tapes

// `count` matrices of one random pattern, with the tape of their plan.
struct Tapes {
    InputPattern input;
    std::size_t doubles = 0; // of a matrix
    std::vector<double> values;

    Tapes(std::int64_t n, bool complex, bool nonnegative, int count) {
        Random random(at(n));
        const perm::Csr a = perm::families::permutation_plus(n, 3, perm::families::Entries::ones, at(n));
        const perm_csr view = a.view();
        input = read_pattern(&view);
        if (complex) input.value_type = PERM_VALUE_C128;
        doubles = a.values.size() * (complex ? 2 : 1);
        values.resize(doubles * at(count));
        for (std::size_t k = 0; k < values.size(); ++k) {
            values[k] = random.uniform(nonnegative ? 0 : -1, 1);
            const std::size_t matrix = k / doubles;
            if (matrix == 1) values[k] = std::round(4 * values[k]);
            if (matrix == 2) values[k] = std::ldexp(values[k], k % 2 == 0 ? 900 : -900);
            if (matrix == 3) values[k] = std::ldexp(values[k], -1030);
        }
    }

    std::unique_ptr<const TapePlan> direct() const { return tape_of(input); }
};

std::string tape_text(HostQueue &queue, const Tapes &matrices, bool dd) {
    const std::unique_ptr<const TapePlan> direct = matrices.direct();
    std::vector<std::int64_t> which(matrices.values.size() / matrices.doubles);
    std::iota(which.begin(), which.end(), 0);
    std::vector<std::string> answers(which.size(), "not finite");
    TapeOnDevice tape(queue, *direct, dd, 2 * matrices.doubles * sizeof(double));
    tape.run(
        {matrices.values.data(), static_cast<std::int64_t>(matrices.doubles), which}, [](std::size_t) {},
        [&](std::size_t k, const TapeAnswer &x) {
            answers[k] =
                fmt::format("{},{} {},{} {},{} {}", bits_of(x.re.mantissa), x.re.exp2, bits_of(x.im.mantissa),
                            x.im.exp2, bits_of(x.error.mantissa), x.error.exp2, x.exact);
        });
    std::string text;
    for (const std::string &answer : answers) text += "[" + answer + "] ";
    return text;
}

} // namespace

void record_frontier(RecordLines &to) {
    HostQueue queue;
    for (const Named &numbers : all_numbers) {
        record_numbers(to, queue, numbers);
        record_slices(to, numbers);
    }
}

void record_tapes(RecordLines &to) {
    HostQueue queue;
    for (const bool complex : {false, true})
        for (const bool nonnegative : {true, false})
            for (const std::int64_t n : {2, 5, 9}) {
                const Tapes matrices(n, complex, nonnegative, 7);
                for (const bool dd : {false, true})
                    record_on(to,
                              fmt::format("tape/n{}/{}/{}/{}", n, complex ? "complex" : "real",
                                          nonnegative ? "nonnegative" : "signed", dd ? "dd" : "double"),
                              queue, [&](HostQueue &q) { return tape_text(q, matrices, dd); });
            }
}
