#include "jit/kernel/subsets.hpp"

#include "jit/program/tree_program.hpp"

#include <algorithm>

namespace libperm {
const char *subset_engine_name(SubsetEngine engine) {
    switch (engine) {
    case SubsetEngine::shared:
        return "shared";
    case SubsetEngine::dense:
        return "dense";
    case SubsetEngine::purereg:
        return "purereg";
    case SubsetEngine::hybrid:
        return "hybrid";
    case SubsetEngine::tree:
        return "tree";
    }
    return "?";
}

const char *summation_name(Summation summation) {
    switch (summation) {
    case Summation::plain:
        return "plain";
    case Summation::kahan:
        return "kahan";
    case Summation::dq:
        return "dq";
    }
    return "?";
}

KernelColumns columns_of(const SubsetKernel &kernel) {
    KernelColumns columns{kernel.column_ptr, kernel.row};
    if (kernel.engine != SubsetEngine::dense) return columns;
    for (std::int32_t j = 0; j <= kernel.n; ++j) columns.column_ptr.push_back(std::int64_t{j} * kernel.n);
    for (std::int32_t e = 0; e < kernel.n * kernel.n; ++e) columns.row.push_back(e % kernel.n);
    return columns;
}

const char *walk_entry(const SubsetKernel &kernel) { return kernel.again ? refined_entry : gray_entry; }

bool refines(const SubsetKernel &kernel) {
    const bool by_split = kernel.arithmetic == Arithmetic::two_grids && kernel.engine == SubsetEngine::tree;
    return (kernel.arithmetic == Arithmetic::real || by_split) && !kernel.equal_chunks;
}

std::int64_t entry_count(const SubsetKernel &kernel) {
    return kernel.engine == SubsetEngine::dense ? std::int64_t{kernel.n} * kernel.n
                                                : static_cast<std::int64_t>(kernel.row.size());
}

std::int64_t value_count(const SubsetKernel &kernel) {
    return kernel.engine == SubsetEngine::tree ? value_count(kernel.tree) : kernel.n + entry_count(kernel);
}

bool rows_in_shared(const SubsetKernel &kernel) {
    // Doubles that leave room for a program's values.
    const int parts = row_parts_of(kernel.arithmetic), few = parts_of(kernel.arithmetic) == 1 ? 80 : 48;
    return kernel.engine == SubsetEngine::tree && parts > 1 && parts * kernel.n > few;
}

std::size_t shared_bytes(const SubsetKernel &kernel, int threads) {
    const auto n = static_cast<std::size_t>(kernel.n);
    const std::size_t number = static_cast<std::size_t>(row_parts_of(kernel.arithmetic)) * sizeof(double);
    if (kernel.engine == SubsetEngine::dense) return n * (n + n % 2) * number;
    if (rows_in_shared(kernel)) return n * static_cast<std::size_t>(kernel.threads) * number;
    if (kernel.engine != SubsetEngine::shared) return 0;
    const std::size_t nnz = kernel.row.size();
    return (nnz + n * static_cast<std::size_t>(threads)) * number + (n + 1 + nnz) * sizeof(int);
}

int threads_of_rows(const SubsetKernel &kernel) {
    constexpr std::size_t most_bytes = 96 << 10; // that nearly all GPUs give a block
    int threads = kernel.threads;
    const std::size_t rows = shared_bytes(kernel, threads) / static_cast<std::size_t>(threads);
    while (threads > 32 && rows * static_cast<std::size_t>(threads) > most_bytes) threads /= 2;
    return threads;
}

int accurate_threads(const SubsetKernel &kernel) { return 1 << std::min(kernel.segment_bits, 6); }

std::int64_t global_rows(const SubsetKernel &kernel) {
    return kernel.engine == SubsetEngine::hybrid ? kernel.n - kernel.k : 0;
}

} // namespace libperm
