#include "lib/frontier/cost.hpp"

#include "lib/frontier/dense_layout.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/number/combinations.hpp"
#include "lib/number/state_number.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {

double states_after(const FrontierStep &step, FrontierForm form) {
    return form == FrontierForm::sparse ? std::max(1.0, step.states_bound * step.reachable)
                                        : dense_states(step);
}

LeastFrontier least_frontier(const Pattern &a) {
    std::vector<std::size_t> of_column(static_cast<std::size_t>(a.cols), 0);
    for (const std::int32_t j : a.col) ++of_column[static_cast<std::size_t>(j)];
    std::size_t d = *std::min_element(of_column.begin(), of_column.end());
    for (std::int32_t i = 0; i < a.rows; ++i) d = std::min(d, a.row(i).size());
    const double degree = std::min(static_cast<double>(d), 1000.0); // more is beyond double
    return {subsets_of_size(static_cast<int>(d), static_cast<int>(d / 2)), degree * std::exp2(degree - 1)};
}

namespace {

constexpr double row = 1e-6; // of the frontier, whatever its states

// Calls each(states before, states after, pairs that lead somewhere, entries) for all rows of the sparse
// form.
template <class Each> void for_sparse_rows(const FrontierProgram &program, const Each &each) {
    double before = 1, before_bound = 1;
    for (const FrontierStep &step : program.steps) {
        const double after = states_after(step, FrontierForm::sparse);
        each(before, after, std::max(1.0, step.expansions_bound * before / before_bound),
             static_cast<double>(step.terms.size()));
        before = after;
        before_bound = std::max(1.0, step.states_bound);
    }
}

Cost sparse_cost(const FrontierProgram &program, bool nonnegative) {
    constexpr double scan = 1.2e-9;  // a (state, entry) pair looked at
    constexpr double merge = 3.5e-9; // one that leads somewhere, for each pairwise union it goes through
    constexpr double append = 4e-9;  // a state
    Cost cost;
    double peak_candidates = 1;
    cost.peak_states = 1;
    for_sparse_rows(program, [&](double before, double after, double expansions, double degree) {
        cost.operations += expansions;
        cost.states += after;
        cost.peak_states = std::max(cost.peak_states, after);
        peak_candidates = std::max(peak_candidates, before * degree);
        cost.serial_seconds += row + scan * before * degree + append * after +
                               merge * expansions * std::ceil(std::log2(std::max(1.0, degree)));
    });
    cost.serial_seconds += call_seconds;
    cost.bytes = sparse_peak_bytes(cost.peak_states, peak_candidates, sparse_key_words(program), nonnegative);
    return cost;
}

constexpr double dense_expansion(bool nonnegative) { return nonnegative ? 0.9e-9 : 1.4e-9; }
constexpr double dense_state(bool nonnegative) { return nonnegative ? 1.5e-9 : 4e-9; }

// Of a GPU's memory bandwidth, that the states of a row move at; and times that bandwidth, the sources of the
// sums, most of which come from the cache.
constexpr double states_share = 0.5;
constexpr double sources_share(bool nonnegative) { return nonnegative ? 2.5 : 1.5; }

// Entries of a row whose column is free, on average over the dense form's states.
double free_entries(const FrontierStep &step) {
    const double share = 1.0 - static_cast<double>(step.used_before) / std::max(1, step.width_before);
    double sum = 0;
    for (const FrontierTerm &term : step.terms) sum += term.opens ? 1.0 : share;
    return sum;
}

Cost dense_cost(const FrontierProgram &program, bool nonnegative) {
    const double expansion = dense_expansion(nonnegative), state = dense_state(nonnegative);
    constexpr double block = 3e-9;
    constexpr double lists = 3e-8; // a low set of a row's index lists
    Cost cost;
    cost.peak_states = 1;
    const std::vector<DenseShape> shapes = dense_shapes(program);
    for (std::size_t t = 0; t < program.steps.size(); ++t) {
        const FrontierStep &step = program.steps[t];
        const double before = subsets_of_size(step.width_before, step.used_before);
        const double after = states_after(step, FrontierForm::dense);
        const double branches = free_entries(step);
        cost.operations += before * branches;
        cost.states += after;
        cost.peak_states = std::max(cost.peak_states, after);
        const DenseShape &shape = shapes[t];
        cost.serial_seconds += row + expansion * before * branches + state * after + block * shape.blocks +
                               lists * shape.low_sets * (shape.low_terms + 1);
    }
    cost.serial_seconds += call_seconds;
    cost.bytes = dense_peak_bytes(program, nonnegative);
    return cost;
}

} // namespace

FrontierPrice sparse_price() { return {2e-9, 2e-9}; }

FrontierPrice dense_price(bool nonnegative) {
    return {dense_expansion(nonnegative), dense_state(nonnegative)};
}

FrontierPrice dense_price(bool nonnegative, const GpuProperties &gpu) {
    const double byte = static_cast<double>(number_bytes(nonnegative)) / gpu.memory_bandwidth;
    return {byte / sources_share(nonnegative), 2 * byte / states_share};
}

