#include "lib/input/dense.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"

namespace libperm {

const perm_dense &require_dense(const perm_dense *a) {
    if (!a) throw Error(PERM_BAD_ARGUMENT, "the matrix is a null pointer");
    if (a->struct_size < sizeof(perm_dense))
        throw Error(PERM_BAD_ARGUMENT, "perm_dense.struct_size is too small: start from PERM_DENSE_INIT");
    constexpr std::int64_t most = std::int64_t{1} << 20;
    if (a->n_rows < 0 || a->n_cols < 0 || a->n_rows > most || a->n_cols > most)
        throw Error(PERM_BAD_MATRIX, formatted("a dense matrix has 0 to {} rows and columns, not {} x {}",
                                               most, a->n_rows, a->n_cols));
    if (a->count < 0 || a->count > std::int64_t{1} << 40)
        throw Error(PERM_BAD_ARGUMENT, formatted("there are {} matrices to be read", a->count));
    if (a->value_type != PERM_VALUE_F64 && a->value_type != PERM_VALUE_C128 &&
        a->value_type != PERM_VALUE_I64)
        throw Error(PERM_BAD_ARGUMENT, formatted("value_type {} is not one of a dense matrix: use "
                                                 "PERM_VALUE_F64, PERM_VALUE_C128 or PERM_VALUE_I64",
                                                 a->value_type));
    if (a->reserved != 0) throw Error(PERM_BAD_ARGUMENT, "perm_dense.reserved must be 0");
    return *a;
}

} // namespace libperm
