// perm_opts, checked and with its defaults filled in: the one place where options are read.
#pragma once

#include "jit/compile/disk_cache.hpp"
#include "lib/input/call_watch.hpp"
#include "lib/input/engine.hpp"
#include "lib/input/input_pattern.hpp"
#include "lib/number/precision.hpp"
#include "preprocess/passes.hpp"

#include <cstdint>
#include <memory>
#include <perm.h>
#include <span>
#include <string>
#include <string_view>
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

// The fields of perm_opts, a row for each: its type, unit, range or words, and what holds where it is not
// given. What perm_opts has is checked by these rows; the command, the Python package and the manual are
// tested against them (PERM_FORMAT_OPTIONS). Which of them count for which call: option_table.hpp.

enum class Option {
    engine,
    device,
    precision,
    tolerance,
    threads,
    memory_limit_bytes,
    time_limit_seconds,
    seed,
    progress,
    cancel,
    without,
    decompose,
    chunks,
    cache_dir,
    cache_limit_bytes,
    checkpoint,
    checkpoint_seconds,
    gpus,
    machine,
    function
};

struct OptionFacts {
    Option id;
    const char *name;      // of the field
    const char *type;      // a number's in C; word, words (by commas), file, folder, text, function
    const char *otherwise; // what not giving it, or 0, comes to
    const char *unit = ""; // of a number: bytes, seconds; "": none
    double most = 0; // of a number, which is 0 at least; INFINITY: what its type holds, that of double too
    const char *values = ""; // of words all that there are: values_of()
    const char *hint = "";   // to the words, for those who gave another
};

std::span<const OptionFacts> all_options(); // in the order of perm_opts

// All words that there are, by commas: of engines their names.
std::string values_of(const OptionFacts &facts);

} // namespace libperm
