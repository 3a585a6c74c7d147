// x and A (compressed columns) in shared memory; x of row r stands at x[blockDim.x * r] of a thread. While
// some x is 0 nothing is multiplied.
struct Rows : Numbers {
    Number *x;
    const Number *value;
    const int *column_ptr, *row;
    int zeros;

    __device__ __forceinline__ void start(const Number *values, unsigned char *shared) {
        static_cast<Arith &>(*this) = *reinterpret_cast<const Arith *>(values + n + entries);
        Number *value_to = reinterpret_cast<Number *>(shared);
        Number *x_to = value_to + entries;
        int *column_ptr_to = reinterpret_cast<int *>(x_to + n * blockDim.x);
        int *row_to = column_ptr_to + n + 1;
        for (int e = threadIdx.x; e < entries; e += blockDim.x) {
            value_to[e] = values[n + e];
            row_to[e] = pattern_row[e];
        }
        for (int j = threadIdx.x; j <= n; j += blockDim.x) column_ptr_to[j] = pattern_column_ptr[j];
        x = x_to + threadIdx.x;
        value = value_to;
        column_ptr = column_ptr_to;
        row = row_to;
        zeros = 0;
        for (int r = 0; r < n; ++r) {
            x[blockDim.x * r] = values[r];
            zeros += is_zero(values[r]);
        }
        __syncthreads();
    }

    __device__ __forceinline__ void change(int column, bool in) {
        const double sign = in ? 1 : -1;
        for (int e = column_ptr[column]; e < column_ptr[column + 1]; ++e) {
            Number &to = x[blockDim.x * row[e]];
            const Number before = to, after = add_signed(before, sign, value[e]);
            zeros += is_zero(after) - is_zero(before);
            to = after;
        }
    }

    __device__ __forceinline__ void bring_in(int column) { change(column, true); }
    __device__ __forceinline__ void settle() {}

    __device__ __forceinline__ Number product() const {
        if (zeros > 0) return number(0);
        Number p[4] = {number(1), number(1), number(1), number(1)};
#pragma unroll
        for (int r = 0; r < n; ++r) p[r % 4] = multiply(p[r % 4], x[blockDim.x * r]);
        return multiply(multiply(p[0], p[1]), multiply(p[2], p[3]));
    }

    __device__ __forceinline__ void block(u64 i, Partial &sums) { loop_over_block(*this, i, sums); }
};