namespace {

Cost sparse_cost(const FrontierProgram &program, bool nonnegative, const GpuProperties &gpu) {
    constexpr double launch = 3e-5; // of a row: its tables, a kernel, and the wait for its report
    constexpr double step = 1e-5;   // of expanding, and of each level of unions
    constexpr double share = 0.3;   // of the memory's bandwidth
    const auto item = static_cast<double>(number_bytes(nonnegative) + 8 * sparse_device_words(program));
    Cost cost = sparse_cost(program, nonnegative);
    double seconds = call_seconds, peak_candidates = 1;
    for_sparse_rows(program, [&](double before, double, double candidates, double degree) {
        const double levels = std::ceil(std::log2(std::max(2.0, degree)));
        seconds += launch + step * (levels + 1) +
                   item * (before * degree + candidates * (1 + 2 * levels)) / (share * gpu.memory_bandwidth);
        peak_candidates = std::max(peak_candidates, candidates);
    });
    cost.compile_seconds = 0.5;
    cost.serial_seconds = cost.compile_seconds + seconds;
    cost.bytes =
        sparse_device_bytes(cost.peak_states, peak_candidates, sparse_device_words(program), nonnegative);
    return cost;
}

Cost dense_cost(const FrontierProgram &program, bool nonnegative, const GpuProperties &gpu) {
    constexpr double launch = 4e-5;              // of a row: its lists, a kernel, and the wait for its extent
    constexpr double block = 5e-11;              // of a table, or a number that names none
    constexpr double begin = 0.35, kernel = 0.1; // of compiling, several at the same time
    const auto number = static_cast<double>(number_bytes(nonnegative));
    Cost cost = dense_cost(program, nonnegative);
    double seconds = call_seconds, before = 1;
    const std::vector<DenseShape> tables = dense_shapes(program);
    for (std::size_t t = 0; t < program.steps.size(); ++t) {
        const FrontierStep &step = program.steps[t];
        const double after = states_after(step, FrontierForm::dense);
        seconds +=
            launch + block * tables[t].blocks +
            number *
                ((before + after) / states_share + before * free_entries(step) / sources_share(nonnegative)) /
                gpu.memory_bandwidth;
        before = after;
    }
    cost.compile_seconds = begin + kernel * static_cast<double>(count_cube_kernels(program, nonnegative));
    cost.serial_seconds = cost.compile_seconds + seconds;
    cost.bytes = dense_device_bytes(program, nonnegative);
    return cost;
}

} // namespace

Cost frontier_cost(const FrontierProgram &program, FrontierForm form, bool nonnegative,
                   const std::optional<GpuProperties> &gpu) {
    switch (form) {
    case FrontierForm::sparse:
        return gpu ? sparse_cost(program, nonnegative, *gpu) : sparse_cost(program, nonnegative);
    case FrontierForm::dense:
        return gpu ? dense_cost(program, nonnegative, *gpu) : dense_cost(program, nonnegative);
    default:
        return gpu ? branches_cost(program, nonnegative, *gpu) : branches_cost(program, nonnegative);
    }
}

Cost sliced_cost(const FrontierProgram &program, FrontierForm form, const std::vector<FrontierSlice> &slices,
                 bool nonnegative, const std::optional<GpuProperties> &gpu) {
    Cost sum;
    for (const FrontierSlice &slice : slices) {
        const Cost one = frontier_cost(slice_of(program, slice), form, nonnegative, gpu);
        sum.states += one.states;
        sum.peak_states = std::max(sum.peak_states, one.peak_states);
        sum.operations += one.operations;
        sum.bytes = std::max(sum.bytes, one.bytes);
        sum.serial_seconds += one.serial_seconds - one.compile_seconds;
    }
    if (gpu) { // once for all
        sum.compile_seconds = frontier_cost(program, form, nonnegative, gpu).compile_seconds;
        sum.serial_seconds += sum.compile_seconds;
    }
    return sum;
}

namespace {

// Of a state's number, to that of a nonnegative double, which needs the least.
double wide_memory(Arithmetic arithmetic, int matrices) {
    return static_cast<double>(number_bytes({arithmetic, false, matrices})) /
           static_cast<double>(number_bytes(true));
}

Pace pace_of(bool on_gpu) {
    return on_gpu ? Pace{2.2, 1.6, 4, 1.2, modular_bits} : Pace{1.8, 2.5, 6, 0.7, residue_bits};
}

} // namespace

// The permanent is about the square root of so many terms.
double expected_runs(std::int32_t n, double terms, bool on_gpu, const Numbers &numbers, double tolerance) {
    // Bits of an entry: of normal deviates; of complex ones |re| + |im| is taken for the absolute value, by
    // which they are thought to lose more than they do.
    constexpr double of_real = -0.32, of_complex = 0.17, unsure_of_complex = 4;
    const bool is_complex = numbers.arithmetic() == Arithmetic::complex;
    const double lost = terms / 2 + (is_complex ? of_complex : of_real) * n + std::log2(3.0 * n);
    if (lost - 53 < std::log2(tolerance) + (is_complex ? unsure_of_complex : 0)) return 1;
    const Pace pace = pace_of(on_gpu);
    return is_complex ? 1 + pace.complex_dd / pace.complex : 1 + pace.dd;
}

Slowdown frontier_slowdown(bool on_gpu, const Numbers &numbers, double bits) {
    const Pace pace = pace_of(on_gpu);
    const Arithmetic arithmetic = numbers.arithmetic();
    Slowdown slowdown = pace.slowdown(numbers, bits);
    if (arithmetic != Arithmetic::real) slowdown.memory = wide_memory(arithmetic, 1);
    if (numbers.precision == Precision::exact && !on_gpu) { // four at once
        const double matrices = std::min(4.0, pace.matrices(numbers, bits));
        slowdown.memory = wide_memory(arithmetic, residue_pass(static_cast<int>(matrices)));
    }
    return slowdown;
}

} // namespace libperm
