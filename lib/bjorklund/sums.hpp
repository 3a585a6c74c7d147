// The hafnian of numbered lines, by all matchings or by a sum over signs.
#pragma once

#include "jit/number/arithmetic.hpp"
#include "jit/number/number.hpp"
#include "jit/queue/device_queues.hpp"
#include "lib/bjorklund/lines.hpp"
#include "lib/number/ball.hpp"
#include "lib/run/call.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace libperm {

// work(the arithmetic of jit/device/number.cuh)
template <class Work> auto with_arithmetic_of(Arithmetic arithmetic, double prime, const Work &work) {
    using namespace number;
    switch (arithmetic) {
    case Arithmetic::complex:
        return work(Complex<Real<double>>{});
    case Arithmetic::dd:
        return work(DD<double>{});
    case Arithmetic::complex_dd:
        return work(Complex<DD<double>>{});
    case Arithmetic::modular:
        return work(Modular<double>{prime, 1 / prime});
    default:
        return work(Real<double>{});
    }
}

// `parts` of the lines' arithmetic; of residues any of the class. The error is one of the sum of the parts.
struct HafnianPart {
    std::array<double, 4> parts{};
    double error = 0;
};

HafnianPart hafnian_by_definition(const LineNumbers &lines);

// The GPUs that sum instead of the processor, with the same bits.
struct SignDevices {
    const DeviceQueues *queues = nullptr; // null: none
    double seconds = 0;                   // that a GPU is predicted to take
};

// One for each of `all`, which are of one shape; each times 2^(3 - pairs) is the hafnian. `device_bytes`
// becomes what they took of GPUs' memory.
std::vector<HafnianPart> hafnians_by_signs(const std::vector<LineNumbers> &all, const SignDevices &where,
                                           std::int64_t &device_bytes);

} // namespace libperm
