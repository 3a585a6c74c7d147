// One number of a Matrix Market file.
#pragma once

#include "lines.hpp"

#include <complex>
#include <cstddef>
#include <string>
#include <string_view>

namespace perm {

enum class Field { real, integer, complex, pattern };

// Of real and complex numbers. Integers are always what they are.
enum class Reading { nearest_doubles, as_written };

// As doubles, or as it is written where these do not do.
struct FileNumber {
    std::complex<double> value;
    std::string text; // of PERM_VALUE_TEXT; empty: `value` is the number
};

// How many words a number takes: of a pattern none, of a complex number two.
std::size_t words_of(Field field);

// From the words `first` and on of the line.
FileNumber parse_number(const Lines &lines, std::size_t first, Field field, Reading reading);

// A text of PERM_VALUE_TEXT.
std::string text_of(const FileNumber &number);
bool is_zero_text(std::string_view text);

bool is_zero(const FileNumber &number);
bool is_real(const FileNumber &number);
FileNumber negative(const FileNumber &number);
FileNumber conjugate(const FileNumber &number);

} // namespace perm
