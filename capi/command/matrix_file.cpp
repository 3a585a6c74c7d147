#include "matrix_file.hpp"

#include "compressed.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string_view>
#include <system_error>

namespace perm {
namespace {

using Reader = FileMatrix (*)(std::istream &, const std::string &, const ReadOptions &);

constexpr const char *array_of_numpy = "an array of numpy";

struct Format {
    const char *ending, *name;
    Reader read;
};

constexpr Format formats[] = {{".mtx", "Matrix Market", read_matrix_market}, // of any other ending, too
                              {".csv", "CSV", read_csv},
                              {".tsv", "CSV", read_csv},
                              {".npy", array_of_numpy, read_npy},
                              {".npz", "an archive of numpy", read_npz},
                              {".edges", "a list of edges", read_edges},
                              {".dimacs", "DIMACS", read_dimacs},
                              {".col", "DIMACS", read_dimacs}};

// What a file's first byte says, which a pipe lets us see as well. No text of numbers begins so.
struct Mark {
    char byte;
    const char *name, *ending;
};
constexpr const char *gz = ".gz";
constexpr Mark marks[] = {
    {'\x1f', "data of gzip", gz}, {'\x93', array_of_numpy, ".npy"}, {'P', "a zip archive", ".npz"}};

bool take_ending(std::string &name, std::string_view ending) {
    if (!name.ends_with(ending)) return false;
    name.resize(name.size() - ending.size());
    return true;
}

const Format &format_of(const std::string &name, const std::string &given) {
    const std::string as = given.empty() ? name : "." + given;
    for (const Format &format : formats)
        if (as.ends_with(format.ending)) return format;
    return formats[0];
}

void check_mark(std::istream &in, const std::string &path, std::string_view ending,
                const std::string &by_name) {
    const int first = in.peek();
    if (first == std::istream::traits_type::eof()) return; // which the reader tells
    const auto *found = std::ranges::find(
        marks, first, [](const Mark &mark) { return std::char_traits<char>::to_int_type(mark.byte); });
    const auto *expected = std::ranges::find(marks, ending, &Mark::ending);
    const bool may_be_header = ending == ".csv" || ending == ".tsv";
    if (found == expected || (may_be_header && found != std::end(marks) && found->byte == 'P')) return;
    const std::string begins = found == std::end(marks) ? fmt::format("does not begin as {}", expected->name)
                                                        : fmt::format("begins as {}", found->name);
    throw FileError(fmt::format("{}: by its name this is {}, but it {}; expected a name that ends as the "
                                "format's do: .mtx, {}, or .gz behind it",
                                path, by_name, begins, other_formats));
}

} // namespace

FileMatrix read_matrix_file(const std::string &path, ReadOptions options) {
    std::string name = lower_case(path);
    const bool is_compressed = take_ending(name, gz);
    const Format &format = format_of(name, options.format);
    if (path == "-") return format.read(std::cin, "stdin", options);
    // Opening one succeeds, and reading it fails without a reason.
    if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
        throw FileError(fmt::format("{}: this is a directory, expected a file of a matrix", path));
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw FileError(fmt::format("{}: the file cannot be opened: {}", path,
                                    errno ? std::strerror(errno) : "unknown reason"));
    const std::string by_name =
        is_compressed ? fmt::format("{}, compressed by gzip,", format.name) : format.name;
    check_mark(file, path, is_compressed ? gz : format.ending, by_name);
    if (!is_compressed) {
        if (format.read != read_npz) options.most_bytes = unlimited;
        return format.read(file, path, options);
    }
    if (format.read == read_npz)
        throw FileError(fmt::format(
            "{}: an archive cannot be read out of gzip's data, expected it as it is: gunzip it", path));
    GunzipBuffer buffer(file, path);
    std::istream in(&buffer);
    in.exceptions(std::ios::badbit);
    return format.read(in, path, options);
}

namespace {

Reader reader_of(const std::string &path, const std::string &format) {
    std::string name = lower_case(path);
    take_ending(name, gz);
    return format_of(name, format).read;
}

} // namespace

bool is_graph_file(const std::string &path, const std::string &format) {
    const Reader read = reader_of(path, format);
    return read == read_edges || read == read_dimacs;
}

std::string in_terms_of_file(std::string text, const std::string &path, const std::string &format) {
    const Reader read = reader_of(path, format);
    if (read == read_npy || read == read_npz) return text;
    for (const std::string_view word : {"row ", "column ", "_multiplicity["})
        for (auto at = text.find(word); at != text.npos; at = text.find(word, at)) {
            at += word.size();
            std::int64_t index = 0;
            const char *begin = text.data() + at;
            const auto [end, error] = std::from_chars(begin, text.data() + text.size(), index);
            if (error != std::errc{}) continue;
            text.replace(at, static_cast<std::size_t>(end - begin), std::to_string(index + 1));
        }
    constexpr std::string_view half = "give both: A + A^T, the diagonal once";
    if (const auto at = text.find(half); read == read_matrix_market && at != text.npos)
        text.replace(at, half.size(), "write symmetric in place of general in line 1 of the file");
    return text;
}

} // namespace perm
