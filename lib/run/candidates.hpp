// One engine's way to compute a block: what is known of the block's values, what the way costs, and the
// plan that it follows.
#pragma once

#include "jit/number/arithmetic.hpp"
#include "lib/input/engine.hpp"
#include "lib/number/precision.hpp"
#include "preprocess/repeated_lines.hpp"

#include <cstdint>
#include <memory>
#include <perm.h>
#include <span>
#include <string>
#include <vector>

namespace libperm {

struct Structure;

// What is known of a block's values: whether none is negative, whether some may have more than 24 bits, and
// what computes with them.
struct BlockValues {
    bool nonnegative = false, may_be_long = true;
    Numbers numbers;
    double entry_bits = 0;                // exact: of an integer entry, on average over the rows
    const Structure *structure = nullptr; // of the block, if it was looked for
};

// What a way to compute a block is expected to take, in seconds of one thread and in bytes. The constants of
// the engines (lib/frontier/cost.cpp, lib/subsets/propose.cpp, lib/ryser/engine.cpp) were measured on one
// machine (docs/benchmarks.md) and are part of the plan's definition: they never depend on the machine at
// hand, so that the same pattern gives the same plan everywhere. What a GPU takes follows from what its
// driver says of it.

struct Cost {
    double subsets = 0;                 // of a sum over them
    double states = 0, peak_states = 0; // over all rows, and after the worst row
    std::int64_t bytes_per_state = 0;   // in a list or in a table
    double operations = 0;              // multiply-adds
    double bytes = 0;
    double bytes_of_matrix =
        0; // of these, of one matrix of residues; as many at the same time as there is room for
    double compile_seconds = 0; // of these: for a kernel that is not there yet
    double serial_seconds = 0;  // on one thread, or on the GPU
};

constexpr double call_seconds = 2e-5; // before and after any engine's work

double seconds_on(int threads, double serial_seconds);

// How many times what it takes in doubles.
struct Slowdown {
    double time = 1, memory = 1;
};

// How many times longer an engine takes in each arithmetic, of residues for one matrix; and of its primes the
// bits.
struct Pace {
    double complex, dd, complex_dd, residues;
    int prime_bits = 0;

    double of(Arithmetic a) const;
    // Matrices modulo primes that a permanent of so many bits takes, two for each prime of Gaussian integers.
    double matrices(const Numbers &numbers, double bits) const;
    // `bits`: of the permanent, if it is to be exact.
    Slowdown slowdown(const Numbers &numbers, double bits) const;
};

// One way to compute a block, and what that would take.

struct Options;
struct Residues;
struct Structure;

// How an engine does it: each has its own, which all others only pass on.
class EnginePlan {
  public:
    EnginePlan() = default;
    EnginePlan(const EnginePlan &) = default;
    EnginePlan(EnginePlan &&) = default;
    EnginePlan &operator=(const EnginePlan &) = default;
    EnginePlan &operator=(EnginePlan &&) = default;
    virtual ~EnginePlan() = default;
    virtual std::int64_t bytes() const { return 0; } // where they grow with the block
    // The entries of the block that its residues are given of, ascending; none: all.
    virtual std::span<const std::int64_t> entries_read() const { return {}; }
    // Whether it can divide by what it must modulo the prime of this matrix.
    virtual bool is_fit(const Residues &, std::size_t) const { return true; }
    // Whether it computes blocks of this structure, where structures that count as equal differ.
    virtual bool is_for(const Structure &) const { return true; }
    virtual double matrix_products() const {
        return 0;
    } // of numbers, where a piece is one matrix of residues
};

// How it cuts its work on a block into pieces that know nothing of each other: in its own way, too.
class EngineCut {
  public:
    EngineCut() = default;
    EngineCut(const EngineCut &) = default;
    EngineCut(EngineCut &&) = default;
    EngineCut &operator=(const EngineCut &) = default;
    EngineCut &operator=(EngineCut &&) = default;
    virtual ~EngineCut() = default;
    virtual std::size_t pieces() const = 0; // 1 or more
};

// What a plan that was saved is made again from.
struct PlanSource {
    const Pattern &a, &at; // the block and its transpose
    const LineClasses &kinds;
    const Structure &structure;
    const Numbers &numbers;
    const Options &options;
};

struct Candidate {
    Engine engine = Engine::none;
    int form = 0; // among those of its engine
    bool transposed = false, on_gpu = false;
    std::shared_ptr<const EnginePlan> plan; // null: it is of no use any more
    std::shared_ptr<const EngineCut> cut;   // null: it is run whole
    Cost cost;
    double seconds = 0;       // on the plan's threads
    double expected_runs = 1; // times its own, with those that are expected to follow; for the choice
    bool lacks_gpu = false;   // refused for that alone
    bool at_least = false;    // the cost is a lower bound, found without a search
    bool second = false;      // may be tried when the first answer is less accurate than asked for
    perm_status refusal = PERM_OK;
    std::string why_not; // if refused: by how much, and what would help
};

// A candidate in other numbers than were planned. Its cost stands as it was, so that progress is counted as
// planned.
struct Wider {
    Candidate candidate;
    Arithmetic arithmetic;
    double slowdown; // times what the planned ones take
    bool may_meet;   // the tolerance
};

struct KernelSource {
    std::string text;
    std::string why_not; // empty: there is one
};

// As the engine's own plan is; null if it is another's, or gone.
template <class Plan> const Plan *plan_as(const Candidate &c) {
    return dynamic_cast<const Plan *>(c.plan.get());
}

// A step is a subset summed, or a multiply-add on states: a run's progress is counted in these.
double seconds_per_step(const Candidate &c);

const EngineForm *form_facts(const Candidate &c); // null: its engine has but one
inline std::size_t pieces_of(const Candidate &c) { return c.cut ? c.cut->pieces() : 1; }
std::string name_of(const Candidate &c); // with its form and slices, "engine (form, 16 slices)"

// What its cost comes to on the threads or GPUs of the options.
double predicted_seconds(const Candidate &c, const Options &options);

// What its time counts for in the choice; of compiling a quarter, as kernels are kept. One thread's time: the
// choice, and so the result's bits, must not depend on the number of threads. Sums over subsets cancel where
// the frontier's do not, so these have to be faster, by more than nobody minds.
double weight(const Candidate &c);

} // namespace libperm
