// perm_opts, checked and with its defaults filled in: the one place where options are read.
#pragma once

#include "jit/compile/cache_settings.hpp"
#include "lib/input/call_watch.hpp"
#include "lib/input/engine.hpp"
#include "lib/input/matrix_function.hpp"
#include "lib/number/precision.hpp"
#include "preprocess/passes.hpp"

#include <perm.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace libperm {

enum class Device { automatic, cpu, gpu };

struct Machine;

struct Options : CallWatch {
    MatrixFunction function = MatrixFunction::permanent;
    Engine engine = Engine::automatic;
    Device device = Device::automatic;
    std::vector<int> gpus; // by their numbers; none: the first
    bool all_gpus = false, cpu_too = false;
    int reckoned_gpus = 0; // in predictions; 0: as many as there are to be
    Precision precision = Precision::automatic;
    int mpfr_bits = 0;
    std::uint64_t modulus = 0; // a prime that exact numbers are wanted modulo; 0: none
    double tolerance = 1e-9;
    int threads = 1;
    double refuse_seconds = 86400; // predicted to take longer: refused before it starts
    std::uint64_t seed = 0;
    Passes passes;
    bool decompose_as_published = false;
    bool equal_chunks = false; // of the walk along the Gray code on a GPU
    CacheSettings cache;       // of compiled kernels
    std::string checkpoint;    // file; "": none
    double checkpoint_seconds = 60;
    std::shared_ptr<const Machine> machine; // that plans are made for; null: this one

    bool names_engine() const { return engine != Engine::automatic; }
};

// In words, what of the engine and the device excludes each other; or null.
const char *why_incompatible(const Options &options);

// NULL means all defaults. Throws Error (PERM_BAD_ARGUMENT, PERM_BAD_OPTION, PERM_UNSUPPORTED).
Options read_options(const perm_opts *opts);

} // namespace libperm
