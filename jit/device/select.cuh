// ---- The segments that matter most ----------------------------------------------------------------------
//
// Few of the 2^(n-1) terms are far larger than the permanent (those of nearly empty and nearly full sets, if
// no entry is negative), and their rounding errors are nearly all of its error. Their segments are summed
// once more, in products of twice the precision.

// Those whose absolute values add up to more than `most`, in any order.
extern "C" __global__ void perm_select(const Partial *partials, u64 count, double most, u64 *chosen,
                                       u64 *number) {
    const u64 t = thread_index();
    if (t < count && partials[t].absolute > most) chosen[atomicAdd(number, u64{1})] = t;
}
