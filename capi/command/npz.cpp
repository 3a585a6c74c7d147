#include "npz.hpp"

#include "file_entries.hpp"
#include "npy.hpp"
#include "zip_file.hpp"

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

    FileMatrix read();

  private:
    [[noreturn]] void fail(const std::string &what) const {
        throw FileError(fmt::format("{}: {}", name_, what));
    }
    ArrayMember array(const std::string &what) { return {zip_, name_, what + ".npy"}; }
    std::string format();
    Indices indices(const std::string &what, std::int64_t limit);
    Field read_compressed(bool by_rows);
    Field read_coordinates();
    template <class Place> Field read_values(std::int64_t count, const Place &place);
    void refuse_duplicate();

    ZipFile &zip_;
    std::string name_;
    FileRoom room_;
    FileEntries entries_;
    std::int64_t n_rows_ = 0, n_cols_ = 0;
};

std::string SparseFile::format() {
    ArrayMember member = array("format");
    if (!member->is_text() || member->size() != 1) member->fail("this is no text, expected csr, csc or coo");
    std::string format = member->next_text();
    member->expect_end();
    if (format != "csr" && format != "csc" && format != "coo")
        fail(fmt::format("the format is {}, expected csr, csc or coo: scipy.sparse.save_npz(FILE, A.tocsr())",
                         perm::quoted(format)));
    return format;
}

// Each from 0 to the limit.
Indices SparseFile::indices(const std::string &what, std::int64_t limit) {
    ArrayMember member = array(what);
    if (!member->is_integer() || member->shape().size() != 1)
        member->fail("this is no list of integers, expected one as scipy.sparse.save_npz writes it");
    Indices all;
    for (std::int64_t k = 0; k < member->size(); ++k) {
        room_.grow(all);
        all.push_back(member->next_integer());
        if (all.back() < 0 || all.back() > limit)
            member->fail(fmt::format("[{}] is {}, expected 0 to {}", k, all.back(), limit));
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

Field SparseFile::read_compressed(bool by_rows) {
    const std::int64_t lines = by_rows ? n_rows_ : n_cols_, across = by_rows ? n_cols_ : n_rows_;
    const Indices ends = indices("indptr", unlimited);
    if (std::ssize(ends) != lines + 1 || ends.front() != 0 || !std::ranges::is_sorted(ends))
        fail(fmt::format(
            "'indptr.npy' does not say where {} {} begin and end, expected {} numbers that grow from 0",
            lines, by_rows ? "rows" : "columns", lines + 1));
    const Indices inner = indices("indices", across - 1);
    if (ends.back() > std::ssize(inner))
        fail(fmt::format("'indptr.npy' ends with {}, but 'indices.npy' has {} numbers", ends.back(),
                         inner.size()));
    std::size_t line = 0;
    return read_values(ends.back(), [&](std::int64_t k) {
        while (ends[line + 1] <= k) ++line;
        const auto outer = static_cast<std::int64_t>(line);
        const std::int64_t other = inner[static_cast<std::size_t>(k)];
        return by_rows ? std::pair(outer, other) : std::pair(other, outer);
    });
}

Field SparseFile::read_coordinates() {
    const Indices rows = indices("row", n_rows_ - 1), cols = indices("col", n_cols_ - 1);
    if (rows.size() != cols.size())
        fail(fmt::format("'row.npy' has {} numbers and 'col.npy' {}, expected as many", rows.size(),
                         cols.size()));
    return read_values(std::ssize(rows), [&](std::int64_t k) {
        return std::pair(rows[static_cast<std::size_t>(k)], cols[static_cast<std::size_t>(k)]);
    });
}

void SparseFile::refuse_duplicate() {
    if (const auto duplicate = entries_.sort())
        fail(fmt::format(
            "duplicate entry [{}, {}]: 'data.npy' has it as [{}] and as [{}], expected each position once: "
            "A.sum_duplicates() before it is saved",
            duplicate->second.row, duplicate->second.col, duplicate->first.place, duplicate->second.place));
}

FileMatrix SparseFile::read() {
    const std::string as = format();
    const Indices shape = indices("shape", max_dimension);
    if (shape.size() != 2)
        fail(fmt::format("the shape is ({}), expected one matrix, (rows, columns)", fmt::join(shape, ", ")));
    n_rows_ = shape[0];
    n_cols_ = shape[1];
    const Field field = as == "coo" ? read_coordinates() : read_compressed(as == "csr");
    const auto count = static_cast<std::int64_t>(entries_.size());
    if (const std::string wrong = wrong_size(n_rows_, n_cols_, count); !wrong.empty()) fail(wrong);
    refuse_duplicate();
    return entries_.matrix(n_rows_, n_cols_, field);
}

} // namespace

FileMatrix read_npz(std::istream &in, const std::string &name, const ReadOptions &options) {
    ZipFile zip(in, name);
    if (zip.has("format.npy")) return SparseFile(zip, name, options.most_bytes).read();
    if (zip.members().size() != 1)
        throw FileError(fmt::format("{}: the archive has {} members, expected one array, or a matrix as "
                                    "scipy.sparse.save_npz writes it",
                                    name, zip.members().size()));
    const std::string &only = zip.members().front();
    ZipMember buffer(zip, only);
    std::istream array(&buffer);
    array.exceptions(std::ios::badbit);
    return read_npy(array, fmt::format("{}: {}", name, perm::quoted(only)), options);
}

} // namespace perm
