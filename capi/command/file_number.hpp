// One number of a file.
#pragma once

#include "lines.hpp"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace perm {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max(); // bytes

enum class Field { real, integer, complex, pattern };

// Of real and complex numbers that are written in decimals. Integers are always what they are.
enum class Reading { nearest_doubles, as_written };

// What becomes of entries that are given more than once. Of those that count once all must be equal.
enum class Duplicates { refuse, sum, once };

struct ReadOptions {
    Reading reading = Reading::nearest_doubles;
    std::int64_t most_bytes = unlimited;
    Duplicates duplicates = Duplicates::refuse;
    std::string format; // an ending of the table of formats, without its point; "": by the file's name

    ReadOptions(Reading r = Reading::nearest_doubles, std::int64_t bytes = unlimited)
        : reading(r), most_bytes(bytes) {}
};

// As doubles, or as it is written where these do not do.
struct FileNumber {
    std::complex<double> value;
    std::string text; // of PERM_VALUE_TEXT; empty: `value` is the number
};

// How many words a number takes: of a pattern none, of a complex number two.
std::size_t words_of(Field field);

// From a word of the line; `im` is the imaginary part of a complex number.
FileNumber parse_number(const Lines &lines, std::string_view word, std::string_view im, Field field,
                        Reading reading);
// From the words `first` and on of the line.
FileNumber parse_number(const Lines &lines, std::size_t first, Field field, Reading reading);

// One that is beyond 2^53 is a text.
FileNumber whole_number(std::int64_t number);
FileNumber whole_number(std::uint64_t number);

// A text of PERM_VALUE_TEXT.
std::string text_of(const FileNumber &number);
bool is_zero_text(std::string_view text);

bool is_zero(const FileNumber &number);
bool is_real(const FileNumber &number);
FileNumber negative(const FileNumber &number);
FileNumber conjugate(const FileNumber &number);

// Of integers and texts exactly; of doubles the double that is nearest to their sum.
FileNumber sum(const std::vector<FileNumber> &terms, Field field);

} // namespace perm
