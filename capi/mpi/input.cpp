#include "capi/mpi/input.hpp"

#include "jit/compile/digest.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/base/struct_size.hpp"
#include "lib/input/matrix.hpp"

#include <cstddef>
#include <cstring>

namespace libperm::mpi {
namespace {

std::string plain(const void *values, std::size_t bytes) {
    return bytes == 0 ? std::string() : std::string(static_cast<const char *>(values), bytes);
}

std::string bytes_of(const void *values, std::size_t count, std::int32_t type) {
    switch (type) {
    case PERM_VALUE_C128:
        return plain(values, 2 * count * sizeof(double));
    case PERM_VALUE_I64:
        return plain(values, count * sizeof(std::int64_t));
    case PERM_VALUE_PATTERN:
        return {};
    case PERM_VALUE_TEXT: {
        std::string bytes;
        for (std::size_t k = 0; k < count; ++k)
            (bytes += static_cast<const char *const *>(values)[k]) += '\0';
        return bytes;
    }
    default:
        return plain(values, count * sizeof(double));
    }
}

} // namespace

Input::Input(const perm_csr *a) {
    const InputPattern input = read_pattern(a);
    csr = read_known(*a, offsetof(perm_csr, row_multiplicity), "perm_csr");
    const InputPattern &given = as_given(input);
    const GivenValues numbers(input, csr);
    read_values(input, numbers.data()); // throws what it throws
    values = bytes_of(numbers.data(), static_cast<std::size_t>(value_count(given)), csr.value_type);
    const std::string bytes =
        written(input.pattern.row_ptr) + written(input.pattern.col) + written(input.source) +
        written(given.pattern.row_ptr) + written(given.pattern.col) +
        written(std::vector<std::int32_t>{input.value_type, input.pattern.cols, input.free_rows,
                                          input.free_columns, input.repeats, given.row_weights,
                                          given.col_weights});
    digest = digest_of_bytes(bytes + values);
}

ValueView::ValueView(const std::string &bytes, perm_value_type type) {
    if (type == PERM_VALUE_PATTERN) return;
    data_ = bytes.data();
    if (type != PERM_VALUE_TEXT) return;
    for (std::size_t at = 0; at < bytes.size(); at = bytes.find('\0', at) + 1)
        texts_.push_back(bytes.data() + at);
    data_ = texts_.data();
}

} // namespace libperm::mpi
