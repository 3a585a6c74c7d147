// The fields of perm_opts, a row for each: its type, unit, range or words, and what holds where it is not
// given. What perm_opts has is checked by these rows; the command, the Python package and the manual are
// tested against them (PERM_FORMAT_OPTIONS). Which of them count for which call: option_table.hpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace libperm {

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
const OptionFacts &facts_of(Option option);

// Throw Error (PERM_BAD_OPTION), with a text that says what is in range, of another number or word.
void require_in_range(Option option, double number);
void require_word(Option option, std::string_view word);

// All words that there are, by commas: of engines their names.
std::string values_of(const OptionFacts &facts);

// "use auto or paper", and the hint.
std::string choices_of(Option option);

} // namespace libperm
