#include "lib/input/options.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/base/system.hpp"
#include "lib/input/machine.hpp"
#include "lib/number/residues.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>

namespace libperm {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), finite = std::numeric_limits<double>::max();

// By the order of the struct's fields.
constexpr std::array rows{
    OptionFacts{Option::engine, "engine", "word", "auto"},
    OptionFacts{Option::device, "device", "word", "auto", "", 0,
                "auto, cpu, gpu, gpu:LIST, gpu:all, gpu:all+cpu",
                ", a LIST being numbers as in gpu:0,1; with +cpu behind it the processor helps"},
    OptionFacts{Option::precision, "precision", "word", "auto", "", 0,
                "auto, double, kahan, dq, dd, exact, mod:P, mpfr:BITS"},
    OptionFacts{Option::tolerance, "tolerance", "double", "1e-9", "", finite},
    OptionFacts{Option::threads, "threads", "int32", "one for each core", "", 4096},
    OptionFacts{Option::memory_limit_bytes, "memory_limit_bytes", "int64", "three quarters of the memory",
                "bytes", inf},
    OptionFacts{Option::time_limit_seconds, "time_limit_seconds", "double",
                "what is predicted to take over a day is refused", "seconds", inf},
    OptionFacts{Option::seed, "seed", "uint64", "0, a seed like others", "", inf},
    OptionFacts{Option::progress, "progress", "function", "none"},
    OptionFacts{Option::cancel, "cancel", "function", "none"},
    OptionFacts{Option::without, "without", "words", "none", "", 0,
                "matching, dm, d1, d2, fm, merge, scaling, periodic, structure, all",
                ", with commas between them"},
    OptionFacts{Option::decompose, "decompose", "word", "auto", "", 0, "auto, paper"},
    OptionFacts{Option::chunks, "chunks", "word", "ceg", "", 0, "ceg, equal"},
    OptionFacts{Option::cache_dir, "cache_dir", "folder", "$PERM_CACHE_DIR, or the user's cache"},
    OptionFacts{Option::cache_limit_bytes, "cache_limit_bytes", "int64", "256 MiB", "bytes", inf},
    OptionFacts{Option::checkpoint, "checkpoint", "file", "none"},
    OptionFacts{Option::checkpoint_seconds, "checkpoint_seconds", "double", "a minute", "seconds", inf},
    OptionFacts{Option::gpus, "gpus", "int32", "those that device names", "", inf},
    OptionFacts{Option::machine, "machine", "text", "this one"},
    OptionFacts{Option::function, "function", "word", "permanent", "", 0,
                "permanent, hafnian, loop_hafnian"}};

static_assert([] {
    for (std::size_t k = 0; k < rows.size(); ++k)
        if (rows[k].id != static_cast<Option>(k)) return false;
    return true;
}());

// Calls work(value, whether it is the last) for each value.
template <class Work> void for_values(std::string_view values, const Work &work) {
    constexpr std::string_view between = ", ";
    for (bool is_last = false; !is_last;) {
        const std::size_t end = std::min(values.find(between), values.size());
        is_last = end == values.size();
        work(values.substr(0, end), is_last);
        if (!is_last) values.remove_prefix(end + between.size());
    }
}

} // namespace

std::string values_of(const OptionFacts &facts) {
    if (facts.id != Option::engine) return facts.values;
    std::string names;
    for (const EngineFacts &engine : engine_facts)
        if (engine_named(engine.name)) names += (names.empty() ? "" : ", ") + std::string(engine.name);
    return names;
}

std::span<const OptionFacts> all_options() { return rows; }

