"""The structs and constants of perm.h; tests/python/test_abi.py compares them with a C compiler's."""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p

INDEX_I64 = 0

VALUE_F64 = 0
VALUE_C128 = 1
VALUE_I64 = 2
VALUE_TEXT = 4

FORMAT_TEXT = 0
FORMAT_JSON = 1
FORMAT_OPTIONS = 4

PROGRESS_FN = ctypes.CFUNCTYPE(None, c_double, c_double, c_void_p)
CANCEL_FN = ctypes.CFUNCTYPE(c_int, c_void_p)


class Csr(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("n_rows", c_int64),
        ("n_cols", c_int64),
        ("nnz", c_int64),
        ("row_ptr", c_void_p),
        ("col_idx", c_void_p),
        ("values", c_void_p),
        ("index_type", c_int32),
        ("value_type", c_int32),
        ("row_multiplicity", c_void_p),
        ("col_multiplicity", c_void_p),
        ("row_unmatched", c_void_p),
        ("col_unmatched", c_void_p),
    ]


class Opts(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("engine", c_char_p),
        ("device", c_char_p),
        ("precision", c_char_p),
        ("tolerance", c_double),
        ("threads", c_int32),
        ("reserved", c_int32),
        ("memory_limit_bytes", c_int64),
        ("time_limit_seconds", c_double),
        ("seed", c_uint64),
        ("progress", PROGRESS_FN),
        ("progress_user", c_void_p),
        ("cancel", CANCEL_FN),
        ("cancel_user", c_void_p),
        ("without", c_char_p),
        ("decompose", c_char_p),
        ("chunks", c_char_p),
        ("cache_dir", c_char_p),
        ("cache_limit_bytes", c_int64),
        ("checkpoint", c_char_p),
        ("checkpoint_seconds", c_double),
        ("gpus", c_int32),
        ("reserved2", c_int32),
        ("machine", c_char_p),
    ]


class Periodic(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("cell", c_void_p),
        ("head", c_void_p),
        ("tail", c_void_p),
        ("joined", c_int32),
        ("reserved", c_int32),
    ]


class Boson(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("modes", c_int64),
        ("inputs", c_int64),
        ("amplitudes", c_void_p),
        ("photons", c_int64),
        ("photon_modes", c_void_p),
    ]


class Interval(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("lower_mantissa", c_double),
        ("lower_exp2", c_int64),
        ("upper_mantissa", c_double),
        ("upper_exp2", c_int64),
        ("lower_method", c_char_p),
        ("upper_method", c_char_p),
        ("exact", c_int32),
        ("of_magnitude", c_int32),
        ("blocks", c_int64),
        ("blocks_exact", c_int64),
        ("seconds_total", c_double),
    ]


class EstimateOpts(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("epsilon", c_double),
        ("delta", c_double),
        ("seed", c_uint64),
        ("method", c_char_p),
        ("samples", c_int64),
    ]


class Estimated(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("re", c_double),
        ("im", c_double),
        ("mantissa_re", c_double),
        ("mantissa_im", c_double),
        ("exp2", c_int64),
        ("lower_mantissa", c_double),
        ("lower_exp2", c_int64),
        ("upper_mantissa", c_double),
        ("upper_exp2", c_int64),
        ("error_mantissa", c_double),
        ("error_exp2", c_int64),
        ("epsilon", c_double),
        ("delta", c_double),
        ("exact", c_int32),
        ("additive", c_int32),
        ("samples", c_int64),
        ("accepted", c_int64),
        ("method", c_char_p),
        ("blocks", c_int64),
        ("blocks_exact", c_int64),
        ("seconds_total", c_double),
        ("seconds_plan", c_double),
    ]


class Partial(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("bytes", c_void_p), ("size", c_size_t)]


class Result(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("re", c_double),
        ("im", c_double),
        ("mantissa_re", c_double),
        ("mantissa_im", c_double),
        ("exp2", c_int64),
        ("rel_error_bound", c_double),
        ("abs_error_bound", c_double),
        ("exact", c_int32),
        ("tolerance_met", c_int32),
        ("text", c_void_p),
        ("engine", c_char_p),
        ("device", c_char_p),
        ("n", c_int64),
        ("nnz", c_int64),
        ("threads", c_int32),
        ("transposed", c_int32),
        ("subsets", c_double),
        ("states", c_double),
        ("peak_states", c_double),
        ("operations", c_double),
        ("peak_bytes", c_int64),
        ("seconds_total", c_double),
        ("seconds_check", c_double),
        ("seconds_plan", c_double),
        ("seconds_run", c_double),
        ("blocks", c_int64),
        ("blocks_computed", c_int64),
        ("seconds_compile", c_double),
        ("kernels_compiled", c_int32),
        ("slices", c_int32),
        ("entry_rounding", c_double),
    ]


