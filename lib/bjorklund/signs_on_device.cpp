#include "lib/bjorklund/signs_on_device.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <array>

namespace libperm {
namespace {

constexpr double launch_seconds = 0.1;        // of one launch at most, as predicted
constexpr std::int64_t most_room = 4ll << 30; // bytes of all blocks

std::size_t most_shared(const DeviceQueue &queue) {
    return std::min(hafnian_near_bytes, queue.limits().shared_bytes);
}

static_assert(hafnian_lane_bits == HafnianLanes::lane_bits);

std::uint64_t walks_of(std::uint64_t pieces) { return pieces << HafnianLanes::lane_bits; }

} // namespace

SignsOnDevice::SignsOnDevice(DeviceQueue &queue, const LineNumbers &like, int piece_bits,
                             double piece_seconds)
    : queue_(queue),
      piece_bits_(piece_bits),
      places_({like.arithmetic, like.pairs, like.has_loops, piece_bits}, most_shared(queue)),
      threads_(queue.block_threads(hafnian_threads)),
      entries_(queue),
      errors_(queue),
      pieces_(queue),
      room_(queue),
      told_(queue) {
    queue_.load(hafnian_kernel(like.arithmetic));
    queue_.allow_shared(hafnian_entry, std::max(most_shared(queue_), places_.shared_bytes));
    const auto of_block = static_cast<std::int64_t>(8 * places_.room_doubles),
               that_fit = std::min(most_room, queue_.free_bytes() / 2) / of_block;
    blocks_ = static_cast<unsigned>(std::clamp<std::int64_t>(
        that_fit, 1, queue_.blocks_at_once(hafnian_entry, threads_, places_.shared_bytes)));
    const double turn = std::max(1.0, blocks_ / 8.0); // pieces that all blocks take together
    at_once_ =
        static_cast<std::uint64_t>(turn * std::clamp(launch_seconds / (piece_seconds * turn), 1.0, 0x1p20));
}

void SignsOnDevice::bring_in(const LineNumbers &lines) {
    if (lines_ == &lines) return;
    const std::size_t entries = lines.entries.size() * sizeof(double),
                      errors = lines.errors.size() * sizeof(double);
    entries_.reserve(entries);
    errors_.reserve(errors);
    queue_.copy_in(entries_.address(), lines.entries.data(), entries);
    queue_.copy_in(errors_.address(), lines.errors.data(), errors);
    lines_ = &lines;
}

std::vector<HafnianLanes> SignsOnDevice::lanes_of(const LineNumbers &lines,
                                                  std::span<const std::uint64_t> pieces) {
    bring_in(lines);
    const std::size_t each = hafnian_told_doubles(lines.arithmetic);
    const std::uint64_t walks = walks_of(pieces.size());
    const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(blocks_, walks));
    std::vector<double> told(walks * each);
    pieces_.reserve(pieces.size_bytes());
    told_.reserve(told.size() * sizeof(double));
    room_.reserve(8 * places_.room_doubles * blocks);
    queue_.copy_in(pieces_.address(), pieces.data(), pieces.size_bytes());
    HafnianLaunch launch{entries_.address(),
                         errors_.address(),
                         pieces_.address(),
                         room_.address(),
                         told_.address(),
                         places_.room_doubles,
                         pieces.size(),
                         lines.prime,
                         static_cast<std::uint32_t>(lines.pairs),
                         lines.has_loops,
                         static_cast<std::uint32_t>(piece_bits_),
                         places_.first_near,
                         places_.place};
    const std::array<void *, 1> arguments{&launch};
    queue_.launch(hafnian_entry, blocks, threads_, arguments, places_.shared_bytes);
    queue_.copy_out(told.data(), told_.address(), told.size() * sizeof(double));

    std::vector<HafnianLanes> all(pieces.size());
    const double *from = told.data();
    for (HafnianLanes &lanes : all)
        for (std::size_t lane = 0; lane < HafnianLanes::lanes; ++lane, from += each) {
            for (std::size_t part = 0; part + 1 < each; ++part) lanes.parts[part][lane] = from[part];
            lanes.error[lane] = from[each - 1];
        }
    return all;
}

std::int64_t SignsOnDevice::peak_bytes() const {
    std::size_t bytes = 0;
    for (const DeviceArray *array : {&entries_, &errors_, &pieces_, &room_, &told_}) bytes += array->bytes();
    return static_cast<std::int64_t>(bytes);
}

} // namespace libperm
