#include "capi/interval_beside.hpp"

#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/matrix_bounds.hpp"

#include <algorithm>
#include <limits>

namespace capi {
namespace {

constexpr std::int64_t most_entries = 300000;          // of more it would take longer than a moment
constexpr std::int64_t most_bytes = 64 * most_entries; // of a pattern with no more than these

constexpr const char *at_leisure =
    "\n  perm_bounds (perm bounds FILE, libperm.bounds) tells what it lies between";

// The call's own time is over, and its progress told.
libperm::Options without_clock(libperm::Options options) {
    options.stop_seconds = std::numeric_limits<double>::infinity();
    options.progress = nullptr;
    return options;
}

// `read` leaves the matrix in its arguments.
template <class Read> std::string line_of(const libperm::Options &given, const Read &read) noexcept {
    try {
        const libperm::Options options = without_clock(given);
        const libperm::CurrentCall current(options);
        libperm::InputPattern input;
        libperm::Values values;
        read(input, values);
        if (input.pattern.nnz() > most_entries) return at_leisure;
        libperm::simplify(input, values);
        std::string text;
        libperm::with_threads(options.threads, [&] {
            text = "\n  " + libperm::text_of(libperm::bounds_of(input, values, options));
        });
        return text;
    } catch (const libperm::Error &error) {
        return error.status() == PERM_REFUSED_MEMORY ? at_leisure : "";
    } catch (...) { // what was refused is what counts
        return {};
    }
}

} // namespace

std::string interval_beside(const libperm::Options &options, const perm_csr *a) noexcept {
    if (options.function != libperm::MatrixFunction::permanent) return {};
    return line_of(options, [&](libperm::InputPattern &input, libperm::Values &values) {
        // Refused before it is written out where it has more entries.
        libperm::MemoryBudget of_pattern(std::min(most_bytes, options.memory_limit));
        input = libperm::read_pattern(a, &of_pattern);
        values =
            libperm::read_values(input, libperm::GivenValues(input, *a).data(), &libperm::call().memory());
    });
}

std::string interval_beside(const libperm::Options &options, const libperm::InputPattern &of_plan,
                            const void *given) noexcept {
    if (of_plan.pattern.one_sided) return {};
    return line_of(options, [&](libperm::InputPattern &input, libperm::Values &values) {
        input = of_plan;
        values = libperm::read_values(input, given, &libperm::call().memory());
    });
}

} // namespace capi
