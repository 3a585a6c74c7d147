// x in registers, A in shared memory, column by column; every loop over the rows is unrolled for this n.
struct __align__(16) Pair {
    double first, second;
};

struct Rows {
    static constexpr int stride = n + (n & 1); // of a column in shared memory: two entries are read at once
    double x[stride];
    const Pair *a;

    __device__ __forceinline__ void start(const double *values, unsigned char *shared) {
        double *to = reinterpret_cast<double *>(shared);
        for (int e = threadIdx.x; e < n * stride; e += blockDim.x)
            to[e] = e % stride < n ? values[n + e / stride * n + e % stride] : 0;
        __syncthreads();
        a = reinterpret_cast<const Pair *>(shared);
#pragma unroll
        for (int r = 0; r < stride; ++r) x[r] = r < n ? values[r] : 1;
    }

    __device__ __forceinline__ void change(int column, bool in) {
        const double sign = in ? 1 : -1;
        const Pair *entry = a + column * (stride / 2);
#pragma unroll
        for (int r = 0; r < stride; r += 2) {
            const Pair two = entry[r / 2];
            x[r] = fma(sign, two.first, x[r]);
            x[r + 1] = fma(sign, two.second, x[r + 1]);
        }
    }

    __device__ __forceinline__ void bring_in(int column) { change(column, true); }
    __device__ __forceinline__ void settle() {}

    __device__ __forceinline__ double product() const {
        double p[4] = {1, 1, 1, 1}; // side by side, so that no multiplication waits for the one before
#pragma unroll
        for (int r = 0; r < n; ++r) p[r % 4] *= x[r];
        return (p[0] * p[1]) * (p[2] * p[3]);
    }

    __device__ __forceinline__ void block(u64 i, Sums &sums) { loop_over_block(*this, i, sums); }
};
