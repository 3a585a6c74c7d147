// ---- The growth of a table, in a bracket (Collatz; Wielandt)
// ------------------------------------------------
//
// x and what periods made of it, y, stand beside each other. min and max of y / x, where x > 0; then both are
// (y + shift x) scale, where that is not 0 never so small that a product of it would vanish.

struct Bracket {
    u64 least, most, fresh, zeros;
};

__device__ __forceinline__ u64 bits_of(double x) { return static_cast<u64>(__double_as_longlong(x)); }

__device__ __forceinline__ void bracket(double *x, double *y, u64 count, double shift, double scale,
                                        double smallest, Bracket *found) {
    __shared__ double least_of[most_threads], most_of[most_threads];
    double least = 1e308 * 10, most = 0;
    u64 fresh = 0, zeros = 0;
    const u64 step = static_cast<u64>(gridDim.x) * blockDim.x;
    for (u64 s = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; s < count; s += step) {
        const double before = x[s], after = y[s], next = (after + shift * before) * scale;
        if (before > 0) {
            const double ratio = after / before;
            least = ratio < least ? ratio : least;
            most = ratio > most ? ratio : most;
        } else if (after > 0) {
            ++fresh;
        } else {
            ++zeros;
        }
        const bool stays = after > 0 || (before > 0 && shift != 0);
        const double kept = stays ? (next > smallest ? next : smallest) : 0;
        x[s] = kept;
        y[s] = kept;
    }
    least_of[threadIdx.x] = least;
    most_of[threadIdx.x] = most;
    if (fresh != 0) atomicAdd(&found->fresh, fresh);
    if (zeros != 0) atomicAdd(&found->zeros, zeros);
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (u32 k = 1; k < blockDim.x; ++k) {
        least = least_of[k] < least ? least_of[k] : least;
        most = most_of[k] > most ? most_of[k] : most;
    }
    atomicMin(&found->least, bits_of(least)); // of doubles >= 0 the bits are ordered as they are
    atomicMax(&found->most, bits_of(most));
}
