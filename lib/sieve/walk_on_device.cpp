#include "lib/sieve/walk_on_device.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <array>

namespace libperm {
namespace {

constexpr std::int64_t most_room = 4ll << 30; // bytes of all blocks
constexpr std::size_t head_words = 2;         // of what is told, before the counts

} // namespace

SieveOnDevice::SieveOnDevice(DeviceQueue &queue, const SieveProgram &program, std::size_t first_step,
                             std::size_t enough)
    : queue_(queue),
      program_(program),
      first_(first_step),
      enough_(enough),
      products_(program),
      counts_(sieve_cells(program)),
      prefixes_(queue),
      room_(queue),
      told_(queue) {}

// The first piece tells how far all are followed: the kernel is written for the steps that are left.
std::vector<std::uint32_t> SieveOnDevice::follow(std::span<const std::uint32_t> prefixes) {
    std::vector<std::uint32_t> all(prefixes.begin(), prefixes.end());
    if (device_step_) return sieve_prefixes(program_, first_, *device_step_, std::move(all));
    device_step_ = follow_first(program_, first_, all, enough_);
    load();
    return all;
}

std::size_t SieveOnDevice::follow_first(const SieveProgram &program, std::size_t first_step,
                                        std::vector<std::uint32_t> &prefixes, std::size_t enough) {
    std::size_t step = first_step;
    for (; step + 1 < program.steps.size() && prefixes.size() < enough * program.prefix_words(); ++step)
        prefixes = sieve_prefixes(program, step, step + 1, std::move(prefixes));
    return step;
}

void SieveOnDevice::load() {
    queue_.load(sieve_kernel(program_, *device_step_));
    const auto of_block = static_cast<std::int64_t>(4 * sieve_room_words(program_, *device_step_)),
               that_fit = std::min(most_room, queue_.free_bytes() / 2) / of_block;
    blocks_ = static_cast<unsigned>(
        std::clamp<std::int64_t>(that_fit, 1, queue_.blocks_at_once(sieve_entry, sieve_threads)));
    room_.reserve(at(of_block) * blocks_);
    told_.reserve(8 * (head_words + counts_.size()));
}

void SieveOnDevice::start(std::span<const std::uint32_t> followed) {
    followed_ = followed.size() / program_.prefix_words();
    if (followed_ == 0) return;
    prefixes_.reserve(followed.size_bytes());
    queue_.copy_in(prefixes_.address(), followed.data(), followed.size_bytes());
    const std::vector<std::uint64_t> zeros(head_words + counts_.size());
    queue_.copy_in(told_.address(), zeros.data(), 8 * zeros.size());
    SieveLaunch launch{prefixes_.address(), told_.address(),
                       room_.address(),     told_.address() + 8 * head_words,
                       told_.address() + 8, static_cast<std::uint32_t>(followed_),
                       sieve_threads,       static_cast<std::uint32_t>(golden_stride(followed_))};
    const std::array<void *, 1> arguments{&launch};
    const auto blocks = std::min<std::size_t>(blocks_, (followed_ + sieve_threads - 1) / sieve_threads);
    queue_.launch(sieve_entry, static_cast<unsigned>(blocks), sieve_threads, arguments);
}

SieveOnDevice::Sum SieveOnDevice::finish() {
    if (followed_ == 0) return {};
    std::array<std::uint64_t, head_words> head{};
    queue_.copy_out(head.data(), told_.address(), sizeof head);
    queue_.copy_out(counts_.data(), told_.address() + 8 * head_words, 8 * counts_.size());
    Sum sum{0, static_cast<double>(head[1])};
    const std::uint64_t of_first = program_.values(0);
    for (std::uint64_t cell = 0; cell < counts_.size(); ++cell)
        if (counts_[cell] != 0)
            sum.products +=
                products_.of(cell % of_first | cell / of_first << 32) * static_cast<long>(counts_[cell]);
    return sum;
}

double sieve_bytes_on_gpu(const SieveProgram &program, std::size_t first_step, const GpuProperties &gpu) {
    constexpr double blocks = 32; // of a multiprocessor
    const auto room = static_cast<double>(sieve_room_words(program, first_step));
    return 8.0 * static_cast<double>(sieve_cells(program)) + 4 * blocks * gpu.multiprocessors * room;
}

std::int64_t SieveOnDevice::peak_bytes() const {
    return static_cast<std::int64_t>(prefixes_.bytes() + room_.bytes() + told_.bytes());
}

} // namespace libperm
