// The lines of a file as words, and what is wrong in one of them.
#pragma once

#include "file_error.hpp"

#include <charconv>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

namespace perm {

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

} // namespace perm
