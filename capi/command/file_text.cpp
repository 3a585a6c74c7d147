#include "file_text.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <numeric>
#include <perm.hpp>
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

namespace {

constexpr std::int64_t most_exact = std::int64_t{1} << 53; // integers that are doubles, and those below
constexpr int most_exponent = 100000;                      // that the library takes

bool is_exact(std::int64_t number) { return -most_exact <= number && number <= most_exact; }

FileNumber parse_integer(const Lines &lines, std::string_view word) {
    std::int64_t number = 0;
    const std::errc error = parse(word, number);
    if (error == std::errc::invalid_argument)
        lines.fail(fmt::format("bad number {}, expected an integer", quoted(word)));
    if (error != std::errc{} || !is_exact(number)) return {{}, std::string(word)};
    return {static_cast<double>(number), ""};
}

bool has_fit_exponent(std::string_view word) {
    const auto e = word.find_first_of("eEdD");
    if (e == word.npos) return true;
    int exponent = 0;
    return parse(word.substr(e + 1), exponent) == std::errc{} && -most_exponent <= exponent &&
           exponent <= most_exponent;
}

double parse_real(const Lines &lines, std::string_view word, Reading reading) {
    double number = 0;
    const std::errc error = parse(word, number);
    if (error == std::errc::invalid_argument)
        lines.fail(fmt::format("bad number {}, expected a real number", quoted(word)));
    if (reading == Reading::nearest_doubles && error != std::errc{})
        lines.fail(fmt::format("number {} is out of range, expected a magnitude that double precision holds "
                               "(about 1e-308 to 1e308), or the option --decimal",
                               quoted(word)));
    if (reading == Reading::as_written && !has_fit_exponent(word))
        lines.fail(fmt::format("number {} is out of range, expected an exponent from -{} to {}", quoted(word),
                               most_exponent, most_exponent));
    if (!std::isfinite(number))
        lines.fail(fmt::format("number {} is not finite, expected a real number", quoted(word)));
    return number;
}

// The parts of a complex text.
std::pair<std::string_view, std::string_view> split_parts(std::string_view text) {
    const auto blank = std::min(text.find(' '), text.size());
    return {text.substr(0, blank), text.substr(std::min(blank + 1, text.size()))};
}

bool is_zero_part(std::string_view part) {
    return part.substr(0, part.find_first_of("eE/")).find_first_of("123456789") == part.npos;
}

// The permanent of one row is the sum of its entries, which the library knows exactly.
Result sum_of(perm_value_type type, const void *values, std::size_t count) {
    Csr row;
    row.n_rows = 1;
    row.n_cols = static_cast<std::int64_t>(count);
    row.row_ptr = {0, row.n_cols};
    row.col_idx.resize(count);
    std::iota(row.col_idx.begin(), row.col_idx.end(), std::int64_t{0});
    perm_csr a = row.view();
    a.value_type = type;
    a.values = values;
    perm_opts opts = PERM_OPTS_INIT;
    opts.precision = "exact";
    return compute(a, opts);
}

std::string exact_sum(const std::vector<std::string> &terms) {
    std::vector<const char *> texts;
    for (const std::string &term : terms) texts.push_back(term.c_str());
    return sum_of(PERM_VALUE_TEXT, texts.data(), texts.size()).text();
}

double nearest_sum(const std::vector<double> &terms) {
    double sum = terms.front();
    for (std::size_t k = 1; k < terms.size(); ++k) {
        const double longer = sum + terms[k], of_term = longer - sum;
        const bool is_rounded = (sum - (longer - of_term)) + (terms[k] - of_term) != 0; // Knuth's two-sum
        if (is_rounded && k + 1 < terms.size())
            return sum_of(PERM_VALUE_F64, terms.data(), terms.size()).value();
        sum = longer;
    }
    return sum;
}

std::string negative_part(std::string_view part) {
    if (part.starts_with('-')) return std::string(part.substr(1));
    if (part.starts_with('+')) part.remove_prefix(1);
    return fmt::format("-{}", part);
}

} // namespace