namespace {

const OptionFacts &row_of(Option option) { return rows[static_cast<std::size_t>(option)]; }

// "use auto or paper", and the hint.
std::string choices_of(Option option) {
    std::string text = "use ";
    for_values(values_of(row_of(option)), [&](std::string_view value, bool is_last) {
        if (text.size() > 4) text += is_last ? " or " : ", ";
        text += value;
    });
    return text + row_of(option).hint;
}

// Throw Error (PERM_BAD_OPTION), with a text that says what is in range, of another number or word.
void require_in_range(Option option, double number) {
    const OptionFacts &facts = row_of(option);
    if (number >= 0 && number <= facts.most) return;
    const std::string most = std::isinf(facts.most) ? ""
                             : facts.most == finite ? " that is finite"
                                                    : formatted(" of at most {:g}", facts.most);
    throw Error(PERM_BAD_OPTION, formatted("{} is {:g}: use 0 ({}) or a positive number{}", facts.name,
                                           number, facts.otherwise, most));
}

void require_word(Option option, std::string_view word) {
    bool is_known = false;
    for_values(values_of(row_of(option)), [&](std::string_view value, bool) { is_known |= value == word; });
    if (!is_known)
        throw Error(PERM_BAD_OPTION,
                    formatted("unknown {} \"{}\": {}", row_of(option).name, word, choices_of(option)));
}

[[noreturn]] void bad_option(const std::string &text) { throw Error(PERM_BAD_OPTION, text); }

std::string_view or_auto(const char *name) { return name ? name : "auto"; }

Engine read_engine(std::string_view name) {
    if (const auto engine = engine_named(name)) return *engine;
    if (name == engine_name(Engine::glynn))
        bad_option("engine \"glynn\" is perm_compute's, for dense square matrices up to n = 20 whose bound "
                   "meets the tolerance, with no other options than these, threads, device cpu and precision "
                   "double: use auto for this one");
    bad_option(formatted("unknown engine \"{}\": {}", name, choices_of(Option::engine)));
}

// Reads "gpu", "gpu:0,2", "gpu:all" or "gpu:all+cpu".
void read_device(std::string_view name, Options &out) {
    const auto bad = [name] {
        bad_option(formatted("unknown device \"{}\": {}", name, choices_of(Option::device)));
    };
    if (name == "auto") return;
    if (name == "cpu") {
        out.device = Device::cpu;
        return;
    }
    constexpr std::string_view gpu = "gpu", cpu = "+cpu";
    if (!name.starts_with(gpu)) bad();
    out.device = Device::gpu;
    std::string_view which = name.substr(gpu.size());
    out.cpu_too = which.ends_with(cpu);
    if (out.cpu_too) which.remove_suffix(cpu.size());
    out.all_gpus = which == ":all";
    if (which.empty() || out.all_gpus) return;
    for (char before = ':'; !which.empty(); before = ',') {
        int ordinal = -1;
        if (which.front() != before) bad();
        const auto [end, error] = std::from_chars(which.data() + 1, which.data() + which.size(), ordinal);
        if (error != std::errc{} || ordinal < 0) bad();
        if (std::find(out.gpus.begin(), out.gpus.end(), ordinal) != out.gpus.end())
            bad_option(formatted("device \"{}\" names GPU {} twice", name, ordinal));
        out.gpus.push_back(ordinal);
        which.remove_prefix(static_cast<std::size_t>(end - which.data()));
    }
}

void require_gpus(const Machine &machine, const std::vector<int> &ordinals) {
    const auto there_are = static_cast<int>(machine.gpus.size());
    for (const int ordinal : ordinals)
        if (ordinal >= there_are)
            bad_option(formatted("device names GPU {}, the machine has {}: use auto, cpu, gpu, gpu:all, or "
                                 "numbers counted from 0",
                                 ordinal, there_are == 0 ? "none" : std::to_string(there_are)));
}

CacheSettings cache_settings(const char *folder, std::int64_t limit_bytes) {
    require_in_range(Option::cache_limit_bytes, static_cast<double>(limit_bytes));
    CacheSettings cache;
    cache.folder = folder ? folder : default_cache_folder();
    if (limit_bytes > 0) cache.limit_bytes = limit_bytes;
    cache.warn = log_warning;
    return cache;
}

// Reads the prime that exact numbers are wanted modulo.
void read_modulus(std::string_view name, std::string_view digits, Options &out) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out.modulus);
    if (error != std::errc{} || end != digits.data() + digits.size() || out.modulus < 3 ||
        out.modulus >= most_modulus || !is_prime(out.modulus))
        bad_option(formatted("precision \"{}\": P must be a prime from 3 to 2^62", name));
    out.precision = Precision::exact;
}

void read_precision(std::string_view name, Options &out) {
    constexpr std::string_view mpfr = "mpfr:", mod = "mod:";
    for (const Precision p : {Precision::automatic, Precision::double_, Precision::kahan, Precision::dq,
                              Precision::dd, Precision::exact})
        if (name == precision_name(p)) {
            out.precision = p;
            return;
        }
    if (name.starts_with(mod)) return read_modulus(name, name.substr(mod.size()), out);
    if (!name.starts_with(mpfr))
        bad_option(formatted("unknown precision \"{}\": {}", name, choices_of(Option::precision)));
    const std::string_view bits = name.substr(mpfr.size());
    const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), out.mpfr_bits);
    if (error != std::errc{} || end != bits.data() + bits.size() || out.mpfr_bits < 2 ||
        out.mpfr_bits > most_mpfr_bits)
        bad_option(
            formatted("precision \"{}\": BITS must be a whole number from 2 to {}", name, most_mpfr_bits));
    out.precision = Precision::mpfr;
}

void require_compatible(const Options &options) {
    if (const char *why = why_incompatible(options))
        bad_option(formatted("engine \"{}\" {}", engine_name(options.engine), why));
}

