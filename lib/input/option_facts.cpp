#include "lib/input/option_facts.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/input/engine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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
const OptionFacts &facts_of(Option option) { return rows[static_cast<std::size_t>(option)]; }

void require_in_range(Option option, double number) {
    const OptionFacts &facts = facts_of(option);
    if (number >= 0 && number <= facts.most) return;
    const std::string most = std::isinf(facts.most) ? ""
                             : facts.most == finite ? " that is finite"
                                                    : formatted(" of at most {:g}", facts.most);
    throw Error(PERM_BAD_OPTION, formatted("{} is {:g}: use 0 ({}) or a positive number{}", facts.name,
                                           number, facts.otherwise, most));
}

void require_word(Option option, std::string_view word) {
    bool is_known = false;
    for_values(values_of(facts_of(option)), [&](std::string_view value, bool) { is_known |= value == word; });
    if (!is_known)
        throw Error(PERM_BAD_OPTION,
                    formatted("unknown {} \"{}\": {}", facts_of(option).name, word, choices_of(option)));
}

std::string choices_of(Option option) {
    std::string text = "use ";
    for_values(values_of(facts_of(option)), [&](std::string_view value, bool is_last) {
        if (text.size() > 4) text += is_last ? " or " : ", ";
        text += value;
    });
    return text + facts_of(option).hint;
}

} // namespace libperm
