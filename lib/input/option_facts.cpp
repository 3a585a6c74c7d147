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

constexpr std::array rows{
    OptionFacts{.id = Option::engine, .name = "engine", .type = "word", .otherwise = "auto"},
    OptionFacts{.id = Option::device,
                .name = "device",
                .type = "word",
                .otherwise = "auto",
                .values = "auto, cpu, gpu, gpu:LIST, gpu:all, gpu:all+cpu",
                .hint = ", a LIST being numbers as in gpu:0,1; with +cpu behind it the processor helps"},
    OptionFacts{.id = Option::precision,
                .name = "precision",
                .type = "word",
                .otherwise = "auto",
                .values = "auto, double, kahan, dq, dd, exact, mod:P, mpfr:BITS"},
    OptionFacts{
        .id = Option::tolerance, .name = "tolerance", .type = "double", .otherwise = "1e-9", .most = finite},
    OptionFacts{.id = Option::threads,
                .name = "threads",
                .type = "int32",
                .otherwise = "one for each core",
                .most = 4096},
    OptionFacts{.id = Option::memory_limit_bytes,
                .name = "memory_limit_bytes",
                .type = "int64",
                .otherwise = "three quarters of the memory",
                .unit = "bytes",
                .most = inf},
    OptionFacts{.id = Option::time_limit_seconds,
                .name = "time_limit_seconds",
                .type = "double",
                .otherwise = "what is predicted to take over a day is refused",
                .unit = "seconds",
                .most = inf},
    OptionFacts{.id = Option::seed,
                .name = "seed",
                .type = "uint64",
                .otherwise = "0, a seed like others",
                .most = inf},
    OptionFacts{.id = Option::progress, .name = "progress", .type = "function", .otherwise = "none"},
    OptionFacts{.id = Option::cancel, .name = "cancel", .type = "function", .otherwise = "none"},
    OptionFacts{.id = Option::without,
                .name = "without",
                .type = "words",
                .otherwise = "none",
                .values = "matching, dm, d1, d2, fm, merge, scaling, periodic, structure, all",
                .hint = ", with commas between them"},
    OptionFacts{.id = Option::decompose,
                .name = "decompose",
                .type = "word",
                .otherwise = "auto",
                .values = "auto, paper"},
    OptionFacts{
        .id = Option::chunks, .name = "chunks", .type = "word", .otherwise = "ceg", .values = "ceg, equal"},
    OptionFacts{.id = Option::cache_dir,
                .name = "cache_dir",
                .type = "folder",
                .otherwise = "$PERM_CACHE_DIR, or the user's cache"},
    OptionFacts{.id = Option::cache_limit_bytes,
                .name = "cache_limit_bytes",
                .type = "int64",
                .otherwise = "256 MiB",
                .unit = "bytes",
                .most = inf},
    OptionFacts{.id = Option::checkpoint, .name = "checkpoint", .type = "file", .otherwise = "none"},
    OptionFacts{.id = Option::checkpoint_seconds,
                .name = "checkpoint_seconds",
                .type = "double",
                .otherwise = "a minute",
                .unit = "seconds",
                .most = inf},
    OptionFacts{.id = Option::gpus,
                .name = "gpus",
                .type = "int32",
                .otherwise = "those that device names",
                .most = inf},
    OptionFacts{.id = Option::machine, .name = "machine", .type = "text", .otherwise = "this one"},
    OptionFacts{.id = Option::function,
                .name = "function",
                .type = "word",
                .otherwise = "permanent",
                .values = "permanent, hafnian, loop_hafnian"}};

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
