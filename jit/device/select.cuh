// ---- The segments that matter most ----------------------------------------------------------------------
//
// Few of the 2^(n-1) terms are far larger than the permanent (those of nearly empty and nearly full sets, if
// no entry is negative), and their rounding errors are nearly all of its error. Their segments are summed
// once more, in products of twice the precision.

// Those whose absolute values add up to more than `most`, in any order; none of a window that is `hopeless`.
extern "C" __global__ void perm_select(const Partial *partials, u64 count, double most, u64 window,
                                       const int *hopeless, u64 *chosen, u64 *number) {
    const u64 t = thread_index();
    if (t < count && partials[t].absolute > most && !hopeless[t / window])
        chosen[atomicAdd(number, u64{1})] = t;
}

// What the others' absolute values add up to, `group` of them at a time.
extern "C" __global__ void perm_rest(const Partial *partials, u64 count, double most, u64 group,
                                     double *rest) {
    const u64 first = thread_index() * group;
    if (first >= count) return;
    double sum = 0;
    for (u64 t = first; t < first + group && t < count; ++t)
        if (partials[t].absolute <= most) sum += partials[t].absolute;
    rest[thread_index()] = sum;
}
