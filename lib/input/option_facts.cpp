#include "lib/input/option_facts.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace libperm {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), finite = std::numeric_limits<double>::max();

constexpr std::array rows{
    OptionFacts{Option::engine, "engine", "word", "", 0,
                "auto, ryser, frontier, tree, shared, dense, purereg, hybrid", "; the last four on a GPU",
                "auto"},
    OptionFacts{Option::device, "device", "word", "", 0, "auto, cpu, gpu, gpu:LIST, gpu:all, gpu:all+cpu",
                ", a LIST being numbers as in gpu:0,1; with +cpu behind it the processor helps", "auto"},
    OptionFacts{Option::precision, "precision", "word", "", 0,
                "auto, double, kahan, dq, dd, exact, mod:P, mpfr:BITS", "", "auto"},
    OptionFacts{Option::tolerance, "tolerance", "double", "", finite, "", "", "1e-9"},
    OptionFacts{Option::threads, "threads", "int32", "", 4096, "", "", "one for each core"},
    OptionFacts{Option::memory_limit_bytes, "memory_limit_bytes", "int64", "bytes", inf, "", "",
                "three quarters of the memory"},
    OptionFacts{Option::time_limit_seconds, "time_limit_seconds", "double", "seconds", inf, "", "",
                "what is predicted to take over a day is refused"},
    OptionFacts{Option::seed, "seed", "uint64", "", inf, "", "", "0, a seed like others"},
    OptionFacts{Option::progress, "progress", "function", "", 0, "", "", "none"},
    OptionFacts{Option::cancel, "cancel", "function", "", 0, "", "", "none"},
    OptionFacts{Option::without, "without", "words", "", 0,
                "matching, dm, d1, d2, fm, merge, scaling, periodic, all", ", with commas between them",
                "none"},
    OptionFacts{Option::decompose, "decompose", "word", "", 0, "auto, paper", "", "auto"},
    OptionFacts{Option::chunks, "chunks", "word", "", 0, "ceg, equal", "", "ceg"},
    OptionFacts{Option::cache_dir, "cache_dir", "folder", "", 0, "", "",
                "$PERM_CACHE_DIR, or the user's cache"},
    OptionFacts{Option::cache_limit_bytes, "cache_limit_bytes", "int64", "bytes", inf, "", "", "256 MiB"},
    OptionFacts{Option::checkpoint, "checkpoint", "file", "", 0, "", "", "none"},
    OptionFacts{Option::checkpoint_seconds, "checkpoint_seconds", "double", "seconds", inf, "", "",
                "a minute"},
    OptionFacts{Option::gpus, "gpus", "int32", "", inf, "", "", "those that device names"},
    OptionFacts{Option::machine, "machine", "text", "", 0, "", "", "this one"}};

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
    for_values(facts_of(option).values, [&](std::string_view value, bool) { is_known |= value == word; });
    if (!is_known)
        throw Error(PERM_BAD_OPTION,
                    formatted("unknown {} \"{}\": {}", facts_of(option).name, word, choices_of(option)));
}

std::string choices_of(Option option) {
    std::string text = "use ";
    for_values(facts_of(option).values, [&](std::string_view value, bool is_last) {
        if (text.size() > 4) text += is_last ? " or " : ", ";
        text += value;
    });
    return text + facts_of(option).hint;
}

} // namespace libperm
