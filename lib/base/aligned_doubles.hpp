// Doubles on a boundary of 64 bytes, as vectors are loaded.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace libperm {

struct AlignedDelete {
    void operator()(double *p) const { ::operator delete[](p, std::align_val_t{64}); }
};
using AlignedDoubles = std::unique_ptr<double[], AlignedDelete>;

// Nothing is written to them.
inline AlignedDoubles aligned_doubles(std::size_t count) {
    return AlignedDoubles(
        static_cast<double *>(::operator new[](count * sizeof(double), std::align_val_t{64})));
}

} // namespace libperm
