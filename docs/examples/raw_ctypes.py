"""The C API by Python's standard library alone: python3 raw_ctypes.py [PATH/libperm.so.1]. The fields are
those of version 1.0 at least; what perm.h has gained behind them is then at its default."""

import ctypes
import sys
from ctypes import byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_void_p, sizeof


def fields(kind, names):
    return [(name, kind) for name in names.split()]


class Csr(ctypes.Structure):
    _fields_ = (
        fields(c_size_t, "struct_size")
        + fields(c_int64, "n_rows n_cols nnz")
        + fields(c_void_p, "row_ptr col_idx values")
        + fields(c_int32, "index_type value_type")
    )


class Result(ctypes.Structure):
    _fields_ = (
        fields(c_size_t, "struct_size")
        + fields(c_double, "re im mantissa_re mantissa_im")
        + fields(c_int64, "exp2")
        + fields(c_double, "rel_error_bound abs_error_bound")
        + fields(c_int32, "exact tolerance_met")
        + fields(c_char_p, "text engine device")
        + fields(c_int64, "n nnz")
        + fields(c_int32, "threads transposed")
        + fields(c_double, "subsets states peak_states operations")
        + fields(c_int64, "peak_bytes")
        + fields(c_double, "seconds_total seconds_check seconds_plan seconds_run")
    )


perm = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libperm.so.1")
perm.perm_last_error.restype = c_char_p

row_ptr, col_idx, values = (c_int64 * 3)(0, 2, 4), (c_int64 * 4)(0, 1, 0, 1), (c_double * 4)(1, 2, 3, 4)
a = Csr(sizeof(Csr), 2, 2, 4, *map(ctypes.addressof, (row_ptr, col_idx, values)))
r = Result(sizeof(Result))
if perm.perm_compute(byref(a), None, byref(r)):
    sys.exit(perm.perm_last_error().decode())
print(r.text.decode())
perm.perm_result_clear(byref(r))
