#include "matrix_file.hpp"

#include "compressed.hpp"
#include "file_matrix.hpp"
#include "npy.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace perm {
namespace {

using Indices = std::vector<std::int64_t>;

// One member of the archive as an array. The one before is not read any further.
class ArrayMember {
  public:
    ArrayMember(ZipFile &zip, const std::string &name, const std::string &member)
        : buffer_(zip, member), in_(&buffer_), array_(passing_on(in_), fmt::format("{}: {}", name, member)) {}

    NpyArray *operator->() { return &array_; }

  private:
    static std::istream &passing_on(std::istream &in) {
        in.exceptions(std::ios::badbit);
        return in;
    }

    ZipMember buffer_;
    std::istream in_;
    NpyArray array_;
};

// What scipy.sparse.save_npz wrote.
class SparseFile {
  public:
    SparseFile(ZipFile &zip, std::string name, std::int64_t most_bytes)
        : zip_(zip), name_(std::move(name)), room_(name_, most_bytes), entries_(room_) {}

    FileMatrix read(Duplicates duplicates);

  private:
    [[noreturn]] void fail(const std::string &what) const {
        throw FileError(fmt::format("{}: {}", name_, what));
    }
    ArrayMember array(const std::string &what) { return {zip_, name_, what + ".npy"}; }
    std::string format();
    Indices indices(const std::string &what, std::int64_t most, std::int64_t least = 0);
    Indices line_ends(std::int64_t lines, std::int64_t entries, const char *what);
    std::pair<Indices, Indices> coordinates();
    Field read_compressed(bool by_rows);
    Field read_blocks();
    Field read_diagonals();
    Field read_coordinates();
    template <class Place> Field read_values(std::int64_t count, const Place &place);
    template <class Place> Field read_filled(std::size_t dimensions, std::int64_t count, const Place &place);

