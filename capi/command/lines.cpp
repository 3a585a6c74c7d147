#include "lines.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace perm {
namespace {

constexpr std::int64_t max_line_length = 1 << 20;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

} // namespace

std::string quoted(std::string_view word) {
    constexpr std::size_t longest = 40;
    std::string text = "'";
    for (char c : word.substr(0, longest)) text += (c >= ' ' && c <= '~') ? c : '?';
    return text + (word.size() > longest ? "...'" : "'");
}

std::string lower_case(std::string_view word) {
    std::string text(word);
    for (char &c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

Lines::Lines(std::istream &in, std::string name)
    : in_(in), name_(std::move(name)), buffer_(static_cast<std::size_t>(max_line_length) + 1) {}

bool Lines::next() {
    while (next_line())
        if (!words_.empty()) return true;
    return false;
}

void Lines::expect_next(const std::string &what) {
    if (!next()) fail(fmt::format("the file ends here, expected {}", what));
}

void Lines::fail_at(std::int64_t line, const std::string &what) const {
    throw FileError(fmt::format("{}:{}: {}", name_, std::max<std::int64_t>(line, 1), what));
}

bool Lines::next_line() {
    words_.clear();
    in_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    if (in_.bad()) fail_at(number_ + 1, "the file cannot be read");
    if (in_.fail() && in_.eof()) return false;
    ++number_;
    if (in_.fail()) fail(fmt::format("the line is longer than {} bytes", max_line_length));
    const auto length = static_cast<std::size_t>(in_.gcount()) - (in_.eof() ? 0 : 1);
    line_ = {buffer_.data(), length};
    if (number_ == 1 && line_.starts_with(byte_order_mark)) line_.remove_prefix(byte_order_mark.size());
    split(line_);
    return true;
}

void Lines::split(std::string_view rest) {
    constexpr std::string_view blanks = " \t\r\v\f";
    for (;;) {
        const auto begin = rest.find_first_not_of(blanks);
        if (begin == rest.npos) return;
        rest.remove_prefix(begin);
        const auto end = std::min(rest.find_first_of(blanks), rest.size());
        words_.push_back(rest.substr(0, end));
        rest.remove_prefix(end);
    }
}

} // namespace perm
