#include "matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <limits>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace perm {
namespace {

constexpr std::int64_t max_line_length = 1 << 20;
constexpr std::int64_t max_dimension = std::numeric_limits<std::int32_t>::max();
// Up to this dimension a matrix may have fewer entries than rows; beyond, row pointers would outgrow the
// file.
constexpr std::int64_t max_sparse_dimension = 10'000'000;
constexpr std::int64_t max_exact_integer = std::int64_t{1} << 53;

enum class Layout { coordinate, array };
enum class Field { real, integer, pattern };
enum class Symmetry { general, symmetric, skew };

struct Header {
    Layout layout;
    Field field;
    Symmetry symmetry;
};

struct Size {
    std::int64_t n_rows, n_cols, count;
};

struct Entry {
    std::int64_t row, col; // zero-based
    double value;
    std::int64_t line;
};

// A word of the file fit for an error message, whatever bytes it holds.
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

// The lines of the file that are not blank, split into words.
class Lines {
  public:
    Lines(std::istream &in, std::string name)
        : in_(in), name_(std::move(name)), buffer_(static_cast<std::size_t>(max_line_length) + 1) {}

    // False at the end of the file.
    bool next() {
        while (next_line())
            if (!words_.empty()) return true;
        return false;
    }

    // The same, but the file must go on.
    void expect_next(const std::string &what) {
        if (!next()) fail(fmt::format("the file ends here, expected {}", what));
    }

    const std::vector<std::string_view> &words() const { return words_; }
    bool is_comment() const { return words_.front().front() == '%'; }
    std::int64_t number() const { return number_; }

    [[noreturn]] void fail(const std::string &what) const { fail_at(number_, what); }
    [[noreturn]] void fail_at(std::int64_t line, const std::string &what) const {
        throw MatrixMarketError(fmt::format("{}:{}: {}", name_, std::max<std::int64_t>(line, 1), what));
    }

  private:
    bool next_line() {
        words_.clear();
        in_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
        if (in_.bad()) fail_at(number_ + 1, "the file cannot be read");
        if (in_.fail() && in_.eof()) return false;
        ++number_;
        if (in_.fail()) fail(fmt::format("the line is longer than {} bytes", max_line_length));
        const auto length = static_cast<std::size_t>(in_.gcount()) - (in_.eof() ? 0 : 1);
        split({buffer_.data(), length});
        return true;
    }

    void split(std::string_view line) {
        constexpr std::string_view blanks = " \t\r\v\f";
        for (;;) {
            const auto begin = line.find_first_not_of(blanks);
            if (begin == line.npos) return;
            line.remove_prefix(begin);
            const auto end = std::min(line.find_first_of(blanks), line.size());
            words_.push_back(line.substr(0, end));
            line.remove_prefix(end);
        }
    }