class Dense(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("n_rows", c_int64),
        ("n_cols", c_int64),
        ("count", c_int64),
        ("values", c_void_p),
        ("value_type", c_int32),
        ("reserved", c_int32),
        ("row_multiplicity", c_void_p),
        ("col_multiplicity", c_void_p),
    ]


# The signatures of perm.h. Of those in LATER, older libraries have none.
SIGNATURES: dict[str, tuple[object, list[object]]] = {
    "perm_last_error": (c_char_p, []),
    "perm_version": (c_char_p, []),
    "perm_info": (c_int, [c_int, c_void_p, c_size_t, c_void_p]),
    "perm_set_log_level": (c_int, [c_int]),
    "perm_compute": (c_int, [c_void_p, c_void_p, c_void_p]),
    "perm_result_clear": (c_int, [c_void_p]),
    "perm_plan_create": (c_int, [c_void_p, c_void_p, c_void_p]),
    "perm_plan_execute": (c_int, [c_void_p, c_void_p, c_void_p]),
    "perm_plan_explain": (c_int, [c_void_p, c_int, c_void_p, c_size_t, c_void_p]),
    "perm_plan_source": (c_int, [c_void_p, c_char_p, c_void_p, c_size_t, c_void_p]),
    "perm_plan_destroy": (c_int, [c_void_p]),
    "perm_cache_describe": (c_int, [c_char_p, c_int, c_void_p, c_size_t, c_void_p]),
    "perm_cache_clear": (c_int, [c_char_p, c_void_p]),
}
LATER: dict[str, tuple[object, list[object]]] = {
    "perm_plan_execute_batch": (c_int, [c_void_p, c_void_p, c_int64, c_int64, c_void_p]),
    "perm_plan_gradient": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "perm_plan_gradient_batch": (
        c_int,
        [c_void_p, c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_void_p],
    ),
    "perm_plan_marginals": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "perm_plan_marginals_batch": (
        c_int,
        [c_void_p, c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_void_p],
    ),
    "perm_matchings": (c_int, [c_void_p, c_void_p, c_int64, c_void_p]),
    "perm_sub_permanents": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "perm_permanents": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "perm_gradients": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "perm_estimate": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "perm_estimate_shards": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "perm_estimate_run_shard": (c_int, [c_void_p, c_void_p, c_void_p, c_int64, c_void_p]),
    "perm_estimate_combine": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_int64, c_void_p]),
    "perm_bounds": (c_int, [c_void_p, c_void_p, c_void_p]),
    "perm_sample": (c_int, [c_void_p, c_void_p, c_int64, c_uint64, c_void_p]),
    "perm_sampler_create": (c_int, [c_void_p, c_void_p, c_int64, c_uint64, c_void_p]),
    "perm_sampler_draw": (c_int, [c_void_p, c_int64, c_void_p]),
    "perm_sampler_destroy": (c_int, [c_void_p]),
    "perm_boson_sample": (c_int, [c_void_p, c_int64, c_uint64, c_void_p, c_void_p]),
    "perm_plan_save": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p]),
    "perm_plan_load": (c_int, [c_void_p, c_size_t, c_void_p, c_void_p]),
    "perm_plan_check_matrix": (c_int, [c_void_p, c_void_p]),
    "perm_plan_shards": (c_int, [c_void_p, c_void_p, c_void_p]),
    "perm_plan_run_shard": (c_int, [c_void_p, c_void_p, c_int64, c_void_p]),
    "perm_plan_combine": (c_int, [c_void_p, c_void_p, c_void_p, c_int64, c_void_p]),
    "perm_partial_clear": (c_int, [c_void_p]),
    "perm_checkpoint_describe": (c_int, [c_char_p, c_int, c_void_p, c_size_t, c_void_p]),
    "perm_periodic_create": (c_int, [c_void_p, c_void_p, c_void_p]),
    "perm_periodic_execute": (c_int, [c_void_p, c_int64, c_void_p]),
    "perm_periodic_terms": (c_int, [c_void_p, c_int64, c_int64, c_void_p]),
    "perm_periodic_generating_function": (c_int, [c_void_p, c_int, c_void_p, c_size_t, c_void_p]),
    "perm_periodic_growth": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "perm_periodic_explain": (c_int, [c_void_p, c_int, c_void_p, c_size_t, c_void_p]),
    "perm_periodic_destroy": (c_int, [c_void_p]),
}
