// The lines of a Matrix Market file as words, and what is wrong in one of them.
#pragma once

#include <charconv>
#include <cstdint>
#include <istream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace perm {

// what() is "NAME:LINE: what is wrong, what was expected" ("NAME: why" when the file cannot be opened or is a
// directory).
class MatrixMarketError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A word of the file fit for an error message, whatever bytes it holds.
std::string quoted(std::string_view word);

// std::from_chars of a whole word, which may begin with a plus sign.
template <class Number> std::errc parse(std::string_view word, Number &number) {
    if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    return end == word.data() + word.size() ? error : std::errc::invalid_argument;
}

// The lines that are not blank.
class Lines {
  public:
    Lines(std::istream &in, std::string name);

    // False at the end of the file.
    bool next();

    // The same, but the file must go on.
    void expect_next(const std::string &what);

    const std::vector<std::string_view> &words() const { return words_; }
    bool is_comment() const { return words_.front().front() == '%'; }
    std::int64_t number() const { return number_; }

    // Throws MatrixMarketError.
    [[noreturn]] void fail(const std::string &what) const { fail_at(number_, what); }
    [[noreturn]] void fail_at(std::int64_t line, const std::string &what) const;

  private:
    bool next_line();
    void split(std::string_view line);

    std::istream &in_;
    std::string name_;
    std::vector<char> buffer_;
    std::vector<std::string_view> words_; // into buffer_
    std::int64_t number_ = 0;
};

} // namespace perm
