// Sums over signs of pairs of lines on a GPU: those of a CPU's lanes, piece by piece, with the same bits.
#pragma once

#include "jit/kernel/hafnian_sum.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/bjorklund/lines.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace libperm {

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
