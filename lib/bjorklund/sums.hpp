// The hafnian of numbered lines, by all matchings or by a sum over signs, on a CPU or on GPUs.
#pragma once

#include "jit/kernel/sign_sums.hpp"
#include "jit/number/arithmetic.hpp"
#include "jit/number/number.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/bjorklund/lines.hpp"
#include "lib/number/ball.hpp"
#include "lib/run/call.hpp"

#include <array>
#include <cstdint>
#include <span>
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
    std::int64_t bytes = 0;               // that they took of their memory, told by the sums
};

// One for each of `all`, which are of one shape; each times 2^(3 - pairs) is the hafnian.
std::vector<HafnianPart> hafnians_by_signs(const std::vector<LineNumbers> &all, SignDevices &where);

// Sums over signs of pairs of lines on a GPU: those of a CPU's lanes, piece by piece, with the same bits.

class SignsOnDevice { // throws JitError
  public:
    // For numbers of lines of this shape and arithmetic. `piece_seconds`: as predicted.
    SignsOnDevice(DeviceQueue &queue, const LineNumbers &like, int piece_bits, double piece_seconds);

    std::uint64_t at_once() const { return at_once_; } // pieces, in a launch that is not too long
    // At most so many; `lines` stay the caller's.
    std::vector<HafnianLanes> lanes_of(const LineNumbers &lines, std::span<const std::uint64_t> pieces);

    std::int64_t peak_bytes() const;

  private:
    void bring_in(const LineNumbers &lines);

    DeviceQueue &queue_;
    const int piece_bits_;
    const HafnianPlaces places_;
    unsigned threads_, blocks_; // of these all that run at the same time
    std::uint64_t at_once_;
    const LineNumbers *lines_ = nullptr; // that are there
    DeviceArray entries_, errors_, pieces_, room_, told_;
};

} // namespace libperm