    ZipFile &zip_;
    std::string name_;
    FileRoom room_;
    FileEntries entries_;
    std::int64_t n_rows_ = 0, n_cols_ = 0;
};

std::string SparseFile::format() {
    ArrayMember member = array("format");
    constexpr const char *expected = "expected csr, csc, bsr, dia or coo";
    if (!member->is_text() || member->size() != 1) member->fail(fmt::format("this is no text, {}", expected));
    std::string format = member->next_text();
    member->expect_end();
    constexpr std::string_view formats[] = {"csr", "csc", "bsr", "dia", "coo"};
    if (std::ranges::find(formats, format) == std::end(formats))
        fail(fmt::format("the format is {}, {}: scipy.sparse.save_npz(FILE, A.tocsr())", perm::quoted(format),
                         expected));
    return format;
}

Indices SparseFile::indices(const std::string &what, std::int64_t most, std::int64_t least) {
    ArrayMember member = array(what);
    if (!member->is_integer() || member->shape().size() != 1)
        member->fail("this is no list of integers, expected one as scipy.sparse.save_npz writes it");
    Indices all;
    for (std::int64_t k = 0; k < member->size(); ++k) {
        room_.grow(all);
        all.push_back(member->next_integer());
        if (all.back() < least || all.back() > most)
            member->fail(fmt::format("[{}] is {}, expected {} to {}", k, all.back(), least, most));
    }
    member->expect_end();
    return all;
}

// The first `count` of them are entries, at place(k).
template <class Place> Field SparseFile::read_values(std::int64_t count, const Place &place) {
    ArrayMember member = array("data");
    const Field field = member->field();
    if (member->shape().size() != 1 || member->size() < count)
        member->fail(fmt::format("the array's shape is ({}), expected a number for each of {} entries",
                                 fmt::join(member->shape(), ", "), count));
    for (std::int64_t k = 0; k < member->size(); ++k) {
        FileNumber number = member->next();
        if (k >= count) continue;
        const auto [row, col] = place(k);
        entries_.add(row, col, std::move(number), k);
    }
    member->expect_end();
    return field;
}

// The others are zeros that complete a block or a diagonal.
template <class Place>
Field SparseFile::read_filled(std::size_t dimensions, std::int64_t count, const Place &place) {
    ArrayMember member = array("data");
    const Field field = member->field();
    const auto &shape = member->shape();
    if (shape.size() != dimensions || shape.front() < count)
        member->fail(fmt::format("the array's shape is ({}), expected {} dimensions and {} of the first",
                                 fmt::join(shape, ", "), dimensions, count));
    for (std::int64_t k = 0; k < member->size(); ++k) {
        FileNumber number = member->next();
        const auto index = member->index();
        if (is_zero(number) || index.front() >= count) continue;
        const auto [row, col] = place(index);
        if (row < 0 || row >= n_rows_ || col >= n_cols_) continue;
        entries_.add(row, col, std::move(number), k);
    }
    member->expect_end();
    return field;
}

// Where each line's entries end, from 0 on.
Indices SparseFile::line_ends(std::int64_t lines, std::int64_t entries, const char *what) {
    Indices ends = indices("indptr", unlimited);
    if (std::ssize(ends) != lines + 1 || ends.front() != 0 || !std::ranges::is_sorted(ends))
        fail(fmt::format(
            "'indptr.npy' does not say where {} {} begin and end, expected {} numbers that grow from 0",
            lines, what, lines + 1));
    if (ends.back() > entries)
        fail(
            fmt::format("'indptr.npy' ends with {}, but 'indices.npy' has {} numbers", ends.back(), entries));
    return ends;
}

Field SparseFile::read_blocks() {
    const auto shape = array("data")->shape();
    if (shape.size() != 3 || shape[1] < 1 || shape[2] < 1 || n_rows_ % shape[1] != 0 ||
        n_cols_ % shape[2] != 0)
        fail(fmt::format("the shape of 'data.npy' is ({}), expected blocks that divide {} x {}",
                         fmt::join(shape, ", "), n_rows_, n_cols_));
    const Indices inner = indices("indices", n_cols_ / shape[2] - 1);
    const Indices ends = line_ends(n_rows_ / shape[1], std::ssize(inner), "rows of blocks");
    return read_filled(3, ends.back(), [&](const Indices &index) {
        const auto row = std::ranges::upper_bound(ends, index[0]) - ends.begin() - 1;
        return std::pair(row * shape[1] + index[1],
                         inner[static_cast<std::size_t>(index[0])] * shape[2] + index[2]);
    });
}

Field SparseFile::read_diagonals() {
    const Indices offsets = indices("offsets", max_dimension, -max_dimension);
    return read_filled(2, std::ssize(offsets), [&](const Indices &index) {
        return std::pair(index[1] - offsets[static_cast<std::size_t>(index[0])], index[1]);
    });
}

Field SparseFile::read_compressed(bool by_rows) {
    const std::int64_t lines = by_rows ? n_rows_ : n_cols_, across = by_rows ? n_cols_ : n_rows_;
    const Indices inner = indices("indices", across - 1);
    const Indices ends = line_ends(lines, std::ssize(inner), by_rows ? "rows" : "columns");
    std::size_t line = 0;
    return read_values(ends.back(), [&](std::int64_t k) {
        while (ends[line + 1] <= k) ++line;
        const auto outer = static_cast<std::int64_t>(line);
        const std::int64_t other = inner[static_cast<std::size_t>(k)];
        return by_rows ? std::pair(outer, other) : std::pair(other, outer);
    });
}

// Rows and columns, in a member each, or in one of two rows as arrays have them in newer versions of scipy.
std::pair<Indices, Indices> SparseFile::coordinates() {
    std::pair<Indices, Indices> places;
    if (!zip_.has("coords.npy")) {
        places = {indices("row", n_rows_ - 1), indices("col", n_cols_ - 1)};
        if (places.first.size() != places.second.size())
            fail(fmt::format("'row.npy' has {} numbers and 'col.npy' {}, expected as many",
                             places.first.size(), places.second.size()));
        return places;
    }
    ArrayMember member = array("coords");
    if (!member->is_integer() || member->shape().size() != 2 || member->shape()[0] != 2)
        member->fail("these are no two rows of integers, expected them as scipy.sparse.save_npz writes them");
    for (std::int64_t k = 0; k < member->size(); ++k) {
        const std::int64_t number = member->next_integer();
        const auto index = member->index();
        Indices &all = index[0] == 0 ? places.first : places.second;
        const std::int64_t limit = (index[0] == 0 ? n_rows_ : n_cols_) - 1;
        if (number < 0 || number > limit)
            member->fail(fmt::format("[{}, {}] is {}, expected 0 to {}", index[0], index[1], number, limit));
        room_.grow(all);
        all.push_back(number);
    }
    member->expect_end();
    return places;
}

Field SparseFile::read_coordinates() {
    const std::pair<Indices, Indices> places = coordinates();
    const auto &rows = places.first, &cols = places.second;
    return read_values(std::ssize(rows), [&](std::int64_t k) {
        return std::pair(rows[static_cast<std::size_t>(k)], cols[static_cast<std::size_t>(k)]);
    });
}

FileMatrix SparseFile::read(Duplicates duplicates) {
    const std::string as = format();
    const Indices shape = indices("shape", max_dimension);
    if (shape.size() != 2)
        fail(fmt::format("the shape is ({}), expected one matrix, (rows, columns)", fmt::join(shape, ", ")));
    n_rows_ = shape[0];
    n_cols_ = shape[1];
    const Field field = as == "coo"   ? read_coordinates()
                        : as == "bsr" ? read_blocks()
                        : as == "dia" ? read_diagonals()
                                      : read_compressed(as == "csr");
    const auto count = static_cast<std::int64_t>(entries_.size());
    if (const std::string wrong = wrong_size(n_rows_, n_cols_, count); !wrong.empty()) fail(wrong);
    if (const auto duplicate = entries_.sort(duplicates, field))
        fail(fmt::format("duplicate entry [{}, {}]: 'data.npy' has it as number {} and as number {}, "
                         "expected each position "
                         "once: A.sum_duplicates() before it is saved, or {}",
                         duplicate->second.row, duplicate->second.col, duplicate->first.place,
                         duplicate->second.place, duplicate->advice));
    return entries_.matrix(n_rows_, n_cols_, field);
}

} // namespace

FileMatrix read_npz(std::istream &in, const std::string &name, const ReadOptions &options) {
    ZipFile zip(in, name);
    if (zip.has("format.npy")) return SparseFile(zip, name, options.most_bytes).read(options.duplicates);
    if (zip.members() != 1)
        throw FileError(fmt::format("{}: the archive has {} members, expected one array, or a matrix as "
                                    "scipy.sparse.save_npz writes it",
                                    name, zip.members()));
    const std::string only = zip.first_member();
    ZipMember buffer(zip, only);
    std::istream array(&buffer);
    array.exceptions(std::ios::badbit);
    return read_npy(array, fmt::format("{}: {}", name, perm::quoted(only)), options);
}

} // namespace perm
