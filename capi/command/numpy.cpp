#include "compressed.hpp"
#include "matrix_file.hpp"

#include "lib/base/json.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <exception>
#include <istream>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace perm {
namespace {

using Indices = std::vector<std::int64_t>;

// Python's literal as JSON, in which lists have no comma at their end.
std::string as_json(std::string_view literal) {
    constexpr std::pair<std::string_view, std::string_view> words[] = {
        {"'", "\""}, {"(", "["}, {")", "]"}, {"True", "true"}, {"False", "false"}};
    std::string json;
    while (!literal.empty()) {
        const auto *word =
            std::ranges::find_if(words, [&](const auto &one) { return literal.starts_with(one.first); });
        if (word != std::end(words)) {
            json += word->second;
            literal.remove_prefix(word->first.size());
            continue;
        }
        const auto next = literal.find_first_not_of(" \n\t", 1);
        const bool is_last =
            next != literal.npos && std::string_view(")]}").find(literal[next]) != std::string_view::npos;
        if (literal.front() != ',' || !is_last) json += literal.front();
        literal.remove_prefix(1);
    }
    return json;
}

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::uint64_t longest_header = 1 << 16;

constexpr const char *save_numbers = "expected integers, bool, floats of 4 or 8 bytes or complex numbers of "
                                     "8 or 16: numpy.save(FILE, A.astype(float))";

// Arrays as numpy.save writes them: versions 1 to 3 of the format; integers, bool, floats and complex numbers
// of 4 to 16 bytes, in either byte order and either order of the elements. Objects are not unpickled. Of a
// stream, element by element in its order: nothing is allocated for what a header claims. Throws FileError.
class NpyArray {
  public:
    NpyArray(std::istream &in, std::string name) : in_(in), name_(std::move(name)) {
        const std::string text = header_text();
        std::string type;
        try {
            type = take_header(text);
        } catch (const std::bad_alloc &) {
            throw;
        } catch (const std::exception &) {
            fail(fmt::format("bad header {}, expected a dictionary of descr, fortran_order and shape",
                             perm::quoted(text)));
        }
        if (type.empty()) fail(fmt::format("the array is of records, {}", save_numbers));
        take_type(type);
        std::int64_t size = 1;
        for (const std::int64_t n : shape_)
            if (__builtin_mul_overflow(size, n, &size))
                fail(fmt::format("the array's shape ({}) is too large", fmt::join(shape_, ", ")));
    }

    const Indices &shape() const { return shape_; }
    bool is_by_columns() const { return is_by_columns_; } // Fortran's order
    bool is_integer() const { return kind_ == 'i' || kind_ == 'u'; }
    bool is_text() const { return kind_ == 'S' || kind_ == 'U'; }

    // Number of elements.
    std::int64_t size() const {
        std::int64_t size = 1;
        for (const std::int64_t n : shape_) size *= n;
        return size;
    }

    // Of numbers.
    Field field() const {
        if (is_text()) fail(fmt::format("the array holds texts, {}", save_numbers));
        return kind_ == 'c' ? Field::complex : kind_ == 'f' ? Field::real : Field::integer;
    }

    // Of the element that was read last.
    Indices index() const {
        Indices index(shape_.size());
        std::int64_t rest = done_ - 1;
        for (std::size_t k = 0; k < shape_.size(); ++k) {
            const std::size_t quickest = is_by_columns_ ? k : shape_.size() - 1 - k;
            index[quickest] = rest % shape_[quickest];
            rest /= shape_[quickest];
        }
        return index;
    }

    // Of numbers; finite.
    FileNumber next() {
        if (kind_ != 'f' && kind_ != 'c') {
            const std::int64_t number = next_integer();
            if (kind_ == 'b') return {number ? 1.0 : 0.0, ""};
            return kind_ == 'u' ? whole_number(static_cast<std::uint64_t>(number)) : whole_number(number);
        }
        const bool is_single = bytes_ == (kind_ == 'c' ? 8 : 4);
        const auto part = [&] { return is_single ? static_cast<double>(raw<float>()) : raw<double>(); };
        const double re = part(), im = kind_ == 'c' ? part() : 0;
        ++done_;
        return {{finite(re), finite(im)}, ""};
    }

    // Of integers.
    std::int64_t next_integer() {
        const auto either = [&]<class Signed, class Unsigned>(Signed, Unsigned) {
            return kind_ == 'i' ? std::int64_t{raw<Signed>()} : std::int64_t{raw<Unsigned>()};
        };
        std::int64_t number = 0;
        if (bytes_ == 1)
            number = either(std::int8_t{}, std::uint8_t{});
        else if (bytes_ == 2)
            number = either(std::int16_t{}, std::uint16_t{});
        else if (bytes_ == 4)
            number = either(std::int32_t{}, std::uint32_t{});
        else
            number = raw<std::int64_t>();
        ++done_;
        return number;
    }

