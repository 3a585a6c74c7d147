// The text files of matrices: what is wrong in one, its lines as words, and its numbers.
#pragma once

#include <charconv>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

namespace perm {

// what() is "NAME:LINE: what is wrong, what was expected", or "NAME: ..." of files without lines and of those
// that cannot be opened.
class FileError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// For those who refuse a file that is another's.
constexpr const char *other_formats =
    ".csv or .tsv (numbers in rows), .npy, .npz, .edges ('u v' or 'u v w' of a graph), .dimacs or .col";

// A word of the file fit for an error message, whatever bytes it holds.
std::string quoted(std::string_view word);

std::string lower_case(std::string_view word);

// Fortran writes the exponents of doubles with a D.
inline std::string with_e(std::string_view word) {
    std::string text(word);
    if (const auto d = text.find_first_of("dD"); d != text.npos) text[d] = 'e';
    return text;
}

// std::from_chars of a whole word, which may begin with a plus sign.
template <class Number> std::errc parse(std::string_view word, Number &number) {
    if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
    const char *const first = word.data(), *const last = first + word.size();
    const auto [end, error] = std::from_chars(first, last, number);
    if constexpr (std::is_floating_point_v<Number>)
        if (end != first && end != last && (*end == 'd' || *end == 'D')) return parse(with_e(word), number);
    return end == last ? error : std::errc::invalid_argument;
}

// The lines that are not blank, without what some programs put before a text to say that it is UTF-8.
class Lines {
  public:
    Lines(std::istream &in, std::string name);

    // False at the end of the file.
    bool next();

    // The same, but the file must go on.
    void expect_next(const std::string &what);

    const std::vector<std::string_view> &words() const { return words_; }
    std::string_view line() const { return line_; } // undivided
    bool is_comment() const { return words_.front().front() == '%'; }
    std::int64_t number() const { return number_; }

    // Throws FileError.
    [[noreturn]] void fail(const std::string &what) const { fail_at(number_, what); }
    [[noreturn]] void fail_at(std::int64_t line, const std::string &what) const;

  private:
    bool next_line();
    void split(std::string_view rest);

    std::istream &in_;
    std::string name_;
    std::vector<char> buffer_;
    std::string_view line_; // of buffer_, as the words
    std::vector<std::string_view> words_;
    std::int64_t number_ = 0;
};

// One number of a file.

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
