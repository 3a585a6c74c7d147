-- The C API by LuaJIT's FFI: luajit permanent.lua [PATH/libperm.so.1]. The fields are those of version 1.0 at
-- least; what perm.h has gained behind them is then at its default.
local ffi = require "ffi"
ffi.cdef [[
typedef struct {
    size_t struct_size;
    int64_t n_rows, n_cols, nnz;
    const void *row_ptr, *col_idx, *values;
    int32_t index_type, value_type;
} perm_csr;
typedef struct {
    size_t struct_size;
    double re, im, mantissa_re, mantissa_im;
    int64_t exp2;
    double rel_error_bound, abs_error_bound;
    int32_t exact, tolerance_met;
    const char *text, *engine, *device;
    int64_t n, nnz;
    int32_t threads, transposed;
    double subsets, states, peak_states, operations;
    int64_t peak_bytes;
    double seconds_total, seconds_check, seconds_plan, seconds_run;
} perm_result;
int perm_compute(const perm_csr *a, const void *opts, perm_result *result);
int perm_result_clear(perm_result *result);
const char *perm_last_error(void);
]]
local perm = ffi.load(arg[1] or "libperm.so.1")

local PATTERN = 3 -- every entry is 1

-- Of zeros and ones: rows are lists of the columns that hold a one, from 1.
local function permanent(rows)
    local row_ptr, cols = {0}, {}
    for i, row in ipairs(rows) do
        for _, j in ipairs(row) do cols[#cols + 1] = j - 1 end
        row_ptr[i + 1] = #cols
    end
    local row_ptr_c = ffi.new("int64_t[?]", #row_ptr, row_ptr)
    local cols_c = ffi.new("int64_t[?]", #cols, cols)
    local a = ffi.new("perm_csr", ffi.sizeof "perm_csr", #rows, #rows, #cols, row_ptr_c, cols_c, nil, 0, PATTERN)
    local r = ffi.new("perm_result", ffi.sizeof "perm_result")
    if perm.perm_compute(a, nil, r) ~= 0 then error(ffi.string(perm.perm_last_error())) end
    local text = ffi.string(r.text)
    perm.perm_result_clear(r)
    return text
end

-- Each of n guests sits on their own chair or a neighbour's, in a row: Fibonacci numbers.
local rows = {}
for i = 1, 60 do
    rows[i] = {}
    for j = math.max(1, i - 1), math.min(60, i + 1) do table.insert(rows[i], j) end
end
print(permanent(rows))