    std::istream &in_;
    std::string name_;
    std::vector<char> buffer_;
    std::vector<std::string_view> words_; // into buffer_
    std::int64_t number_ = 0;
};

// std::from_chars of a whole word, which may begin with a plus sign.
template <class Number> std::errc parse(std::string_view word, Number &number) {
    if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    return end == word.data() + word.size() ? error : std::errc::invalid_argument;
}

template <class Choice>
Choice choose(const Lines &lines, std::string_view word, const char *what,
              std::initializer_list<std::pair<const char *, Choice>> choices) {
    std::string names;
    for (const auto &[name, choice] : choices) {
        if (lower_case(word) == name) return choice;
        names += (names.empty() ? "" : ", ") + std::string(name);
    }
    lines.fail(fmt::format("unknown {} {} in the banner, expected one of: {}", what, quoted(word), names));
}

Header read_banner(Lines &lines) {
    const char *form = "a banner '%%MatrixMarket matrix FORMAT FIELD SYMMETRY'";
    lines.expect_next(form);
    const auto &words = lines.words();
    if (lower_case(words[0]) != "%%matrixmarket")
        lines.fail(fmt::format("the banner is missing, expected {}", form));
    if (words.size() != 5) lines.fail(fmt::format("bad banner of {} words, expected {}", words.size(), form));
    if (lower_case(words[1]) != "matrix")
        lines.fail(fmt::format("unknown object {} in the banner, expected: matrix", quoted(words[1])));

    Header header{};
    header.layout = choose<Layout>(lines, words[2], "format",
                                   {{"coordinate", Layout::coordinate}, {"array", Layout::array}});
    if (lower_case(words[3]) == "complex")
        lines.fail(
            "complex matrices are not supported by this version, expected one of: real, integer, pattern");
    header.field =
        choose<Field>(lines, words[3], "field",
                      {{"real", Field::real}, {"integer", Field::integer}, {"pattern", Field::pattern}});
    // Without complex numbers Hermitian and symmetric are the same.
    header.symmetry = choose<Symmetry>(lines, words[4], "symmetry",
                                       {{"general", Symmetry::general},
                                        {"symmetric", Symmetry::symmetric},
                                        {"skew-symmetric", Symmetry::skew},
                                        {"hermitian", Symmetry::symmetric}});

    if (header.field == Field::pattern && header.layout == Layout::array)
        lines.fail("an array file cannot be a pattern, expected the field real or integer");
    if (header.field == Field::pattern && header.symmetry == Symmetry::skew)
        lines.fail("a pattern cannot be skew-symmetric, expected general or symmetric");
    return header;
}

// How many entries a file of these dimensions can hold; within 64 bits as dimensions are within 31.
std::int64_t capacity(Symmetry symmetry, std::int64_t n_rows, std::int64_t n_cols) {
    switch (symmetry) {
    case Symmetry::symmetric:
        return n_rows * (n_rows + 1) / 2;
    case Symmetry::skew:
        return n_rows * (n_rows - 1) / 2;
    default:
        return n_rows * n_cols;
    }
}

std::int64_t parse_size(const Lines &lines, std::string_view word, const char *what, std::int64_t limit) {
    std::int64_t number = 0;
    const std::errc error = parse(word, number);
    if (error == std::errc::invalid_argument || number < 0)
        lines.fail(fmt::format("bad number of {} {} in the size line, expected an integer of at least 0",
                               what, quoted(word)));
    if (error == std::errc::result_out_of_range || number > limit)
        lines.fail(fmt::format("{} {} are too many, expected at most {}", quoted(word), what, limit));
    return number;
}

Size read_size(Lines &lines, const Header &header) {
    const bool coordinate = header.layout == Layout::coordinate;
    const char *form = coordinate ? "a size line 'rows columns entries'" : "a size line 'rows columns'";
    do lines.expect_next(form);
    while (lines.is_comment());

    const auto &words = lines.words();
    if (words.size() != (coordinate ? 3u : 2u))
        lines.fail(fmt::format("bad size line of {} words, expected {}", words.size(), form));
    Size size{};
    size.n_rows = parse_size(lines, words[0], "rows", max_dimension);
    size.n_cols = parse_size(lines, words[1], "columns", max_dimension);
    if (header.symmetry != Symmetry::general && size.n_rows != size.n_cols)
        lines.fail(fmt::format("a {} x {} matrix is not square and so not symmetric, expected general",
                               size.n_rows, size.n_cols));

    const std::int64_t most = capacity(header.symmetry, size.n_rows, size.n_cols);
    size.count = most;
    if (coordinate)
        size.count = parse_size(lines, words[2], "entries", std::numeric_limits<std::int64_t>::max());
    if (size.count > most)
        lines.fail(fmt::format("the size line announces {} entries, expected at most {} in a {} x {} file of "
                               "this symmetry",
                               size.count, most, size.n_rows, size.n_cols));
    if (std::max(size.n_rows, size.n_cols) > std::max(max_sparse_dimension, size.count))
        lines.fail(
            fmt::format("a {} x {} matrix of {} entries is nearly all empty rows or columns, expected at "
                        "least as many entries as rows and columns beyond {}",
                        size.n_rows, size.n_cols, size.count, max_sparse_dimension));
    return size;
}

std::int64_t parse_index(const Lines &lines, std::string_view word, const char *what, std::int64_t limit) {
    std::int64_t index = 0;
    const std::errc error = parse(word, index);
    if (error == std::errc::invalid_argument)
        lines.fail(fmt::format("bad {} index {}, expected an integer", what, quoted(word)));
    if (error != std::errc{} || index < 1 || index > limit)
        lines.fail(fmt::format("{} index {} is out of range, expected 1 to {}", what, quoted(word), limit));
    return index - 1;
}

double parse_integer(const Lines &lines, std::string_view word) {
    std::int64_t number = 0;
    const std::errc error = parse(word, number);
    if (error == std::errc::invalid_argument)
        lines.fail(fmt::format("bad number {}, expected an integer", quoted(word)));
    if (error != std::errc{} || number > max_exact_integer || number < -max_exact_integer)
        lines.fail(
            fmt::format("integer {} is too large, expected at most 2^53 in magnitude: this version computes "
                        "in double precision",
                        quoted(word)));
    return static_cast<double>(number);
}

double parse_real(const Lines &lines, std::string_view word) {
    double number = 0;
    const std::errc error = parse(word, number);
    if (error == std::errc::invalid_argument)
        lines.fail(fmt::format("bad number {}, expected a real number", quoted(word)));
    if (error != std::errc{})
        lines.fail(fmt::format("number {} is out of range, expected a magnitude that double precision holds "
                               "(about 1e-308 to 1e308)",
                               quoted(word)));
    if (!std::isfinite(number))
        lines.fail(fmt::format("number {} is not finite, expected a real number", quoted(word)));
    return number;
}

double parse_value(const Lines &lines, Field field, std::string_view word) {
    return field == Field::integer ? parse_integer(lines, word) : parse_real(lines, word);
}

void next_entry(Lines &lines, std::int64_t done, const Size &size) {
    if (!lines.next())
        lines.fail(
            fmt::format("the file is truncated: it ends after {} entries, expected {}", done, size.count));
}

std::vector<Entry> read_coordinates(Lines &lines, const Header &header, const Size &size) {
    const bool pattern = header.field == Field::pattern;
    std::vector<Entry> entries;
    for (std::int64_t k = 0; k < size.count; ++k) {
        next_entry(lines, k, size);
        const auto &words = lines.words();
        if (words.size() != (pattern ? 2u : 3u))
            lines.fail(fmt::format("bad entry of {} words, expected {}", words.size(),
                                   pattern ? "'row column'" : "'row column value'"));
        Entry entry{};
        entry.row = parse_index(lines, words[0], "row", size.n_rows);
        entry.col = parse_index(lines, words[1], "column", size.n_cols);
        entry.value = pattern ? 1.0 : parse_value(lines, header.field, words[2]);
        entry.line = lines.number();
        if (header.symmetry == Symmetry::skew && entry.row == entry.col)
            lines.fail(fmt::format("entry ({0}, {0}) lies on the diagonal, expected none there in a "
                                   "skew-symmetric file",
                                   entry.row + 1));
        entries.push_back(entry);
    }
    return entries;
}

// Column by column; below the diagonal only, if symmetric.
std::vector<Entry> read_array(Lines &lines, const Header &header, const Size &size) {
    std::vector<Entry> entries;
    std::int64_t done = 0;
    for (std::int64_t col = 0; col < size.n_cols; ++col) {
        const std::int64_t first = header.symmetry == Symmetry::general     ? 0
                                   : header.symmetry == Symmetry::symmetric ? col
                                                                            : col + 1;
        for (std::int64_t row = first; row < size.n_rows; ++row, ++done) {
            next_entry(lines, done, size);
            if (lines.words().size() != 1)
                lines.fail(fmt::format("{} words, expected one number a line", lines.words().size()));
            const double value = parse_value(lines, header.field, lines.words()[0]);
            if (value != 0.0) entries.push_back({row, col, value, lines.number()});
        }
    }
    return entries;
}

void mirror(std::vector<Entry> &entries, Symmetry symmetry) {
    const double sign = symmetry == Symmetry::skew ? -1.0 : 1.0;
    const std::size_t count = entries.size();
    for (std::size_t k = 0; k < count; ++k) {
        const Entry e = entries[k];
        if (e.row != e.col) entries.push_back({e.col, e.row, sign * e.value, e.line});
    }
}

// Of sorted entries; the duplicate that comes first in the file is reported.
void refuse_duplicates(const Lines &lines, const std::vector<Entry> &entries, Symmetry symmetry) {
    const Entry *duplicate = nullptr;
    std::int64_t first_line = 0;
    for (std::size_t k = 1; k < entries.size(); ++k) {
        const Entry &a = entries[k - 1], &b = entries[k];
        if (a.row != b.row || a.col != b.col || (duplicate && duplicate->line <= b.line)) continue;
        duplicate = &b;
        first_line = a.line;
    }
    if (!duplicate) return;
    const char *mirrored = symmetry == Symmetry::general ? "" : ", as such or mirrored at the diagonal";
    lines.fail_at(
        duplicate->line,
        fmt::format("duplicate entry ({}, {}): line {} gives it already{}, expected each position once",
                    duplicate->row + 1, duplicate->col + 1, first_line, mirrored));
}

Csr assemble(const std::vector<Entry> &entries, const Header &header, const Size &size) {
    Csr a;
    a.n_rows = size.n_rows;
    a.n_cols = size.n_cols;
    a.pattern = header.field == Field::pattern;
    a.row_ptr.assign(static_cast<std::size_t>(size.n_rows) + 1, 0);
    a.col_idx.reserve(entries.size());
    if (!a.pattern) a.values.reserve(entries.size());
    for (const Entry &e : entries) {
        ++a.row_ptr[static_cast<std::size_t>(e.row) + 1];
        a.col_idx.push_back(e.col);
        if (!a.pattern) a.values.push_back(e.value);
    }
    for (std::size_t i = 1; i < a.row_ptr.size(); ++i) a.row_ptr[i] += a.row_ptr[i - 1];
    return a;
}

} // namespace

