// perm_opts, checked and with its defaults filled in: the one place where options are read.
#pragma once

#include "preprocess/decompose.hpp"

#include <perm.h>

#include <cstdint>
#include <limits>

namespace libperm {

enum class Engine { automatic, none, ryser, frontier }; // none: the structure alone gave the answer

const char *engine_name(Engine engine);

struct Options {
    Engine engine = Engine::automatic;
    double tolerance = 1e-9;
    int threads = 1;
    std::int64_t memory_limit = 0;
    double refuse_seconds = 86400; // predicted to take longer: refused before it starts
    double stop_seconds = std::numeric_limits<double>::infinity(); // found to take longer: stopped
    std::uint64_t seed = 0;
    Passes passes;
    bool decompose_as_published = false;
    perm_progress_fn progress = nullptr;
    void *progress_user = nullptr;
    perm_cancel_fn cancel = nullptr;
    void *cancel_user = nullptr;
};

// NULL means all defaults. Throws Error (PERM_BAD_ARGUMENT, PERM_BAD_OPTION, PERM_UNSUPPORTED).
Options read_options(const perm_opts *opts);

} // namespace libperm