    // ASCII.
    std::string next_text() {
        std::string text;
        const std::int64_t one = kind_ == 'U' ? 4 : 1;
        for (std::int64_t k = 0; k < bytes_; k += one) {
            const std::uint32_t c = one == 4 ? raw<std::uint32_t>() : raw<std::uint8_t>();
            if (c != 0) text += c < 128 ? static_cast<char>(c) : '?';
        }
        ++done_;
        return text;
    }

    void expect_end() {
        if (in_.peek() != std::istream::traits_type::eof())
            fail(fmt::format("extra data, expected the end of the file after {} elements", size()));
    }

    [[noreturn]] void fail(const std::string &what) const {
        throw FileError(fmt::format("{}: {}", name_, what));
    }

  private:
    std::string header_text() {
        std::array<char, 8> start{};
        in_.read(start.data(), start.size());
        if (in_.gcount() != std::ssize(start) || std::string_view(start.data(), magic.size()) != magic)
            fail("this does not begin as an array of numpy does, expected a file that numpy.save wrote");
        const int version = static_cast<unsigned char>(start[6]);
        if (version < 1 || version > 3)
            fail(fmt::format("version {} of the format, expected 1, 2 or 3", version));
        std::array<char, 4> length{};
        take(length.data(), version == 1 ? 2 : 4);
        std::uint64_t bytes = 0;
        for (std::size_t k = length.size(); k-- > 0;)
            bytes = bytes << 8 | static_cast<unsigned char>(length[k]);
        if (bytes > longest_header)
            fail(fmt::format("the header takes {} bytes, expected at most {}", bytes, longest_header));
        std::string text(bytes, '\0');
        take(text.data(), text.size());
        return text;
    }

    // Returns the type: "<f8"; "" of records. Throws an exception of any kind where the text is no dictionary
    // of the three.
    std::string take_header(const std::string &text) {
        using libperm::Json;
        const Json json = Json::read(as_json(text));
        const Json &type = json.at("descr");
        if (std::holds_alternative<Json::Array>(type.value())) return ""; // no numbers, whatever follows
        is_by_columns_ = json.flag("fortran_order");
        for (const Json &size : json.array("shape")) shape_.push_back(size.integer());
        const bool is_all = std::get<Json::Object>(json.value()).size() == 3;
        if (!is_all || std::ranges::any_of(shape_, [](std::int64_t size) { return size < 0; }))
            throw std::invalid_argument(text);
        return type.text();
    }

    void take_type(const std::string &type) {
        const char order = type.front();
        int bytes = 0;
        const char *end = type.data() + type.size();
        const bool has_order = std::string_view("<>|=").find(order) != std::string_view::npos;
        kind_ = type.size() > 1 ? type[1] : 0;
        if (kind_ == 'O')
            fail("the array holds Python objects, which are not unpickled; expected numbers, or as text "
                 "numbers "
                 "of any "
                 "length and fractions: numpy.savetxt(FILE + '.csv', A, fmt='%s', delimiter=',')");
        const auto [stop, error] =
            std::from_chars(type.data() + std::min<std::size_t>(2, type.size()), end, bytes);
        constexpr std::string_view numbers[] = {"b1", "i1", "i2", "i4", "i8", "u1", "u2",
                                                "u4", "u8", "f4", "f8", "c8", "c16"};
        const bool is_number =
            has_order && std::ranges::find(numbers, std::string_view(type).substr(1)) != std::end(numbers);
        constexpr int longest_text = 64;
        const bool is_short_text = has_order && is_text() && stop == end && error == std::errc{} &&
                                   bytes >= 0 && bytes <= longest_text;
        if (!is_number && !is_short_text)
            fail(fmt::format("the array's elements are {}, {}", perm::quoted(type), save_numbers));
        bytes_ = kind_ == 'U' ? 4 * bytes : bytes;
        const bool is_big = order == '>' || (order == '=' && std::endian::native == std::endian::big);
        is_swapped_ = is_big != (std::endian::native == std::endian::big) && order != '|';
    }

    void take(char *to, std::size_t bytes) {
        in_.read(to, static_cast<std::streamsize>(bytes));
        if (in_.bad()) fail("the file cannot be read");
        if (in_.gcount() == static_cast<std::streamsize>(bytes)) return;
        if (kind_ == 0) fail("the file is truncated: it ends in its header");
        fail(fmt::format("the file is truncated: it ends after {} elements, expected {}", done_, size()));
    }

