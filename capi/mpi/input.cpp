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

template <class Value> std::string plain(const perm_csr &a, std::size_t each) {
    std::string bytes(static_cast<std::size_t>(a.nnz) * each * sizeof(Value), '\0');
    if (!bytes.empty()) std::memcpy(bytes.data(), a.values, bytes.size());
    return bytes;
}

std::string values_of(const perm_csr &a) {
    switch (a.value_type) {
    case PERM_VALUE_C128:
        return plain<double>(a, 2);
    case PERM_VALUE_I64:
        return plain<std::int64_t>(a, 1);
    case PERM_VALUE_PATTERN:
        return {};
    case PERM_VALUE_TEXT: {
        std::string bytes;
        for (std::int64_t k = 0; k < a.nnz; ++k)
            (bytes += static_cast<const char *const *>(a.values)[k]) += '\0';
        return bytes;
    }
    default:
        return plain<double>(a, 1);
    }
}

} // namespace

Input::Input(const perm_csr *a) {
    const InputPattern input = read_pattern(a);
    read_values(input, a->values); // throws what it throws
    csr = read_known(*a, offsetof(perm_csr, row_multiplicity), "perm_csr");
    values = values_of(csr);
    const InputPattern &as_given = input.written ? *input.written : input;
    std::string bytes = written(input.pattern.row_ptr) + written(input.pattern.col) + written(input.source) +
                        written(as_given.pattern.row_ptr) + written(as_given.pattern.col) +
                        written(std::vector<std::int32_t>{input.value_type, input.pattern.cols,
                                                          input.rows_of_ones, input.repeats});
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
