#include "matrix_file.hpp"

#include "file_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <istream>
#include <string_view>
#include <system_error>
#include <utility>

namespace perm {
namespace {

constexpr std::string_view separators = ",;\t", blanks = " \t\r\v\f";
constexpr const char *a_number = "a number such as -12, 0.5, 1e-3, 1/3 or 1+2j";

// What a file turns out to be when it is read for the first time.
struct Table {
    char separator = 0; // 0: there is one field a line
    Field field = Field::integer;
    bool has_fractions = false;
    std::int64_t header_line = 0, first_line = 0; // 0: none
    std::int64_t n_rows = 0, n_cols = 0;
};

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(blanks);
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

// Without quotation marks around it.
std::string_view bare(std::string_view field) {
    field = trimmed(field);
    if (field.size() < 2 || field.front() != '"' || field.back() != '"') return field;
    return trimmed(field.substr(1, field.size() - 2));
}

// The places of characters of `wanted` that stand outside quotation marks.
template <class Work>
void for_each_unquoted(std::string_view line, std::string_view wanted, const Work &work) {
    bool is_quoted = false;
    for (std::size_t k = 0; k < line.size(); ++k) {
        if (line[k] == '"') is_quoted = !is_quoted;
        if (!is_quoted && wanted.find(line[k]) != wanted.npos) work(k);
    }
}

char find_separator(const Lines &lines, std::string_view line) {
    char separator = 0;
    for_each_unquoted(line, separators, [&](std::size_t k) {
        if (separator && separator != line[k])
            lines.fail(
                "several of comma, semicolon and tab stand between the fields, expected one of them alone "
                "(decimals have a point)");
        separator = line[k];
    });
    return separator;
}

void split_fields(std::string_view line, char separator, std::vector<std::string_view> &fields) {
    fields.clear();
    std::size_t begin = 0;
    if (separator)
        for_each_unquoted(line, {&separator, 1}, [&](std::size_t end) {
            fields.push_back(bare(line.substr(begin, end - begin)));
            begin = end + 1;
        });
    fields.push_back(bare(line.substr(begin)));
}

// A field as the texts of its real and its imaginary part, which is empty where there is none.
struct FieldParts {
    std::string_view re, im;
};

// As Python, R and numpy.savetxt write them: 1+2j, (1-2j), 2i, (1+-2j).
FieldParts parts_of(std::string_view field) {
    if (field.size() > 1 && field.front() == '(' && field.back() == ')')
        field = trimmed(field.substr(1, field.size() - 2));
    if (field.size() < 2 || std::string_view("jJiI").find(field.back()) == field.npos) return {field, {}};
    field.remove_suffix(1);
    std::size_t sign = field.find_last_of("+-");
    const auto is_of_exponent = [&](std::size_t k) {
        return k > 0 && std::string_view("eEdD").find(field[k - 1]) != field.npos;
    };
    while (sign != field.npos && is_of_exponent(sign)) sign = field.find_last_of("+-", sign - 1);
    if (sign == field.npos || sign == 0) return {"0", field};
    const bool has_two_signs = field[sign] == '-' && field[sign - 1] == '+';
    return {trimmed(field.substr(0, has_two_signs ? sign - 1 : sign)), field.substr(sign)};
}

bool is_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

std::string_view without_sign(std::string_view part) {
    return part.starts_with('+') || part.starts_with('-') ? part.substr(1) : part;
}

bool is_integer_part(std::string_view part) { return is_digits(without_sign(part)); }

bool is_fraction(std::string_view part) {
    const auto slash = part.find('/');
    return slash != part.npos && is_integer_part(part.substr(0, slash)) && is_digits(part.substr(slash + 1));
}

bool is_part(std::string_view part) {
    double number = 0;
    return is_fraction(part) || parse(part, number) != std::errc::invalid_argument;
}

bool is_number(std::string_view field) {
    const FieldParts parts = parts_of(field);
    return is_part(parts.re) && (parts.im.empty() || is_part(parts.im));
}

void check_field(const Lines &lines, std::string_view field, std::size_t number) {
    if (field.empty())
        lines.fail(
            fmt::format("field {} is empty, expected {} (0 where there is no entry)", number, a_number));
    if (!is_number(field))
        lines.fail(fmt::format("bad number {} in field {}, expected {}", quoted(field), number, a_number));
    for (const std::string_view part : {parts_of(field).re, parts_of(field).im})
        if (is_fraction(part) && part.substr(part.find('/')).find_first_of("123456789") == part.npos)
            lines.fail(fmt::format("the denominator of {} in field {} is 0", quoted(field), number));
}

void see_numbers(const Lines &lines, const std::vector<std::string_view> &fields, Table &table) {
    if (table.n_rows == 0) table.first_line = lines.number();
    if (table.n_cols == 0) table.n_cols = static_cast<std::int64_t>(fields.size());
    if (std::ssize(fields) != table.n_cols)
        lines.fail(fmt::format("{} fields, expected {} as in line {}", fields.size(), table.n_cols,
                               table.header_line ? table.header_line : table.first_line));
    for (std::size_t k = 0; k < fields.size(); ++k) {
        check_field(lines, fields[k], k + 1);
        const FieldParts parts = parts_of(fields[k]);
        for (const std::string_view part : {parts.re, parts.im}) table.has_fractions |= is_fraction(part);
        if (!parts.im.empty())
            table.field = Field::complex;
        else if (table.field == Field::integer && !is_integer_part(parts.re))
            table.field = Field::real;
    }
    if (++table.n_rows > max_dimension)
        lines.fail(fmt::format("this is row {}, expected at most {} of them", table.n_rows, max_dimension));
}

// The next line that is no comment; it is not blank.
bool next_row(Lines &lines) {
    while (lines.next())
        if (!trimmed(lines.line()).starts_with('#')) return true;
    return false;
}

Table survey(std::istream &in, const std::string &name) {
    Lines lines(in, name);
    Table table;
    std::vector<std::string_view> fields;
    for (bool is_first = true; next_row(lines); is_first = false) {
        const std::string_view line = lines.line();
        if (is_first) table.separator = find_separator(lines, line);
        split_fields(line, table.separator, fields);
        if (is_first && std::ranges::none_of(fields, is_number)) {
            table.header_line = lines.number();
            table.n_cols = std::ssize(fields);
            continue;
        }
        see_numbers(lines, fields, table);
    }
    if (table.n_rows == 0)
        lines.fail(fmt::format("the file ends here{}, expected rows of numbers with commas between them",
                               table.header_line ? " behind its header" : ""));
    return table;
}

FileNumber number_of(const Lines &lines, std::string_view field, const Table &table, Reading reading) {
    const FieldParts parts = parts_of(field);
    const std::string_view im = parts.im.empty() ? "0" : parts.im;
    if (!table.has_fractions) return parse_number(lines, parts.re, im, table.field, reading);
    const auto text_of_part = [&](std::string_view part) {
        if (part.starts_with('+')) part.remove_prefix(1);
        return is_fraction(part) ? std::string(part)
                                 : parse_number(lines, part, "", Field::real, Reading::as_written).text;
    };
    FileNumber number;
    number.text = text_of_part(parts.re);
    if (table.field == Field::complex) number.text.append(" ").append(text_of_part(im));
    return number;
}

} // namespace

FileMatrix read_csv(std::istream &in, const std::string &name, const ReadOptions &options) {
    Table table = survey(in, name);
    if (table.has_fractions && table.field == Field::integer) table.field = Field::real;
    in.clear();
    Lines lines(in, name);
    if (!in.seekg(0)) lines.fail("the file cannot be read twice, expected one that is not a pipe");
    FileRoom room(name, options.most_bytes);
    FileEntries entries(room);
    std::vector<std::string_view> fields;
    for (std::int64_t row = 0; row < table.n_rows && next_row(lines);) {
        if (lines.number() == table.header_line) continue;
        split_fields(lines.line(), table.separator, fields);
        if (std::ssize(fields) != table.n_cols) lines.fail("the file has changed while it was read");
        for (std::size_t col = 0; col < fields.size(); ++col) {
            FileNumber number = number_of(lines, fields[col], table, options.reading);
            if (!is_zero(number))
                entries.add(row, static_cast<std::int64_t>(col), std::move(number), lines.number());
        }
        ++row;
    }
    FileMatrix a = entries.matrix(table.n_rows, table.n_cols, table.field);
    if (table.header_line)
        a.note =
            fmt::format("{}:{}: this line holds no number and is taken as a header", name, table.header_line);
    return a;
}

} // namespace perm