Passes read_passes(std::string_view without) {
    struct Name {
        std::string_view name;
        bool Passes::*pass;
    };
    static constexpr Name names[] = {{"matching", &Passes::matching},  {"dm", &Passes::dulmage_mendelsohn},
                                     {"d1", &Passes::degree_1},        {"d2", &Passes::degree_2},
                                     {"fm", &Passes::forbert_marx},    {"merge", &Passes::merging},
                                     {"scaling", &Passes::scaling},    {"periodic", &Passes::periodic},
                                     {"structure", &Passes::structure}};
    Passes passes;
    for (bool more = !without.empty(); more;) {
        const std::size_t comma = std::min(without.find(','), without.size());
        const std::string_view name = without.substr(0, comma);
        bool known = false;
        for (const Name &n : names)
            if (name == n.name || (name == "all" && n.pass != &Passes::scaling)) {
                passes.*n.pass = false;
                known = true;
            }
        if (!known)
            bad_option(
                formatted("unknown reduction \"{}\" in without: {}", name, choices_of(Option::without)));
        more = comma < without.size();
        if (more) without.remove_prefix(comma + 1);
    }
    return passes;
}

// Checks and fills in tolerance, threads, memory and time.
void read_limits(const perm_opts &o, Options &out) {
    require_in_range(Option::tolerance, o.tolerance);
    if (o.tolerance > 0) out.tolerance = o.tolerance;

    require_in_range(Option::threads, o.threads);
    const int cores = out.machine ? out.machine->cores : available_cores();
    out.threads = o.threads > 0 ? std::min(o.threads, cores) : cores;
    if (o.reserved != 0) bad_option("perm_opts.reserved must be 0: start from PERM_OPTS_INIT");

    require_in_range(Option::memory_limit_bytes, static_cast<double>(o.memory_limit_bytes));
    const std::int64_t memory = out.machine ? out.machine->memory_bytes : machine_memory();
    out.memory_limit = o.memory_limit_bytes > 0 ? o.memory_limit_bytes : memory / 4 * 3;

    require_in_range(Option::time_limit_seconds, o.time_limit_seconds);
    if (o.time_limit_seconds > 0) out.refuse_seconds = out.stop_seconds = o.time_limit_seconds;
}

} // namespace

const char *why_incompatible(const Options &options) {
    const EngineFacts &engine = facts_of(options.engine);
    if (!engine.on_cpu && !engine.on_gpu) return "runs nowhere";
    if (!engine.on_cpu && options.device == Device::cpu) return "runs on a GPU: use device auto or gpu";
    if (!engine.on_gpu && options.device == Device::gpu) return "runs on the CPU: use device auto or cpu";
    if (engine.distributes && options.equal_chunks)
        return "has no chunks of equal length: use chunks ceg, or engine hybrid, purereg, dense or shared";
    return nullptr;
}

namespace {

MatrixFunction read_function(std::string_view name) {
    require_word(Option::function, name);
    return name == "hafnian"        ? MatrixFunction::hafnian
           : name == "loop_hafnian" ? MatrixFunction::loop_hafnian
                                    : MatrixFunction::permanent;
}

} // namespace

Options read_options(const perm_opts *opts) {
    constexpr std::size_t first_version = offsetof(perm_opts, without);
    const perm_opts o = opts ? read_known(*opts, first_version, "perm_opts") : perm_opts PERM_OPTS_INIT;
    Options out;

    out.engine = read_engine(or_auto(o.engine));
    read_device(or_auto(o.device), out);
    require_compatible(out);
    if (o.machine) {
        out.machine = std::make_shared<const Machine>(read_machine(o.machine));
        require_gpus(*out.machine, out.gpus);
    }

    read_precision(or_auto(o.precision), out);

    read_limits(o, out);

    if (o.checkpoint) out.checkpoint = o.checkpoint;
    require_in_range(Option::checkpoint_seconds, o.checkpoint_seconds);
    if (o.checkpoint_seconds > 0 && out.checkpoint.empty())
        bad_option(
            "checkpoint_seconds is given without a checkpoint: name its file in checkpoint, or leave it out");
    if (o.checkpoint_seconds > 0) out.checkpoint_seconds = o.checkpoint_seconds;
    // What goes on another time may take longer than is left today.
    if (!out.checkpoint.empty()) out.refuse_seconds = std::numeric_limits<double>::infinity();
    require_in_range(Option::gpus, o.gpus);
    out.reckoned_gpus = o.gpus;
    if (o.gpus > 0 && out.device == Device::automatic) out.device = Device::gpu;
    if (o.reserved2 != 0) bad_option("perm_opts.reserved2 must be 0: start from PERM_OPTS_INIT");

    out.function = read_function(o.function ? o.function : "permanent");
    out.seed = o.seed;
    out.passes = read_passes(o.without ? o.without : "");
    const std::string_view decompose = or_auto(o.decompose);
    require_word(Option::decompose, decompose);
    out.decompose_as_published = decompose == "paper";
    const std::string_view chunks = o.chunks ? o.chunks : "ceg";
    require_word(Option::chunks, chunks);
    out.equal_chunks = chunks == "equal";
    require_compatible(out);
    out.cache = cache_settings(o.cache_dir, o.cache_limit_bytes);
    out.progress = o.progress;
    out.progress_user = o.progress_user;
    out.cancel = o.cancel;
    out.cancel_user = o.cancel_user;
    return out;
}

} // namespace libperm