    template <class T> T raw() {
        std::array<char, sizeof(T)> bytes;
        take(bytes.data(), bytes.size());
        if (is_swapped_) std::ranges::reverse(bytes);
        return std::bit_cast<T>(bytes);
    }

    double finite(double number) const {
        if (!std::isfinite(number))
            fail(fmt::format("[{}] is {}, expected a finite number", fmt::join(index(), ", "), number));
        return number;
    }

    std::istream &in_;
    std::string name_;
    char kind_ = 0; // numpy's letter
    std::int64_t bytes_ = 0;
    bool is_swapped_ = false, is_by_columns_ = false;
    Indices shape_;
    std::int64_t done_ = 0;
};

// The elements of an array as entries, those at place(number of the element, its value): a negative row is
// none of the matrix's. Returns what they are.
template <class Place> Field read_elements(NpyArray &array, FileEntries &entries, const Place &place) {
    for (std::int64_t k = 0; k < array.size(); ++k) {
        FileNumber number = array.next();
        const auto [row, col] = place(k, number);
        if (row >= 0) entries.add(row, col, std::move(number), k);
    }
    array.expect_end();
    return array.field();
}

constexpr std::pair<std::int64_t, std::int64_t> nowhere{-1, -1};

// One member of the archive as an array. The one before is not read any further.
class ArrayMember {
  public:
    ArrayMember(ZipFile &zip, const std::string &name, const std::string &member)
        : buffer_(zip, member), in_(&buffer_), array_(passing_on(in_), fmt::format("{}: {}", name, member)) {}

    NpyArray &operator*() { return array_; }
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

