#include "tests/support/host_queue.hpp"

#include "jit/driver/jit_error.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace {

constexpr std::size_t guard = 256; // bytes behind each piece of memory, all 0xff as it is at first

unsigned char *bytes_at(libperm::DeviceAddress address) {
    return reinterpret_cast<unsigned char *>(
        address); // NOLINT(performance-no-int-to-ptr): a driver's address
}

[[noreturn]] void refuse(const std::string &what) {
    throw libperm::JitError(libperm::JitFailure::device, "the host's device: " + what);
}

} // namespace

HostQueue::~HostQueue() {
    for (const auto &[address, bytes] : allocated_) std::free(bytes_at(address));
}

void HostQueue::load(std::span<const libperm::KernelRecipe> recipes) {
    std::vector<std::string> keys, sources;
    for (const libperm::KernelRecipe &recipe : recipes) {
        if (compiled_.contains(recipe.key)) continue;
        keys.push_back(recipe.key);
        sources.push_back(recipe.source());
    }
    const std::vector<HostKernel> kernels = compile_for_host(sources);
    if (kernels.size() < keys.size())
        throw libperm::JitError(libperm::JitFailure::unavailable, "no compiler for kernels on the host");
    for (std::size_t k = 0; k < keys.size(); ++k) compiled_.emplace(keys[k], kernels[k]);
    for (const libperm::KernelRecipe &recipe : recipes)
        for (const std::string &entry : recipe.entries) entry_[entry] = {&compiled_.at(recipe.key)};
}

libperm::DeviceAddress HostQueue::allocate(std::size_t bytes) {
    if (static_cast<std::int64_t>(bytes) > free_)
        throw libperm::JitError(libperm::JitFailure::out_of_memory, "the host's device has no more memory");
    void *memory = std::malloc(bytes + guard);
    if (memory == nullptr) throw std::bad_alloc();
    std::memset(memory, 0xff, bytes + guard);
    free_ -= static_cast<std::int64_t>(bytes);
    const auto address = reinterpret_cast<libperm::DeviceAddress>(memory);
    allocated_[address] = bytes;
    return address;
}

void HostQueue::check_inside(libperm::DeviceAddress address, std::size_t bytes) const {
    auto piece = allocated_.upper_bound(address);
    if (piece == allocated_.begin() || (--piece)->first + piece->second < address + bytes)
        refuse("what was not allocated is copied");
}

bool HostQueue::is_whole() const {
    return std::all_of(allocated_.begin(), allocated_.end(), [](const auto &piece) {
        const unsigned char *end = bytes_at(piece.first) + piece.second;
        return std::all_of(end, end + guard, [](unsigned char x) { return x == 0xff; });
    });
}

void HostQueue::release(libperm::DeviceAddress address) noexcept {
    const auto piece = allocated_.find(address);
    if (piece == allocated_.end()) std::abort(); // not ours: the test has to stop
    free_ += static_cast<std::int64_t>(piece->second);
    allocated_.erase(piece);
    std::free(bytes_at(address));
}

void HostQueue::copy_in(libperm::DeviceAddress to, const void *from, std::size_t bytes) {
    if (bytes == 0) return;
    check_inside(to, bytes);
    std::memcpy(bytes_at(to), from, bytes);
}

void HostQueue::copy_out(void *to, libperm::DeviceAddress from, std::size_t bytes) {
    if (bytes == 0) return;
    check_inside(from, bytes);
    std::memcpy(to, bytes_at(from), bytes);
}

void *HostQueue::allocate_host(std::size_t bytes) {
    void *memory = std::malloc(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    std::memset(memory, 0xff, bytes);
    return memory;
}

void HostQueue::release_host(void *memory) noexcept {
    sends_.clear();
    fetches_.clear();
    std::free(memory);
}

void HostQueue::send(libperm::DeviceAddress to, const void *from, std::size_t bytes) {
    sends_[stream_].push_back([this, to, from, bytes] {
        check_inside(to, bytes);
        std::memcpy(bytes_at(to), from, bytes);
    });
}

void HostQueue::fetch(void *to, libperm::DeviceAddress from, std::size_t bytes) {
    fetches_[stream_].push_back([this, to, from, bytes] { copy_out(to, from, bytes); });
}

// Not before it must.
void HostQueue::arrive() {
    for (const auto &send : std::exchange(sends_[stream_], {})) send();
}

void HostQueue::wait() {
    arrive();
    for (const auto &fetch : fetches_[stream_]) fetch();
    fetches_[stream_].clear();
}

void HostQueue::allow_shared(const char *entry, std::size_t bytes) {
    if (bytes > device.shared_bytes) refuse("more shared memory is asked for than there is");
    entry_.at(entry).shared = bytes;
}

unsigned HostQueue::blocks_at_once(const char *entry, unsigned threads, std::size_t shared) {
    check_launch(entry, 1, threads, shared);
    return device.blocks(threads, shared);
}

void HostQueue::check_launch(const char *entry, unsigned blocks, unsigned threads, std::size_t shared) const {
    constexpr std::size_t unasked = 48 << 10; // bytes of shared memory that every kernel may have
    const Entry &it = entry_.at(entry);
    if (blocks == 0 || blocks >= 1U << 31 || threads == 0 || threads > it.kernel->most_threads(entry))
        refuse(std::string(entry) + " in " + std::to_string(blocks) + " blocks of " +
               std::to_string(threads) + " threads");
    if (shared > std::max(it.shared, std::min(unasked, device.shared_bytes)))
        refuse(std::string(entry) + " with shared memory that it was not allowed");
}

void HostQueue::launch(const char *entry, unsigned blocks, unsigned threads, std::span<void *const> arguments,
                       std::size_t shared) {
    check_launch(entry, blocks, threads, shared);
    arrive();
    if (device.launches_left-- <= 0) refuse("it fell off the bus");
    if (before_launch) before_launch({entry, blocks, threads, shared, arguments});
    ++launches_;
    entry_.at(entry).kernel->launch(entry, blocks, threads, shared, arguments.data());
}
