// Files with an entry, or an edge of a graph, on each line: Matrix Market, lists of edges, DIMACS.

#include "file_text.hpp"
#include "matrix_file.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <initializer_list>
#include <istream>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace perm {
namespace {

enum class Layout { coordinate, array };
enum class Symmetry { general, symmetric, skew, hermitian };

struct Header {
    Layout layout;
    Field field;
    Symmetry symmetry;
    Reading reading;
};

struct Size {
    std::int64_t n_rows, n_cols, count;
};

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
    if (const std::string word = lower_case(words[0]); word != "%%matrixmarket" && word != "%matrixmarket")
        lines.fail(fmt::format("the banner is missing, expected {}; of other formats the name ends with, or "
                               "--format says, {}",
                               form, other_formats));
    if (words.size() != 5) lines.fail(fmt::format("bad banner of {} words, expected {}", words.size(), form));
    if (lower_case(words[1]) != "matrix")
        lines.fail(fmt::format("unknown object {} in the banner, expected: matrix", quoted(words[1])));

    Header header{};
    header.layout = choose<Layout>(lines, words[2], "format",
                                   {{"coordinate", Layout::coordinate}, {"array", Layout::array}});
    header.field = choose<Field>(lines, words[3], "field",
                                 {{"real", Field::real},
                                  {"integer", Field::integer},
                                  {"unsigned-integer", Field::integer},
                                  {"complex", Field::complex},
                                  {"pattern", Field::pattern}});
    header.symmetry = choose<Symmetry>(lines, words[4], "symmetry",
                                       {{"general", Symmetry::general},
                                        {"symmetric", Symmetry::symmetric},
                                        {"skew-symmetric", Symmetry::skew},
                                        {"hermitian", Symmetry::hermitian}});
    // Without complex numbers it is the same.
    if (header.symmetry == Symmetry::hermitian && header.field != Field::complex)
        header.symmetry = Symmetry::symmetric;

    if (header.field == Field::pattern && header.layout == Layout::array)
        lines.fail("an array file cannot be a pattern, expected the field real, integer or complex");
    if (header.field == Field::pattern && header.symmetry == Symmetry::skew)
        lines.fail("a pattern cannot be skew-symmetric, expected general or symmetric");
    return header;
}

// How many entries a file of these dimensions can hold; within 64 bits as dimensions are within 31.
std::int64_t capacity(Symmetry symmetry, std::int64_t n_rows, std::int64_t n_cols) {
    if (symmetry == Symmetry::general) return n_rows * n_cols;
    return n_rows * (n_rows + (symmetry == Symmetry::skew ? -1 : 1)) / 2;
}

