#include "matrix_file.hpp"

#include "compressed.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <tuple>

namespace perm {
namespace {

template <class Value, class IsZero>
void drop_zeros(Csr &a, std::vector<Value> &values, const IsZero &is_zero_value) {
    std::size_t kept = 0, k = 0;
    for (std::size_t row = 1; row < a.row_ptr.size(); ++row) {
        for (; k < static_cast<std::size_t>(a.row_ptr[row]); ++k) {
            if (is_zero_value(values[k])) continue;
            if (kept != k) values[kept] = std::move(values[k]);
            a.col_idx[kept] = a.col_idx[k];
            ++kept;
        }
        a.row_ptr[row] = static_cast<std::int64_t>(kept);
    }
    values.resize(kept);
    a.col_idx.resize(kept);
}

} // namespace

Csr without_zeros(Csr a) {
    const auto is_zero_value = [](const auto &x) { return x == 0.0; };
    if (!a.complex_values.empty())
        drop_zeros(a, a.complex_values, is_zero_value);
    else if (!a.pattern)
        drop_zeros(a, a.values, is_zero_value);
    return a;
}

FileMatrix without_zeros(FileMatrix a) {
    Csr &doubles = a;
    if (a.texts.empty())
        doubles = without_zeros(std::move(doubles));
    else
        drop_zeros(a, a.texts, is_zero_text);
    return a;
}

FileView::FileView(const FileMatrix &a) : csr_(a.view()) {
    if (!a.texts.empty()) {
        for (const std::string &text : a.texts) texts_.push_back(text.c_str());
        csr_.value_type = PERM_VALUE_TEXT;
        csr_.values = texts_.data();
    } else if (a.integers) {
        integers_.assign(a.values.begin(), a.values.end());
        csr_.value_type = PERM_VALUE_I64;
        csr_.values = integers_.data();
    }
}

namespace {

// Up to this dimension a matrix may have fewer entries than rows; beyond, row pointers would outgrow the
// file.
constexpr std::int64_t max_sparse_dimension = 10'000'000;

bool comes_before(const FileEntry &a, const FileEntry &b) {
    return std::tie(a.row, a.col, a.place) < std::tie(b.row, b.col, b.place);
}

bool are_of_one_place(const FileEntry &a, const FileEntry &b) { return a.row == b.row && a.col == b.col; }

bool are_equal(const FileEntry &a, const FileEntry &b) {
    return a.text && b.text ? *a.text == *b.text : !a.text && !b.text && a.value == b.value;
}

std::size_t bytes_of(const std::string &text) { return sizeof(std::string) + text.capacity(); }

} // namespace

void FileRoom::take(std::size_t bytes, std::size_t for_a_moment) {
    const auto left = static_cast<std::size_t>(bytes_ - taken_);
    if (bytes > left || for_a_moment > left - bytes)
        throw Error(
            PERM_REFUSED_MEMORY,
            fmt::format("{}: what it holds takes more than {:.3g} GB, the memory limit\n  raise the limit: "
                        "--memory",
                        name_, static_cast<double>(bytes_) / 1e9));
    taken_ += static_cast<std::int64_t>(bytes);
}

std::string wrong_size(std::int64_t n_rows, std::int64_t n_cols, std::int64_t count) {
    if (std::max(n_rows, n_cols) <= std::max(max_sparse_dimension, count)) return "";
    return fmt::format("a {} x {} matrix of {} entries is nearly all empty rows or columns, expected at "
                       "least as many entries as rows and columns beyond {}",
                       n_rows, n_cols, count, max_sparse_dimension);
}

void FileEntries::add(std::int64_t row, std::int64_t col, FileNumber number, std::int64_t place) {
    room_.grow(entries_);
    std::unique_ptr<const std::string> text;
    if (!number.text.empty()) {
        room_.take(bytes_of(number.text));
        text = std::make_unique<const std::string>(std::move(number.text));
    }
    entries_.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(col), number.value,
                        std::move(text), place});
}