    FileMatrix read(Duplicates duplicates) {
        const std::string as = format();
        const Indices shape = indices("shape", max_dimension);
        if (shape.size() != 2)
            fail(fmt::format("the shape is ({}), expected one matrix, (rows, columns)",
                             fmt::join(shape, ", ")));
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

  private:
    [[noreturn]] void fail(const std::string &what) const {
        throw FileError(fmt::format("{}: {}", name_, what));
    }
    ArrayMember array(const std::string &what) { return {zip_, name_, what + ".npy"}; }

    std::string format() {
        ArrayMember member = array("format");
        constexpr const char *expected = "expected csr, csc, bsr, dia or coo";
        if (!member->is_text() || member->size() != 1)
            member->fail(fmt::format("this is no text, {}", expected));
        std::string format = member->next_text();
        member->expect_end();
        constexpr std::string_view formats[] = {"csr", "csc", "bsr", "dia", "coo"};
        if (std::ranges::find(formats, format) == std::end(formats))
            fail(fmt::format("the format is {}, {}: scipy.sparse.save_npz(FILE, A.tocsr())",
                             perm::quoted(format), expected));
        return format;
    }

    Indices indices(const std::string &what, std::int64_t most, std::int64_t least = 0) {
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

    // Where each line's entries end, from 0 on.
    Indices line_ends(std::int64_t lines, std::int64_t entries, const char *what) {
        Indices ends = indices("indptr", unlimited);
        if (std::ssize(ends) != lines + 1 || ends.front() != 0 || !std::ranges::is_sorted(ends))
            fail(fmt::format(
                "'indptr.npy' does not say where {} {} begin and end, expected {} numbers that grow from 0",
                lines, what, lines + 1));
        if (ends.back() > entries)
            fail(fmt::format("'indptr.npy' ends with {}, but 'indices.npy' has {} numbers", ends.back(),
                             entries));
        return ends;
    }

    // The first `count` of the first dimension are entries, at place(k) of a list, else at place(index):
    // zeros among these complete a block or a diagonal.
    template <class Place> Field read_data(std::size_t dimensions, std::int64_t count, const Place &place) {
        ArrayMember member = array("data");
        NpyArray &data = *member;
        const auto &shape = data.shape();
        data.field(); // refuses what is none of numbers
        if (shape.size() != dimensions || shape.front() < count)
            data.fail(fmt::format("the array's shape is ({}), expected {}", fmt::join(shape, ", "),
                                  dimensions == 1
                                      ? fmt::format("a number for each of {} entries", count)
                                      : fmt::format("{} dimensions and {} of the first", dimensions, count)));
        return read_elements(data, entries_, [&](std::int64_t k, const FileNumber &number) {
            if constexpr (std::invocable<Place, std::int64_t>) {
                return k < count ? place(k) : nowhere;
            } else {
                if (is_zero(number)) return nowhere;
                const Indices index = data.index();
                const auto at = index.front() < count ? place(index) : nowhere;
                return at.first < n_rows_ && at.second < n_cols_ ? at : nowhere;
            }
        });
    }

    Field read_compressed(bool by_rows) {
        const std::int64_t lines = by_rows ? n_rows_ : n_cols_, across = by_rows ? n_cols_ : n_rows_;
        const Indices inner = indices("indices", across - 1);
        const Indices ends = line_ends(lines, std::ssize(inner), by_rows ? "rows" : "columns");
        std::size_t line = 0;
        return read_data(1, ends.back(), [&](std::int64_t k) {
            while (ends[line + 1] <= k) ++line;
            const auto outer = static_cast<std::int64_t>(line);
            const std::int64_t other = inner[static_cast<std::size_t>(k)];
            return by_rows ? std::pair(outer, other) : std::pair(other, outer);
        });
    }

    Field read_blocks() {
        const auto shape = array("data")->shape();
        if (shape.size() != 3 || shape[1] < 1 || shape[2] < 1 || n_rows_ % shape[1] != 0 ||
            n_cols_ % shape[2] != 0)
            fail(fmt::format("the shape of 'data.npy' is ({}), expected blocks that divide {} x {}",
                             fmt::join(shape, ", "), n_rows_, n_cols_));
        const Indices inner = indices("indices", n_cols_ / shape[2] - 1);
        const Indices ends = line_ends(n_rows_ / shape[1], std::ssize(inner), "rows of blocks");
        return read_data(3, ends.back(), [&](const Indices &index) {
            const auto row = std::ranges::upper_bound(ends, index[0]) - ends.begin() - 1;
            return std::pair(row * shape[1] + index[1],
                             inner[static_cast<std::size_t>(index[0])] * shape[2] + index[2]);
        });
    }

    Field read_diagonals() {
        const Indices offsets = indices("offsets", max_dimension, -max_dimension);
        return read_data(2, std::ssize(offsets), [&](const Indices &index) {
            return std::pair(index[1] - offsets[static_cast<std::size_t>(index[0])], index[1]);
        });
    }

    // Rows and columns, in a member each, or in one of two rows as arrays have them in newer versions of
    // scipy.
    std::pair<Indices, Indices> coordinates() {
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
            member->fail(
                "these are no two rows of integers, expected them as scipy.sparse.save_npz writes them");
        for (std::int64_t k = 0; k < member->size(); ++k) {
            const std::int64_t number = member->next_integer();
            const auto index = member->index();
            Indices &all = index[0] == 0 ? places.first : places.second;
            const std::int64_t limit = (index[0] == 0 ? n_rows_ : n_cols_) - 1;
            if (number < 0 || number > limit)
                member->fail(
                    fmt::format("[{}, {}] is {}, expected 0 to {}", index[0], index[1], number, limit));
            room_.grow(all);
            all.push_back(number);
        }
        member->expect_end();
        return places;
    }

    Field read_coordinates() {
        const std::pair<Indices, Indices> places = coordinates();
        const auto &rows = places.first, &cols = places.second;
        return read_data(1, std::ssize(rows), [&](std::int64_t k) {
            return std::pair(rows[static_cast<std::size_t>(k)], cols[static_cast<std::size_t>(k)]);
        });
    }

    ZipFile &zip_;
    std::string name_;
    FileRoom room_;
    FileEntries entries_;
    std::int64_t n_rows_ = 0, n_cols_ = 0;
};

} // namespace

FileMatrix read_npy(std::istream &in, const std::string &name, const ReadOptions &options) {
    NpyArray array(in, name);
    const Field field = array.field();
    const auto &shape = array.shape();
    if (shape.size() != 2)
        array.fail(fmt::format("the array's shape is ({}), expected one matrix, (rows, columns)",
                               fmt::join(shape, ", ")));
    const std::int64_t n_rows = shape[0], n_cols = shape[1];
    if (std::max(n_rows, n_cols) > max_dimension)
        array.fail(fmt::format("{} x {} are too many rows or columns, expected at most {}", n_rows, n_cols,
                               max_dimension));
    if (const std::string wrong = wrong_size(n_rows, n_cols, array.size()); !wrong.empty()) array.fail(wrong);

    FileRoom room(name, options.most_bytes);
    FileEntries entries(room);
    read_elements(array, entries, [&](std::int64_t k, const FileNumber &number) {
        if (is_zero(number)) return nowhere;
        return array.is_by_columns() ? std::pair(k % n_rows, k / n_rows) : std::pair(k / n_cols, k % n_cols);
    });
    entries.sort(options.duplicates, field);
    return entries.matrix(n_rows, n_cols, field);
}

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