std::size_t words_of(Field field) { return field == Field::pattern ? 0 : field == Field::complex ? 2 : 1; }

FileNumber parse_number(const Lines &lines, std::string_view word, std::string_view im, Field field,
                        Reading reading) {
    if (field == Field::pattern) return {1.0, ""};
    if (field == Field::integer) return parse_integer(lines, word);
    FileNumber number{parse_real(lines, word, reading), ""};
    if (reading == Reading::as_written) number.text = with_e(word);
    if (field == Field::complex) {
        number.value.imag(parse_real(lines, im, reading));
        if (reading == Reading::as_written) number.text.append(" ").append(with_e(im));
    }
    return number;
}

FileNumber parse_number(const Lines &lines, std::size_t first, Field field, Reading reading) {
    const auto word = [&](std::size_t k) {
        return k < words_of(field) ? lines.words()[first + k] : std::string_view();
    };
    return parse_number(lines, word(0), word(1), field, reading);
}

FileNumber whole_number(std::int64_t number) {
    if (!is_exact(number)) return {{}, std::to_string(number)};
    return {static_cast<double>(number), ""};
}

FileNumber whole_number(std::uint64_t number) {
    if (number > static_cast<std::uint64_t>(most_exact)) return {{}, std::to_string(number)};
    return {static_cast<double>(number), ""};
}

std::string text_of(const FileNumber &number) {
    // Without a text of their own are integers alone, among longer ones.
    return number.text.empty() ? fmt::format("{:.0f}", number.value.real()) : number.text;
}

bool is_zero_text(std::string_view text) {
    const auto [re, im] = split_parts(text);
    return is_zero_part(re) && is_zero_part(im);
}

bool is_zero(const FileNumber &number) {
    return number.text.empty() ? number.value == 0.0 : is_zero_text(number.text);
}

bool is_real(const FileNumber &number) {
    return number.text.empty() ? number.value.imag() == 0 : is_zero_part(split_parts(number.text).second);
}

FileNumber negative(const FileNumber &number) {
    if (number.text.empty()) return {-number.value, ""};
    const auto [re, im] = split_parts(number.text);
    return {-number.value, im.empty() ? negative_part(re) : negative_part(re) + " " + negative_part(im)};
}

FileNumber conjugate(const FileNumber &number) {
    const auto value = std::conj(number.value);
    if (number.text.empty() || is_real(number)) return {value, number.text};
    const auto [re, im] = split_parts(number.text);
    return {value, std::string(re) + " " + negative_part(im)};
}

FileNumber sum(const std::vector<FileNumber> &terms, Field field) {
    const bool are_texts = std::ranges::any_of(terms, [](const FileNumber &x) { return !x.text.empty(); });
    const bool are_whole = field == Field::integer || field == Field::pattern;
    if (are_whole && !are_texts) {
        std::int64_t total = 0;
        const auto fits = [&](const FileNumber &x) {
            return !__builtin_add_overflow(total, static_cast<std::int64_t>(x.value.real()), &total);
        };
        if (std::ranges::all_of(terms, fits)) return whole_number(total);
    }
    if (are_texts || are_whole) {
        std::vector<std::string> re, im;
        for (const FileNumber &term : terms) {
            const std::string text = text_of(term);
            const auto [first, second] = split_parts(text);
            re.emplace_back(first);
            if (!second.empty()) im.emplace_back(second);
        }
        const std::string text = exact_sum(re);
        std::int64_t whole = 0;
        if (are_whole && parse(text, whole) == std::errc{}) return whole_number(whole);
        return {{}, im.empty() ? text : text + " " + exact_sum(im)};
    }
    std::vector<double> re, im;
    for (const FileNumber &term : terms) {
        re.push_back(term.value.real());
        im.push_back(term.value.imag());
    }
    return {{nearest_sum(re), nearest_sum(im)}, ""};
}

} // namespace perm
