#include "matrix_file.hpp"

#include "file_entries.hpp"
#include "lines.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <istream>
#include <limits>
#include <utility>
#include <vector>

namespace perm {
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

std::int64_t parse_vertex(const Lines &lines, std::string_view word, std::int64_t least, std::int64_t most) {
    std::int64_t vertex = 0;
    const std::errc error = parse(word, vertex);
    if (error == std::errc::invalid_argument)
        lines.fail(fmt::format("bad vertex {}, expected an integer", quoted(word)));
    if (error != std::errc{} || vertex < least || vertex > most)
        lines.fail(fmt::format("vertex {} is out of range, expected {} to {}", quoted(word), least, most));
    return vertex;
}

// From the words `first` and on, of vertices from `least` to `most`.
void read_edge(const Lines &lines, std::size_t first, std::int64_t least, std::int64_t most, EdgeList &list) {
    const auto &words = lines.words();
    const std::size_t count = words.size() - first;
    if (count != 2 && count != 3)
        lines.fail(fmt::format("bad edge of {} words, expected two vertices, and perhaps a weight", count));
    Edge edge{parse_vertex(lines, words[first], least, most),
              parse_vertex(lines, words[first + 1], least, most),
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
