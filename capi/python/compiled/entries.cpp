#include "capi/python/compiled/entries.hpp"

namespace perm_python {
namespace {

template <class Number> bool copy_row(const Array &values, const char *from, std::int64_t nnz, char *to) {
    const Py_ssize_t step = values.stride(values.dimensions() - 1);
    for (std::int64_t k = 0; k < nnz; ++k)
        std::memcpy(to + k * std::int64_t{sizeof(Number)}, from + k * step, sizeof(Number));
    return true;
}

// Copies the entries; false if there is one outside of the pattern.
template <class Number>
bool copy_matrix(const perm_csr &pattern, const Array &values, const char *from, char *to) {
    const auto *row_ptr = static_cast<const std::int64_t *>(pattern.row_ptr);
    const auto *col_idx = static_cast<const std::int64_t *>(pattern.col_idx);
    const Py_ssize_t down = values.stride(values.dimensions() - 2),
                     right = values.stride(values.dimensions() - 1);
    for (std::int64_t i = 0; i < pattern.n_rows; ++i) {
        std::int64_t k = row_ptr[i];
        for (std::int64_t j = 0; j < pattern.n_cols; ++j) {
            const auto x = read<Number>(from + i * down + j * right);
            if (k < row_ptr[i + 1] && col_idx[k] == j)
                std::memcpy(to + k++ * std::int64_t{sizeof x}, &x, sizeof x);
            else if (x != Number{})
                return false;
        }
    }
    return true;
}

Entries entries_of(const perm_csr &pattern, const Array &values, int first_axis, Scratch &scratch) {
    const int axes = values.dimensions() - first_axis;
    const bool is_matrix = axes == 2;
    if (axes != 1 && !is_matrix) return {};
    if (is_matrix
            ? values.extent(first_axis) != pattern.n_rows || values.extent(first_axis + 1) != pattern.n_cols
            : values.extent(first_axis) != pattern.nnz)
        return {};
    const std::int64_t count = first_axis == 0 ? 1 : values.extent(0), item = values.item_size();
    const Py_ssize_t step = first_axis == 0 || count == 1 ? pattern.nnz * item : values.stride(0);
    const bool is_full = !is_matrix || pattern.nnz == pattern.n_rows * pattern.n_cols;
    if (is_full && values.is_contiguous_from(first_axis) && step % item == 0 &&
        (step == 0 || step >= pattern.nnz * item))
        return {values.data(), count, step / item};
    char *copies = scratch.of(static_cast<std::size_t>(count * pattern.nnz * item));
    if (!copies) return {};
    const bool is_copied = with_type(values.type(), [&]<class Number>(Number) {
        for (std::int64_t k = 0; k < count; ++k) {
            const char *from = values.data() + (first_axis == 0 ? 0 : k * values.stride(0));
            char *to = copies + k * pattern.nnz * item;
            if (!(is_matrix ? copy_matrix<Number>(pattern, values, from, to)
                            : copy_row<Number>(values, from, pattern.nnz, to)))
                return false;
        }
        return true;
    });
    return is_copied ? Entries{copies, count, pattern.nnz} : Entries{};
}

} // namespace

Entries entries_of_one(const perm_csr &pattern, const Array &values, Scratch &scratch) {
    return values && values.type() == pattern.value_type ? entries_of(pattern, values, 0, scratch)
                                                         : Entries{};
}

Entries entries_of_many(const perm_csr &pattern, const Array &values, Scratch &scratch) {
    return values && values.type() == pattern.value_type && values.dimensions() > 1
               ? entries_of(pattern, values, 1, scratch)
               : Entries{};
}

bool any_negative(const Entries &entries, std::int64_t nnz, perm_value_type type) {
    if (type == PERM_VALUE_C128) return false;
    const auto any = [&]<class Number>(Number) {
        for (std::int64_t k = 0; k < entries.count; ++k) {
            const char *row =
                static_cast<const char *>(entries.first) + k * entries.stride * std::int64_t{sizeof(Number)};
            for (std::int64_t e = 0; e < nnz; ++e)
                if (read<Number>(row + e * std::int64_t{sizeof(Number)}) < Number{}) return true;
        }
        return false;
    };
    return type == PERM_VALUE_I64 ? any(std::int64_t{}) : any(double{});
}

} // namespace perm_python