// How many may be given: zeros on the diagonal too.
std::int64_t most_entries(const Header &header, std::int64_t n_rows, std::int64_t n_cols) {
    const bool may_have_diagonal = header.layout == Layout::coordinate && header.symmetry == Symmetry::skew;
    return capacity(header.symmetry, n_rows, n_cols) + (may_have_diagonal ? n_rows : 0);
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

Size read_size(Lines &lines, const Header &header, Duplicates duplicates) {
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

    const std::int64_t most = most_entries(header, size.n_rows, size.n_cols);
    size.count = most;
    if (coordinate)
        size.count = parse_size(lines, words[2], "entries", std::numeric_limits<std::int64_t>::max());
    if (size.count > most && duplicates == Duplicates::refuse)
        lines.fail(
            fmt::format("the size line announces {} entries, expected at most {} in a {} x {} file of "
                        "this symmetry; what is given more than once is added up with --duplicates sum",
                        size.count, most, size.n_rows, size.n_cols));
    const std::string wrong = wrong_size(size.n_rows, size.n_cols, size.count);
    if (!wrong.empty()) lines.fail(wrong);
    return size;
}

// A place in the matrix, or a vertex: `what` it is.
std::int64_t parse_place(const Lines &lines, std::string_view word, const char *what, std::int64_t least,
                         std::int64_t most) {
    std::int64_t place = 0;
    const std::errc error = parse(word, place);
    if (error == std::errc::invalid_argument)
        lines.fail(fmt::format("bad {} {}, expected an integer", what, quoted(word)));
    if (error != std::errc{} || place < least || place > most)
        lines.fail(fmt::format("{} {} is out of range, expected {} to {}", what, quoted(word), least, most));
    return place;
}

void next_entry(Lines &lines, std::int64_t done, const Size &size) {
    if (!lines.next())
        lines.fail(
            fmt::format("the file is truncated: it ends after {} entries, expected {}", done, size.count));
}

FileNumber read_value(const Lines &lines, std::size_t word, const Header &header, std::int64_t row,
                      std::int64_t col) {
    FileNumber value = parse_number(lines, word, header.field, header.reading);
    if (header.symmetry == Symmetry::hermitian && row == col && !is_real(value))
        lines.fail(
            fmt::format("the imaginary part of the entry ({0}, {0}) is {1}, expected 0 on the diagonal "
                        "of a Hermitian file",
                        row + 1, quoted(lines.words()[word + 1])));
    return value;
}

void read_coordinates(Lines &lines, const Header &header, const Size &size, FileEntries &entries) {
    constexpr const char *forms[] = {"'row column'", "'row column value'", "'row column re im'"};
    const std::size_t value_words = words_of(header.field);
    for (std::int64_t k = 0; k < size.count; ++k) {
        next_entry(lines, k, size);
        const auto &words = lines.words();
        if (words.size() != 2 + value_words)
            lines.fail(fmt::format("bad entry of {} words, expected {}", words.size(), forms[value_words]));
        const std::int64_t row = parse_place(lines, words[0], "row index", 1, size.n_rows) - 1;
        const std::int64_t col = parse_place(lines, words[1], "column index", 1, size.n_cols) - 1;
        FileNumber value = read_value(lines, 2, header, row, col);
        if (header.symmetry == Symmetry::skew && row == col && !is_zero(value))
            lines.fail(fmt::format("entry ({0}, {0}) lies on the diagonal, expected 0 or none there in a "
                                   "skew-symmetric file",
                                   row + 1));
        entries.add(row, col, std::move(value), lines.number());
    }
}

// Of a column of an array file.
std::int64_t first_row(Symmetry symmetry, std::int64_t col) {
    return symmetry == Symmetry::general ? 0 : symmetry == Symmetry::skew ? col + 1 : col;
}

// Column by column; below the diagonal only, if symmetric.
void read_array(Lines &lines, const Header &header, const Size &size, FileEntries &entries) {
    std::int64_t done = 0;
    for (std::int64_t col = 0; col < size.n_cols; ++col)
        for (std::int64_t row = first_row(header.symmetry, col); row < size.n_rows; ++row, ++done) {
            next_entry(lines, done, size);
            if (lines.words().size() != words_of(header.field))
                lines.fail(fmt::format("{} words, expected one number a line{}", lines.words().size(),
                                       header.field == Field::complex ? ", 're im'" : ""));
            FileNumber value = read_value(lines, 0, header, row, col);
            if (!is_zero(value)) entries.add(row, col, std::move(value), lines.number());
        }
}

FileNumber mirror_image(const FileNumber &value, Symmetry symmetry) {
    return symmetry == Symmetry::skew        ? negative(value)
           : symmetry == Symmetry::hermitian ? conjugate(value)
                                             : value;
}

void mirror(FileEntries &entries, Symmetry symmetry) {
    const std::size_t count = entries.size();
    for (std::size_t k = 0; k < count; ++k) {
        const FileEntry &e = entries[k];
        if (e.row != e.col) entries.add(e.col, e.row, mirror_image(e.number(), symmetry), e.place);
    }
}

[[noreturn]] void refuse_duplicate(const Lines &lines, const FileEntries::Duplicate &duplicate,
                                   Symmetry symmetry) {
    const auto &[first, second, advice] = duplicate;
    const char *mirrored = symmetry == Symmetry::general ? "" : ", as such or mirrored at the diagonal";
    lines.fail_at(
        second.place,
        fmt::format(
            "duplicate entry ({}, {}): line {} gives it already{}, expected each position once, or {}",
            second.row + 1, second.col + 1, first.place, mirrored, advice));
}

} // namespace

FileMatrix read_matrix_market(std::istream &in, const std::string &name, const ReadOptions &options) {
    Lines lines(in, name);
    Header header = read_banner(lines);
    header.reading = options.reading;
    const Size size = read_size(lines, header, options.duplicates);

    FileRoom room(name, options.most_bytes);
    FileEntries entries(room);
    (header.layout == Layout::coordinate ? read_coordinates : read_array)(lines, header, size, entries);
    if (lines.next())
        lines.fail(fmt::format("extra data, expected the end of the file after the announced {} entries",
                               size.count));

    if (header.symmetry != Symmetry::general) mirror(entries, header.symmetry);
    if (const auto duplicate = entries.sort(options.duplicates, header.field))
        refuse_duplicate(lines, *duplicate, header.symmetry);
    return entries.matrix(size.n_rows, size.n_cols, header.field);
}

namespace {

struct Edge {
    std::int64_t u, v; // as in the file
    FileNumber weight;
    std::int64_t line;
};

struct EdgeList {
    EdgeList(std::string name, const ReadOptions &read_options)
        : room(std::move(name), read_options.most_bytes), options(read_options) {}

