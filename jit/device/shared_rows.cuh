// ---- x in shared memory -------------------------------------------------------------------------------
//
// Of numbers of several doubles: a thread's registers would hold little else. It is read as volatile, so that
// the compiler reads it where it is used; and `threads`, of a block, is a constant, so that no register holds
// where that is.
struct SharedRows : Numbers {
    double *x; // part k of row r: x[threads * (r * row_parts + k)]

    __device__ __forceinline__ SharedRows(const Row *first, unsigned char *shared)
        : x(reinterpret_cast<double *>(shared) + threadIdx.x) {
#pragma unroll 1
        for (int r = 0; r < n; ++r) put_row(r, first[r]);
    }
    __device__ __forceinline__ Row row(int r) const {
        const volatile double *from = x + threads * (r * row_parts);
        double part[row_parts];
#pragma unroll
        for (int k = 0; k < row_parts; ++k) part[k] = from[threads * k];
        Row number;
        memcpy(&number, part, sizeof number);
        return number;
    }
    __device__ __forceinline__ void put_row(int r, Row number) {
        double part[row_parts];
        memcpy(part, &number, sizeof number);
#pragma unroll
        for (int k = 0; k < row_parts; ++k) x[threads * (r * row_parts + k)] = part[k];
    }
    __device__ __forceinline__ void change_row(int r, double sign, Row entry) {
        put_row(r, add_signed(row(r), sign, entry));
    }
};
