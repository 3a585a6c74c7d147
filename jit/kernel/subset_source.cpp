#include "jit/kernel/subset_source.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/kernel/tree.hpp"
#include "jit/program/tree.hpp"
#include "jit/text/text.hpp"

namespace libperm {
namespace {

// A line for each column: its rows.
std::string columns_text(const SubsetKernel &kernel) {
    std::string text;
    for (std::size_t j = 0; j + 1 < kernel.column_ptr.size(); ++j) {
        text += formatted("column {}:", j);
        for (auto e = kernel.column_ptr[j]; e < kernel.column_ptr[j + 1]; ++e)
            text += formatted(" {}", kernel.row[static_cast<std::size_t>(e)]);
        text += '\n';
    }
    return text;
}

std::string as_comment(const std::string &lines) {
    std::string text;
    std::size_t from = 0;
    while (from < lines.size()) {
        const std::size_t end = lines.find('\n', from);
        text += "//   " + lines.substr(from, end - from) + "\n";
        from = end + 1;
    }
    return text;
}

template <class Numbers> std::string array_text(const char *name, const Numbers &numbers) {
    std::string text = formatted("__device__ const int {}[] = {{", name);
    for (std::size_t k = 0; k < numbers.size(); ++k)
        text += formatted("{}{}", k == 0 ? "" : k % 24 == 0 ? ",\n    " : ", ", numbers[k]);
    return text + "};\n";
}

const char *what_it_does(SubsetEngine engine) {
    static constexpr const char *texts[] = {
        "x and A in shared memory (GPU-SparsePerman)", "x in registers, A in shared memory, for this n alone",
        "x in registers, code for each column (CodeGen-PureReg)",
        "the first k rows in registers, the others in global memory (CodeGen-Hybrid)",
        "x in registers, common factors and products kept (jit/program/tree.hpp)"};
    return texts[static_cast<std::size_t>(engine)];
}

std::string pattern_text(const SubsetKernel &kernel) {
    return array_text("pattern_column_ptr", kernel.column_ptr) + array_text("pattern_row", kernel.row) + "\n";
}

std::string rows_text(const SubsetKernel &kernel) {
    switch (kernel.engine) {
    case SubsetEngine::dense:
        return rows_dense_cuh;
    case SubsetEngine::shared:
        return pattern_text(kernel) + rows_shared_cuh;
    case SubsetEngine::tree:
        return rows_in_shared(kernel) ? pattern_text(kernel) + tree_text(kernel) : tree_text(kernel);
    default:
        return registers_text(kernel);
    }
}

// The names that the walk takes for granted.
std::string types_text(const SubsetKernel &kernel) {
    static constexpr const char *terms[] = {"PlainTerms", "KahanTerms", "TwofoldTerms"};
    return formatted("typedef {} Arith;\ntypedef Arith::Number Number;\ntypedef Arith::Row Row;\n"
                     "typedef PartialOf<Arith> Partial;\n"
                     "typedef {}<Arith> Terms;\n\n",
                     arithmetic_type(kernel.arithmetic), terms[static_cast<std::size_t>(kernel.summation)]);
}

std::string walk_text(const SubsetKernel &kernel) {
    const bool by_parameter = values_by_parameter(kernel), is_tree = kernel.engine == SubsetEngine::tree,
               is_hybrid = kernel.engine == SubsetEngine::hybrid;
    const char *const values = by_parameter ? "const __grid_constant__ Values v"
                               : is_tree    ? "const Values *values"
                                            : "const Number *values";
    std::string body = (is_tree ? rows_in_shared(kernel) : !by_parameter) ? shared_memory_text : "";
    if (is_tree)
        body += formatted("    Rows rows({}{});\n    walk_tree(rows, launch, partials);\n",
                          by_parameter ? "v" : "*values", rows_in_shared(kernel) ? ", shared_memory" : "");
    else
        body +=
            formatted("{}    {}(rows, launch, partials);\n",
                      !by_parameter ? "    Rows rows;\n    rows.start(values, shared_memory);\n"
                      : is_hybrid   ? "    Rows rows(v, global_x + static_cast<u64>(blockIdx.x) * (n - k) * "
                                      "threads + threadIdx.x);\n"
                                    : "    Rows rows(v);\n",
                      kernel.equal_chunks ? "walk_equally" : "walk_segments");
    return entry_text(
        walk_entry(kernel), formatted("{}, 1", kernel.threads),
        formatted("{}, Launch launch, Number *{}, Partial *partials", values, is_hybrid ? "global_x" : ""),
        body);
}

} // namespace

bool values_by_parameter(const SubsetKernel &kernel) {
    if (kernel.engine == SubsetEngine::tree) return parameter_bytes(kernel) <= most_parameter_bytes;
    return kernel.engine == SubsetEngine::purereg || kernel.engine == SubsetEngine::hybrid;
}

std::int64_t parameter_count(const SubsetKernel &kernel) {
    return kernel.engine == SubsetEngine::tree ? tree_parameter_count(kernel) : value_count(kernel);
}

std::vector<double> parameters_of(const SubsetKernel &kernel, const std::vector<double> &values) {
    return kernel.engine == SubsetEngine::tree ? tree_parameters(kernel, values) : values;
}

std::int64_t parameter_bytes(const SubsetKernel &kernel) {
    return 8 * (parameter_count(kernel) * row_parts_of(kernel.arithmetic) +
                doubles_of_its_own(kernel.arithmetic));
}

std::string key_of(const SubsetKernel &kernel) {
    std::string key =
        formatted("generator {}\nengine {}\narithmetic {}\nchunks {}\nn {}\nsegment_bits {}\nunrolled "
                  "{}\nthreads {}\n",
                  generator_digest, subset_engine_name(kernel.engine), arithmetic_name(kernel.arithmetic),
                  kernel.equal_chunks ? "equal" : "ceg", kernel.n, kernel.segment_bits, kernel.unrolled,
                  kernel.threads);
    if (kernel.again) key += "again\n";
    if (kernel.summation != Summation::plain)
        key += formatted("summation {}\n", summation_name(kernel.summation));
    if (kernel.engine == SubsetEngine::hybrid) key += formatted("k {}\nc {}\n", kernel.k, kernel.c);
    if (kernel.engine == SubsetEngine::tree)
        key += "tree " + shape_text(kernel.tree.root) + (kernel.tree.derivative ? ", derivatives\n" : "\n");
    if (kernel.engine != SubsetEngine::dense) key += columns_text(kernel);
    return key;
}

std::string source_of(const SubsetKernel &kernel) {
    std::string text =
        formatted("// libperm, engine {}: {}.\n"
                  "// One kernel for all matrices of this {}; their values come with the launch. Its "
                  "key:\n//\n{}\n"
                  "[[maybe_unused]] constexpr int n = {}, entries = {}, segment_bits = {}, unrolled = {};\n",
                  subset_engine_name(kernel.engine), what_it_does(kernel.engine),
                  kernel.engine == SubsetEngine::dense ? "order" : "pattern", as_comment(key_of(kernel)),
                  kernel.n, entry_count(kernel), kernel.segment_bits, kernel.unrolled);
    if (kernel.engine == SubsetEngine::hybrid)
        text += formatted("[[maybe_unused]] constexpr int k = {}, c = {}, threads = {};\n", kernel.k,
                          kernel.c, kernel.threads);
    if (rows_in_shared(kernel)) text += formatted("constexpr int threads = {};\n", kernel.threads);
    text += formatted("[[maybe_unused]] constexpr bool again = {};\n"
                      "[[maybe_unused]] constexpr double accurate_share = 1.0 / {};\n"
                      "[[maybe_unused]] constexpr int accurate_threads = {};\n",
                      kernel.again, accurate_gain, accurate_threads(kernel));
    text += std::string("\n") + number_cuh + "\n" + partial_cuh + "\n" + terms_cuh + "\n" +
            types_text(kernel) + gray_walk_cuh;
    if (kernel.engine == SubsetEngine::tree) text += std::string("\n") + tree_walk_cuh;
    if (kernel.tree.derivative) text += std::string("\n") + derivative_cuh;
    if (rows_in_shared(kernel)) text += std::string("\n") + shared_rows_cuh;
    if (refines(kernel)) text += std::string("\n") + select_cuh;
    if (refines(kernel) && kernel.engine != SubsetEngine::tree) text += std::string("\n") + accurate_cuh;
    return text + "\n// ---- This kernel " + std::string(88, '-') + "\n\n" + rows_text(kernel) +
           walk_text(kernel);
}

KernelRecipe subsets_kernel(const SubsetKernel &kernel) {
    KernelRecipe recipe{key_of(kernel), [kernel] { return source_of(kernel); }, kernel_flags()};
    recipe.entries = {walk_entry(kernel)};
    if (!kernel.again) recipe.entries.emplace_back(gather_entry);
    if (refines(kernel)) recipe.entries.insert(recipe.entries.end(), {select_entry, rest_entry});
    if (refines(kernel) && kernel.engine != SubsetEngine::tree) recipe.entries.emplace_back(accurate_entry);
    return recipe;
}

} // namespace libperm