Csr read_matrix_market(std::istream &in, const std::string &name) {
    Lines lines(in, name);
    const Header header = read_banner(lines);
    const Size size = read_size(lines, header);

    std::vector<Entry> entries = header.layout == Layout::coordinate ? read_coordinates(lines, header, size)
                                                                     : read_array(lines, header, size);
    if (lines.next())
        lines.fail(fmt::format("extra data, expected the end of the file after the announced {} entries",
                               size.count));

    if (header.symmetry != Symmetry::general) mirror(entries, header.symmetry);
    std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
        return std::tie(a.row, a.col, a.line) < std::tie(b.row, b.col, b.line);
    });
    refuse_duplicates(lines, entries, header.symmetry);
    return assemble(entries, header, size);
}

Csr read_matrix_market_file(const std::string &path) {
    if (path == "-") return read_matrix_market(std::cin, "stdin");
    // Opening one succeeds, and reading it fails without a reason.
    if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
        throw MatrixMarketError(
            fmt::format("{}: this is a directory, expected a file in Matrix Market format", path));
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in)
        throw MatrixMarketError(fmt::format("{}: the file cannot be opened: {}", path,
                                            errno ? std::strerror(errno) : "unknown reason"));
    return read_matrix_market(in, path);
}

Csr without_zeros(Csr a) {
    if (a.pattern) return a;
    std::size_t kept = 0, k = 0;
    for (std::size_t row = 1; row < a.row_ptr.size(); ++row) {
        for (; k < static_cast<std::size_t>(a.row_ptr[row]); ++k) {
            if (a.values[k] == 0.0) continue;
            a.values[kept] = a.values[k];
            a.col_idx[kept] = a.col_idx[k];
            ++kept;
        }
        a.row_ptr[row] = static_cast<std::int64_t>(kept);
    }
    a.values.resize(kept);
    a.col_idx.resize(kept);
    return a;
}

} // namespace perm
