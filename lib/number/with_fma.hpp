// std::fma is a call where the compiler may not count on the instruction. work(), with all that can be
// inlined in it, is compiled a second time for machines that have it: the same bits.
#pragma once

namespace libperm {

#if defined(__x86_64__) && !defined(__FMA__)
template <class Work> [[gnu::target("avx2,fma"), gnu::flatten, gnu::noinline]] void by_fma(const Work &work) {
    work();
}

template <class Work> void with_fma(const Work &work) {
    static const bool has_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (has_fma)
        by_fma(work);
    else
        work();
}
#else
template <class Work> void with_fma(const Work &work) { work(); }
#endif

} // namespace libperm
