#include "lib/tape_on_device.hpp"

#include "jit/tape_kernel.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace libperm {
namespace {

constexpr std::size_t window = 1 << 13; // matrices that are brought in at once

// About eight states of the longest row each.
unsigned threads_for(const Tape &tape) { return std::clamp(std::bit_ceil(tape.most_states / 8), 64u, 1024u); }

// work(begin, end) for pieces of 0 .. count - 1: what threads have in common is touched once for each.
template <class Work> void in_chunks(std::size_t count, const Work &work) {
    constexpr std::size_t chunk = 128;
    parallel_for((count + chunk - 1) / chunk,
                 [&](std::uint64_t k) { work(k * chunk, std::min<std::size_t>((k + 1) * chunk, count)); });
}

template <class T> DeviceArray copy_of(DeviceQueue &queue, const std::vector<T> &numbers) {
    DeviceArray array(queue);
    array.reserve(numbers.size() * sizeof(T));
    queue.copy_in(array.address(), numbers.data(), numbers.size() * sizeof(T));
    return array;
}

class TapeOnDevice {
  public:
    TapeOnDevice(DeviceQueue &queue, const Direct &direct, std::span<const void *const> matrices)
        : queue_(queue),
          direct_(direct),
          matrices_(matrices),
          tape_(sliced(direct.tape())),
          moves_(copy_of(queue, tape_.moves)),
          slice_(copy_of(queue, tape_.slice)),
          row_(copy_of(queue, tape_.row)),
          entries_(queue),
          last_(queue),
          parts_(static_cast<std::size_t>(parts_of(direct.arithmetic(false)))),
          loaded_(matrices.size()) {
        last_.reserve(matrices.size() * (parts_ + 1) * sizeof(double));
    }

    void run(const std::function<void(std::size_t)> &poll,
             const std::function<void(std::size_t, const DirectAnswer &)> &done) {
        const std::size_t doubles = parts_ * static_cast<std::size_t>(direct_.tape().nnz);
        entries_.reserve(std::min(window, matrices_.size()) * doubles * sizeof(double));
        std::vector<double> entries(std::min(window, matrices_.size()) * doubles);
        for (std::size_t first = 0; first < matrices_.size(); first += window) {
            poll(first);
            const std::size_t count = std::min(window, matrices_.size() - first);
            in_chunks(count, [&](std::size_t begin, std::size_t end) {
                direct_.load(matrices_.subspan(first + begin, end - begin), entries.data() + begin * doubles,
                             loaded_.data() + first + begin);
            });
            queue_.copy_in(entries_.address(), entries.data(), count * doubles * sizeof(double));
            launch(first, count);
        }
        std::vector<double> last(matrices_.size() * (parts_ + 1));
        queue_.copy_out(last.data(), last_.address(), last.size() * sizeof(double));
        const TapeLayout layout{direct_.arithmetic(false), true, 1};
        in_chunks(matrices_.size(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t k = begin; k < end; ++k)
                if (loaded_[k].finite)
                    done(k, direct_.answer(last.data() + k * (parts_ + 1), layout, 0, loaded_[k]));
        });
    }

  private:
    void launch(std::size_t first, std::size_t count) {
        const Tape &tape = direct_.tape();
        const auto begin = loaded_.begin() + static_cast<std::ptrdiff_t>(first);
        const bool magnitudes =
            parts_ > 1 || std::any_of(begin, begin + static_cast<std::ptrdiff_t>(count),
                                      [](const Direct::Loaded &matrix) { return !matrix.nonnegative; });
        const unsigned threads = queue_.block_threads(threads_for(tape));
        const std::size_t shared = tape_shared_bytes(tape, direct_.arithmetic(false), magnitudes);
        if (loaded_kernel_ != static_cast<int>(magnitudes)) { // both have one name
            queue_.load(tape_kernel(direct_.arithmetic(false), magnitudes, static_cast<int>(threads)));
            loaded_kernel_ = magnitudes;
        }
        TapeLaunch launch{moves_.address(),
                          slice_.address(),
                          row_.address(),
                          entries_.address(),
                          last_.address() + first * (parts_ + 1) * sizeof(double),
                          count,
                          static_cast<std::uint32_t>(tape.n),
                          static_cast<std::uint32_t>(tape.nnz),
                          tape_.states};
        const std::array<void *, 1> arguments{&launch};
        const auto blocks = std::min<std::size_t>(count, queue_.blocks_at_once(tape_entry, threads, shared));
        queue_.launch(tape_entry, static_cast<unsigned>(blocks), threads, arguments, shared);
    }

    DeviceQueue &queue_;
    const Direct &direct_;
    const std::span<const void *const> matrices_;
    const SlicedTape tape_;
    const DeviceArray moves_, slice_, row_;
    DeviceArray entries_, last_;
    const std::size_t parts_; // doubles of a number
    std::vector<Direct::Loaded> loaded_;
    int loaded_kernel_ = -1; // whether with magnitudes
};

} // namespace

bool fits_device(const Direct &direct, std::size_t shared_bytes) {
    return can_be_sliced(direct.tape()) &&
           tape_shared_bytes(direct.tape(), direct.arithmetic(false), true) <= shared_bytes;
}

void run_on(DeviceQueue &queue, const Direct &direct, std::span<const void *const> matrices,
            const std::function<void(std::size_t)> &poll,
            const std::function<void(std::size_t k, const DirectAnswer &answer)> &done) {
    TapeOnDevice(queue, direct, matrices).run(poll, done);
}

} // namespace libperm
