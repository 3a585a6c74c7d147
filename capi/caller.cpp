#include "capi/caller.hpp"

#include "lib/execute/execute.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace capi {

using libperm::Error;

char *copy_of(const std::string &text) {
    auto *copy = static_cast<char *>(std::malloc(text.size() + 1));
    if (!copy) throw std::bad_alloc();
    std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

void require_result(const perm_result *result) {
    if (!result) throw Error(PERM_BAD_ARGUMENT, "the result is a null pointer");
    constexpr std::size_t first_version = offsetof(perm_result, blocks);
    if (result->struct_size < first_version)
        throw Error(PERM_BAD_ARGUMENT, "perm_result.struct_size is too small: start from PERM_RESULT_INIT");
}

void write(perm_result &result, const perm_result &all) noexcept {
    constexpr std::size_t after_size = offsetof(perm_result, re);
    std::memcpy(reinterpret_cast<char *>(&result) + after_size,
                reinterpret_cast<const char *>(&all) + after_size,
                std::min(result.struct_size, sizeof(perm_result)) - after_size);
}

void clear(perm_result &result) noexcept {
    std::free(result.text);
    write(result, no_result);
}

perm_result &result_at(perm_result *results, std::int64_t k) {
    return *reinterpret_cast<perm_result *>(reinterpret_cast<char *>(results) +
                                            static_cast<std::size_t>(k) * results->struct_size);
}

void require_alike(perm_result *results, std::int64_t count) {
    constexpr std::int64_t piece = 1 << 12;
    std::atomic<bool> alike = true;
    const auto pieces = static_cast<std::uint64_t>(count > 0 ? (count + piece - 1) / piece : 0);
    libperm::parallel_for(pieces, [&](std::uint64_t p) {
        const std::int64_t first = static_cast<std::int64_t>(p) * piece;
        for (std::int64_t k = first; k < std::min(first + piece, count); ++k)
            if (result_at(results, k).struct_size != results->struct_size) alike = false;
    });
    if (!alike) throw Error(PERM_BAD_ARGUMENT, "the results of a batch differ in struct_size");
}

void fill(perm_result &result, const libperm::Options &options, const libperm::Outcome &outcome,
          const libperm::Answer &answer) {
    if (!answer.text.empty()) result.text = copy_of(answer.text);
    libperm::put(answer, result);
    result.rel_error_bound = outcome.rel_error_bound;
    result.exact = outcome.exact;
    result.tolerance_met = outcome.rel_error_bound <= options.tolerance;
    result.engine = libperm::engine_name(outcome.engine);
    result.device = outcome.on_gpu ? "gpu" : "cpu";
    result.seconds_compile = outcome.counts.seconds_compile;
    result.kernels_compiled = outcome.counts.kernels_compiled;
    result.slices = outcome.counts.slices;
    result.threads = options.threads;
    result.transposed = outcome.transposed;
    result.blocks = outcome.blocks;
    result.blocks_computed = outcome.blocks_computed;
    result.subsets = outcome.counts.subsets;
    result.states = outcome.counts.states;
    result.peak_states = outcome.counts.peak_states;
    result.operations = outcome.counts.operations;
    result.peak_bytes = outcome.counts.peak_bytes;
}

void fill(perm_result &result, const libperm::Plan &plan, const libperm::Outcome &outcome,
          const libperm::Answer &answer) {
    fill(result, plan.options, outcome, answer);
    result.n = plan.n();
    result.nnz = plan.input.pattern.nnz();
}

// MPFR's numbers are decimals, exact or not.
libperm::Answer answer_of(const libperm::Plan &plan, const libperm::Outcome &outcome) {
    return libperm::answer_of(outcome, plan.options.precision != libperm::Precision::mpfr);
}

void fill(perm_result &result, const libperm::Plan &plan, const libperm::Outcome &outcome) {
    fill(result, plan, outcome, answer_of(plan, outcome));
}

void fill(perm_result &result, const libperm::Options &options, libperm::ExactMultiplicities kinds) {
    libperm::round_off(options, kinds.outcome);
    const bool fractions = options.precision != libperm::Precision::mpfr;
    fill(result, options, kinds.outcome, libperm::answer_of(kinds.outcome, fractions));
    result.n = kinds.n;
    result.nnz = kinds.nnz;
}

namespace {

// A fixed buffer: telling of a failure must not fail.
thread_local char error_text[2048] = "";

} // namespace

const char *last_error() noexcept { return error_text; }

perm_status fail(perm_status status, const char *text) noexcept {
    const std::size_t length = std::min(std::strlen(text), sizeof(error_text) - 1);
    std::memcpy(error_text, text, length);
    error_text[length] = '\0';
    return status;
}

void write_bytes(const char *bytes, std::size_t size, void *buffer, std::size_t capacity,
                 std::size_t *needed) {
    if (needed) *needed = size;
    if (!buffer && capacity == 0) return;
    if (!buffer) throw Error(PERM_BAD_ARGUMENT, "buffer is a null pointer, but capacity is not 0");
    if (capacity < size)
        throw Error(PERM_BAD_ARGUMENT,
                    "the buffer is too small: " + std::to_string(size) + " bytes are needed");
    std::memcpy(buffer, bytes, size);
}

void write_text(const std::string &text, char *buffer, std::size_t capacity, std::size_t *needed) {
    write_bytes(text.c_str(), text.size() + 1, buffer, capacity, needed);
}

bool is_json(perm_format format) {
    if (format != PERM_FORMAT_TEXT && format != PERM_FORMAT_JSON)
        throw Error(PERM_BAD_ARGUMENT, "format is neither PERM_FORMAT_TEXT nor PERM_FORMAT_JSON");
    return format == PERM_FORMAT_JSON;
}

} // namespace capi
