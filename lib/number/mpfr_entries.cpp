#include "lib/number/mpfr_entries.hpp"

#include "lib/number/mpfr_state.hpp"

#include <algorithm>

namespace libperm {

bool is_complex(const ExactBlock &block) {
    return !std::all_of(block.values.begin(), block.values.end(),
                        [](const Gaussian &x) { return is_real(x); });
}

int mpfr_limbs(const Numbers &numbers) {
    return (numbers.complex ? 2 : 1) * ((numbers.bits + GMP_NUMB_BITS - 1) / GMP_NUMB_BITS);
}

std::int64_t mpfr_number_bytes(const Numbers &numbers) {
    std::int64_t bytes = 0;
    with_mpfr_limbs(mpfr_limbs(numbers),
                    [&](auto limbs) { bytes = std::int64_t{sizeof(MpfrState<limbs.value>)}; });
    return bytes;
}

} // namespace libperm
