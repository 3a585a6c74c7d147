// x in registers, A in shared memory, column by column; every loop over the rows is unrolled for this n.
struct __align__(16) Pair {
    Number first, second;
};

struct Rows : Numbers {
    static constexpr int stride = n + (n & 1); // of a column in shared memory: two entries are read at once
    Number x[stride];
    const Pair *a;

    __device__ __forceinline__ void start(const Number *values, unsigned char *shared) {
        static_cast<Arith &>(*this) = *reinterpret_cast<const Arith *>(values + n + entries);
        Number *to = reinterpret_cast<Number *>(shared);
        for (int e = threadIdx.x; e < n * stride; e += blockDim.x)
            to[e] = e % stride < n ? values[n + e / stride * n + e % stride] : number(0);
        __syncthreads();
        a = reinterpret_cast<const Pair *>(shared);
#pragma unroll
        for (int r = 0; r < stride; ++r) x[r] = r < n ? values[r] : number(1);
    }

    __device__ __forceinline__ void change(int column, bool in) {
        const double sign = in ? 1 : -1;
        const Pair *entry = a + column * (stride / 2);
#pragma unroll
        for (int r = 0; r < stride; r += 2) {
            const Pair two = entry[r / 2];
            x[r] = add_signed(x[r], sign, two.first);
            x[r + 1] = add_signed(x[r + 1], sign, two.second);
        }
    }

    __device__ __forceinline__ void bring_in(int column) { change(column, true); }
    __device__ __forceinline__ void settle() {}

    __device__ __forceinline__ Number product() const {
        Number p[4] = {number(1), number(1), number(1),
                       number(1)}; // side by side, so that no multiplication waits for the one before
#pragma unroll
        for (int r = 0; r < n; ++r) p[r % 4] = multiply(p[r % 4], x[r]);
        return multiply(multiply(p[0], p[1]), multiply(p[2], p[3]));
    }

    __device__ __forceinline__ void block(u64 i, Partial &sums) { loop_over_block(*this, i, sums); }
};
