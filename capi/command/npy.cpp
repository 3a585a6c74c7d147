#include "npy.hpp"

#include "file_matrix.hpp"
#include "matrix_file.hpp"

#include "lib/base/json.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdint>
#include <exception>
#include <iterator>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace perm {
namespace {

// The header of a .npy file: the literal of a Python dictionary.
struct NpyHeader {
    std::string type; // numpy's: "<f8"; "" of records, which are a list of types
    bool is_by_columns = false;
    std::vector<std::int64_t> shape;
};

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

// Nothing where the text is none.
std::optional<NpyHeader> parse_npy_header(std::string_view text) {
    using libperm::Json;
    try {
        const Json json = Json::read(as_json(text));
        NpyHeader header;
        const Json &type = json.at("descr");
        if (std::holds_alternative<Json::Array>(type.value()))
            return header; // no array of numbers, whatever follows
        header.type = type.text();
        header.is_by_columns = json.flag("fortran_order");
        for (const Json &size : json.array("shape")) header.shape.push_back(size.integer());
        const bool is_all = std::get<Json::Object>(json.value()).size() == 3;
        if (!is_all || std::ranges::any_of(header.shape, [](std::int64_t size) { return size < 0; }))
            return {};
        return header;
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::exception &) {
        return {};
    }
}

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::uint64_t longest_header = 1 << 16;

constexpr const char *save_numbers = "expected integers, bool, floats of 4 or 8 bytes or complex numbers of "
                                     "8 or 16: numpy.save(FILE, A.astype(float))";

std::string numpy_index(const std::vector<std::int64_t> &index) {
    return fmt::format("[{}]", fmt::join(index, ", "));
}

} // namespace

void NpyArray::fail(const std::string &what) const { throw FileError(fmt::format("{}: {}", name_, what)); }

NpyArray::NpyArray(std::istream &in, std::string name) : in_(in), name_(std::move(name)) {
    const std::string text = header_text();
    const auto header = parse_npy_header(text);
    if (!header)
        fail(fmt::format("bad header {}, expected a dictionary of descr, fortran_order and shape",
                         perm::quoted(text)));
    if (header->type.empty()) fail(fmt::format("the array is of records, {}", save_numbers));
    is_by_columns_ = header->is_by_columns;
    shape_ = header->shape;
    take_type(header->type);
    std::int64_t size = 1;
    for (const std::int64_t n : shape_)
        if (__builtin_mul_overflow(size, n, &size))
            fail(fmt::format("the array's shape ({}) is too large", fmt::join(shape_, ", ")));
}

std::string NpyArray::header_text() {
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
    for (std::size_t k = length.size(); k-- > 0;) bytes = bytes << 8 | static_cast<unsigned char>(length[k]);
    if (bytes > longest_header)
        fail(fmt::format("the header takes {} bytes, expected at most {}", bytes, longest_header));
    std::string text(bytes, '\0');
    take(text.data(), text.size());
    return text;
}

void NpyArray::take_type(const std::string &type) {
    const char order = type.front();
    int bytes = 0;
    const char *end = type.data() + type.size();
    const bool has_order = std::string_view("<>|=").find(order) != std::string_view::npos;
    kind_ = type.size() > 1 ? type[1] : 0;
    if (kind_ == 'O')
        fail("the array holds Python objects, which are not unpickled; expected numbers, or as text numbers "
             "of any "
             "length and fractions: numpy.savetxt(FILE + '.csv', A, fmt='%s', delimiter=',')");
    const auto [stop, error] =
        std::from_chars(type.data() + std::min<std::size_t>(2, type.size()), end, bytes);
    constexpr std::string_view numbers[] = {"b1", "i1", "i2", "i4", "i8", "u1", "u2",
                                            "u4", "u8", "f4", "f8", "c8", "c16"};
    const bool is_number =
        has_order && std::ranges::find(numbers, std::string_view(type).substr(1)) != std::end(numbers);
    constexpr int longest_text = 64;
    const bool is_short_text =
        has_order && is_text() && stop == end && error == std::errc{} && bytes >= 0 && bytes <= longest_text;
    if (!is_number && !is_short_text)
        fail(fmt::format("the array's elements are {}, {}", perm::quoted(type), save_numbers));
    bytes_ = kind_ == 'U' ? 4 * bytes : bytes;
    const bool is_big = order == '>' || (order == '=' && std::endian::native == std::endian::big);
    is_swapped_ = is_big != (std::endian::native == std::endian::big) && order != '|';
}

std::int64_t NpyArray::size() const {
    std::int64_t size = 1;
    for (const std::int64_t n : shape_) size *= n;
    return size;
}

Field NpyArray::field() const {
    if (is_text()) fail(fmt::format("the array holds texts, {}", save_numbers));
    return kind_ == 'c' ? Field::complex : kind_ == 'f' ? Field::real : Field::integer;
}

std::vector<std::int64_t> NpyArray::index() const {
    std::vector<std::int64_t> index(shape_.size());
    std::int64_t rest = done_ - 1;
    for (std::size_t k = 0; k < shape_.size(); ++k) {
        const std::size_t quickest = is_by_columns_ ? k : shape_.size() - 1 - k;
        index[quickest] = rest % shape_[quickest];
        rest /= shape_[quickest];
    }
    return index;
}

std::string NpyArray::place() const { return numpy_index(index()); }

void NpyArray::take(char *to, std::size_t bytes) {
    in_.read(to, static_cast<std::streamsize>(bytes));
    if (in_.bad()) fail("the file cannot be read");
    if (in_.gcount() == static_cast<std::streamsize>(bytes)) return;
    if (kind_ == 0) fail("the file is truncated: it ends in its header");
    fail(fmt::format("the file is truncated: it ends after {} elements, expected {}", done_, size()));
}

template <class T> T NpyArray::raw() {
    std::array<char, sizeof(T)> bytes;
    take(bytes.data(), bytes.size());
    if (is_swapped_) std::ranges::reverse(bytes);
    return std::bit_cast<T>(bytes);
}

double NpyArray::finite(double number) const {
    if (!std::isfinite(number)) fail(fmt::format("{} is {}, expected a finite number", place(), number));
    return number;
}

std::int64_t NpyArray::next_integer() {
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

FileNumber NpyArray::next() {
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

std::string NpyArray::next_text() {
    std::string text;
    const std::int64_t one = kind_ == 'U' ? 4 : 1;
    for (std::int64_t k = 0; k < bytes_; k += one) {
        const std::uint32_t c = one == 4 ? raw<std::uint32_t>() : raw<std::uint8_t>();
        if (c != 0) text += c < 128 ? static_cast<char>(c) : '?';
    }
    ++done_;
    return text;
}

void NpyArray::expect_end() {
    if (in_.peek() != std::istream::traits_type::eof())
        fail(fmt::format("extra data, expected the end of the file after {} elements", size()));
}

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
    for (std::int64_t k = 0; k < array.size(); ++k) {
        FileNumber number = array.next();
        if (is_zero(number)) continue;
        if (array.is_by_columns())
            entries.add(k % n_rows, k / n_rows, std::move(number), k);
        else
            entries.add(k / n_cols, k % n_cols, std::move(number), k);
    }
    array.expect_end();
    entries.sort(options.duplicates, field);
    return entries.matrix(n_rows, n_cols, field);
}

} // namespace perm