    FileRoom room;
    ReadOptions options;
    std::vector<Edge> edges;
    Field field = Field::pattern; // where no edge has a weight
};

// From the words `first` and on, of vertices from `least` to `most`.
void read_edge(const Lines &lines, std::size_t first, std::int64_t least, std::int64_t most, EdgeList &list) {
    const auto &words = lines.words();
    const std::size_t count = words.size() - first;
    if (count != 2 && count != 3)
        lines.fail(fmt::format("bad edge of {} words, expected two vertices, and perhaps a weight", count));
    Edge edge{parse_place(lines, words[first], "vertex", least, most),
              parse_place(lines, words[first + 1], "vertex", least, most),
              {1.0, ""},
              lines.number()};
    if (!list.edges.empty() && (count == 3) != (list.field != Field::pattern))
        lines.fail("some edges have weights, expected weights of all or of none");
    if (count == 3) {
        const std::string_view word = words[first + 2];
        edge.weight = parse_number(lines, word, "", Field::real, list.options.reading);
        std::int64_t integer = 0;
        if (parse(word, integer) == std::errc::invalid_argument) {
            list.field = Field::real;
        } else {
            if (list.field != Field::real) list.field = Field::integer;
            const FileNumber exact = parse_number(lines, word, "", Field::integer, {});
            if (!exact.text.empty()) edge.weight.text = exact.text;
        }
    }
    list.room.grow(list.edges);
    list.edges.push_back(std::move(edge));
}

FileMatrix matrix_of(const Lines &lines, EdgeList &list, std::int64_t n,
                     const std::vector<std::int64_t> &vertices) {
    const auto place = [&](std::int64_t vertex) {
        return std::ranges::lower_bound(vertices, vertex) - vertices.begin();
    };
    if (const std::string wrong = wrong_size(n, n, std::ssize(list.edges)); !wrong.empty()) lines.fail(wrong);
    FileEntries entries(list.room);
    for (const auto &[u, v, weight, line] : list.edges) {
        const std::int64_t i = vertices.empty() ? u - 1 : place(u), j = vertices.empty() ? v - 1 : place(v);
        entries.add(i, j, weight, line);
        if (i != j) entries.add(j, i, weight, line);
    }
    if (const auto duplicate = entries.sort(list.options.duplicates, list.field)) {
        const auto vertex = [&](std::int32_t i) {
            return vertices.empty() ? i + 1 : vertices[static_cast<std::size_t>(i)];
        };
        const auto &[first, second, advice] = *duplicate;
        lines.fail_at(
            second.place,
            fmt::format("duplicate edge {} {}: line {} gives it already, expected each edge once, or {}",
                        vertex(second.row), vertex(second.col), first.place, advice));
    }
    return entries.matrix(n, n, list.field);
}

} // namespace

FileMatrix read_edges(std::istream &in, const std::string &name, const ReadOptions &options) {
    Lines lines(in, name);
    EdgeList list(name, options);
    while (lines.next())
        if (!lines.is_comment() && lines.words()[0].front() != '#')
            read_edge(lines, 0, std::numeric_limits<std::int64_t>::min(),
                      std::numeric_limits<std::int64_t>::max(), list);
    if (list.edges.empty()) lines.fail("the file ends here, expected edges 'u v' or 'u v w'");
    std::vector<std::int64_t> vertices;
    list.room.take(2 * list.edges.size() * sizeof(std::int64_t));
    for (const Edge &edge : list.edges) vertices.insert(vertices.end(), {edge.u, edge.v});
    std::ranges::sort(vertices);
    vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
    return matrix_of(lines, list, std::ssize(vertices), vertices);
}

FileMatrix read_dimacs(std::istream &in, const std::string &name, const ReadOptions &options) {
    Lines lines(in, name);
    EdgeList list(name, options);
    std::int64_t n = -1, announced = 0;
    while (lines.next()) {
        const auto &words = lines.words();
        if (words[0].front() == 'c') continue;
        if (words[0] == "p" && n < 0) {
            if (words.size() != 4 || (words[1] != "edge" && words[1] != "col") ||
                parse(words[2], n) != std::errc{} || parse(words[3], announced) != std::errc{} || n < 0 ||
                n > max_dimension)
                lines.fail("bad size line, expected 'p edge VERTICES EDGES' or 'p col VERTICES EDGES'");
        } else if (words[0] == "e" && n >= 0) {
            read_edge(lines, 1, 1, n, list);
        } else {
            lines.fail(
                fmt::format("the line begins with {}, expected {}", quoted(words[0]),
                            n < 0 ? "a comment 'c ...' or 'p edge VERTICES EDGES'" : "'e u v' or 'e u v w'"));
        }
    }
    if (n < 0) lines.fail("the file ends here, expected 'p edge VERTICES EDGES'");
    const std::int64_t count = std::ssize(list.edges);
    if (count != announced && 2 * count != announced)
        lines.fail(fmt::format("the file ends after {} edges, expected {}", count, announced));
    return matrix_of(lines, list, n, {});
}

} // namespace perm