std::optional<FileEntries::Duplicate> FileEntries::sort(Duplicates duplicates, Field field) {
    if (!std::is_sorted(entries_.begin(), entries_.end(), comes_before))
        std::sort(entries_.begin(), entries_.end(), comes_before);
    if (duplicates == Duplicates::sum) add_up(field);
    const FileEntry *first = nullptr, *second = nullptr;
    for (std::size_t k = 1; k < entries_.size(); ++k) {
        const FileEntry &a = entries_[k - 1], &b = entries_[k];
        if (!are_of_one_place(a, b) || (second && second->place <= b.place)) continue;
        if (duplicates == Duplicates::once && are_equal(a, b)) continue;
        first = &a;
        second = &b;
    }
    if (second)
        return Duplicate{*first, *second,
                         duplicates == Duplicates::once
                             ? "equal numbers there, or the option --duplicates sum, which adds them up"
                             : "the option --duplicates sum, which adds such up, or --duplicates once, for "
                               "equal ones"};
    if (duplicates == Duplicates::once)
        entries_.erase(std::unique(entries_.begin(), entries_.end(), are_of_one_place), entries_.end());
    return {};
}

void FileEntries::add_up(Field field) {
    std::size_t kept = 0;
    std::vector<FileNumber> terms;
    for (std::size_t begin = 0, end = 0; begin < size(); begin = end) {
        for (; end < size() && are_of_one_place(entries_[begin], entries_[end]); ++end) {
        }
        if (kept != begin) entries_[kept] = std::move(entries_[begin]);
        FileEntry &entry = entries_[kept++];
        if (end == begin + 1) continue;
        terms.assign(1, entry.number());
        for (std::size_t k = begin + 1; k < end; ++k) terms.push_back(entries_[k].number());
        FileNumber total = sum(terms, field);
        entry.value = total.value;
        entry.text =
            total.text.empty() ? nullptr : std::make_unique<const std::string>(std::move(total.text));
    }
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(kept), entries_.end());
}

FileMatrix FileEntries::matrix(std::int64_t n_rows, std::int64_t n_cols, Field field) const {
    room_.take((static_cast<std::size_t>(n_rows) + 1) * sizeof(std::int64_t));
    room_.take(size() * (sizeof(std::int64_t) + (field == Field::complex ? 2 : 1) * sizeof(double)));
    FileMatrix a;
    a.n_rows = n_rows;
    a.n_cols = n_cols;
    a.row_ptr.assign(static_cast<std::size_t>(n_rows) + 1, 0);
    a.col_idx.reserve(size());
    for (const FileEntry &e : entries_) {
        ++a.row_ptr[static_cast<std::size_t>(e.row) + 1];
        a.col_idx.push_back(e.col);
    }
    for (std::size_t i = 1; i < a.row_ptr.size(); ++i) a.row_ptr[i] += a.row_ptr[i - 1];

    const auto is_one = [](const FileEntry &e) { return !e.text && e.value == 1.0; };
    a.pattern = field == Field::pattern && std::ranges::all_of(entries_, is_one);
    if (a.pattern) return a;
    const auto fill = [this](auto &values, const auto &value_of) {
        values.reserve(size());
        for (const FileEntry &e : entries_) values.push_back(value_of(e));
    };
    // Long integers among doubles are doubles, too.
    const auto has_text = [](const FileEntry &e) { return e.text != nullptr; };
    const bool are_doubles = field == Field::real && !std::ranges::all_of(entries_, has_text);
    if (!are_doubles && std::ranges::any_of(entries_, has_text)) {
        fill(a.texts, [this](const FileEntry &e) {
            std::string text = text_of(e.number());
            room_.take(bytes_of(text));
            return text;
        });
    } else if (field == Field::complex) {
        fill(a.complex_values, [](const FileEntry &e) { return e.value; });
    } else {
        a.integers = field == Field::integer || field == Field::pattern;
        fill(a.values, [](const FileEntry &e) { return e.value.real(); });
    }
    return a;
}

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
