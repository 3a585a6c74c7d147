#include "lib/tape/on_device.hpp"

#include "jit/queue/gpu_queue.hpp"
#include "lib/run/gpu_device.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <utility>

namespace libperm {
namespace {

// About eight states of the longest row each.
unsigned threads_for(const Tape &tape, Arithmetic arithmetic) {
    const auto most = static_cast<unsigned>(tape_most_threads(arithmetic));
    return std::clamp(std::bit_ceil(tape.most_states / 8), 64u, most);
}

// work(begin, end) for pieces of 0 .. count - 1: what threads have in common is touched once for each.
template <class Work> void in_chunks(std::size_t count, const Work &work) {
    constexpr std::size_t chunk = 128;
    parallel_for((count + chunk - 1) / chunk,
                 [&](std::uint64_t k) { work(k * chunk, std::min<std::size_t>((k + 1) * chunk, count)); });
}

template <class T> void put(DeviceQueue &queue, DeviceArray &array, const std::vector<T> &numbers) {
    array.reserve(numbers.size() * sizeof(T));
    queue.copy_in(array.address(), numbers.data(), numbers.size() * sizeof(T));
}

// Whether one of them may be negative: -0 is nothing to lose time over.
bool copy_signed(const double *from, std::size_t count, double *to) {
    std::uint64_t bits = 0;
    for (std::size_t k = 0; k < count; ++k) {
        bits |= std::bit_cast<std::uint64_t>(from[k]);
        to[k] = from[k];
    }
    return bits >> 63 != 0;
}

} // namespace

bool fits_device(const TapePlan &direct, bool dd, std::size_t shared_bytes) {
    // The kernel goes along rows: what goes along a tree stays on the processor.
    return direct.tape().is_path && can_be_sliced(direct.tape()) &&
           tape_shared_bytes(direct.tape(), {direct.arithmetic(dd), true, true}) <= shared_bytes;
}

TapeOnDevice::TapeOnDevice(DeviceQueue &queue, const TapePlan &direct, bool dd, std::size_t stage_bytes)
    : queue_(queue),
      direct_(direct),
      arithmetic_(direct.arithmetic(dd)),
      doubles_(static_cast<std::size_t>(direct.tape().nnz * parts_of(direct.arithmetic(false)))),
      answer_doubles_(tape_answer_doubles(arithmetic_)),
      room_(std::max<std::size_t>(stage_bytes / (doubles_ * sizeof(double)), 1)),
      moves_(queue),
      slice_(queue),
      row_(queue),
      line_(queue) {
    const SlicedTape tape = sliced(direct.tape());
    states_ = tape.states;
    put(queue_, moves_, tape.moves);
    put(queue_, slice_, tape.slice);
    put(queue_, row_, tape.row);
    put(queue_, line_, direct.tape().row);
    queue_.wait(); // other streams use it
}

void TapeOnDevice::run(MatrixList matrices, const std::function<void(std::size_t)> &tell,
                       const std::function<void(std::size_t, const TapeAnswer &)> &done) {
    for (std::size_t first = 0, k = 0; first < matrices.size(); first += room_, k = (k + 1) % stages) {
        tell(first);
        queue_.use_stream(k);
        if (k == stages_.size()) stages_.push_back(new_stage());
        Stage &stage = stages_[k];
        finish(stage, done);
        stage.first = first;
        stage.count = std::min(room_, matrices.size() - first);
        launch(stage, bring_in(stage, matrices));
    }
    for (std::size_t k = 0; k < stages_.size(); ++k) {
        queue_.use_stream(k);
        finish(stages_[k], done);
    }
}

TapeOnDevice::Stage TapeOnDevice::new_stage() {
    Stage stage{{queue_, room_ * doubles_},
                {queue_, room_ * answer_doubles_},
                DeviceArray(queue_),
                DeviceArray(queue_),
                DeviceArray(queue_)};
    stage.device_values.reserve(room_ * doubles_ * sizeof(double));
    stage.device_answers.reserve(room_ * answer_doubles_ * sizeof(double));
    return stage;
}

// Whether some are not nonnegative.
bool TapeOnDevice::bring_in(Stage &stage, MatrixList matrices) const {
    std::atomic<bool> is_signed = false;
    in_chunks(stage.count, [&](std::size_t begin, std::size_t end) {
        bool some = false;
        for (std::size_t k = begin; k < end; ++k)
            some |= copy_signed(matrices[stage.first + k], doubles_, stage.values.get() + k * doubles_);
        if (some) is_signed = true;
    });
    return is_signed;
}

TapeForm TapeOnDevice::form(bool magnitudes) const {
    const TapeForm in_shared{arithmetic_, magnitudes, false};
    if (tape_shared_bytes(direct_.tape(), in_shared) <= queue_.limits().shared_bytes) return in_shared;
    return {arithmetic_, magnitudes, true};
}

void TapeOnDevice::launch(Stage &stage, bool is_signed) {
    const Tape &tape = direct_.tape();
    const bool magnitudes = is_signed || parts_of(arithmetic_) > 1;
    const TapeForm form = this->form(magnitudes);
    const unsigned threads = queue_.block_threads(threads_for(tape, arithmetic_));
    if (!std::exchange(loaded_[magnitudes], true)) queue_.load(tape_kernel(form, static_cast<int>(threads)));
    queue_.send(stage.device_values.address(), stage.values.get(), stage.count * doubles_ * sizeof(double));
    const char *const entry = tape_entry(form);
    const std::size_t shared = tape_shared_bytes(tape, form), room = tape_room_bytes(tape, form);
    queue_.allow_shared(entry, shared);
    const auto blocks = std::min<std::size_t>(stage.count, queue_.blocks_at_once(entry, threads, shared));
    stage.room.reserve(blocks * room);
    TapeLaunch launch{moves_.address(),
                      slice_.address(),
                      row_.address(),
                      line_.address(),
                      stage.device_values.address(),
                      stage.device_answers.address(),
                      stage.room.address(),
                      room,
                      stage.count,
                      static_cast<std::uint32_t>(tape.n),
                      static_cast<std::uint32_t>(tape.nnz),
                      states_};
    const std::array<void *, 1> arguments{&launch};
    queue_.launch(entry, static_cast<unsigned>(blocks), threads, arguments, shared);
    queue_.fetch(stage.answers.get(), stage.device_answers.address(),
                 stage.count * answer_doubles_ * sizeof(double));
}

void TapeOnDevice::finish(Stage &stage,
                          const std::function<void(std::size_t, const TapeAnswer &)> &done) const {
    if (stage.count == 0) return;
    queue_.wait();
    const TapeLayout layout{arithmetic_, true, 1};
    in_chunks(std::exchange(stage.count, 0), [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) {
            const double *const answer = stage.answers.get() + k * answer_doubles_;
            const auto scaling = std::bit_cast<TapeScaling>(answer[answer_doubles_ - 1]);
            if (scaling.bits == TapeScaling::not_for_tape) continue;
            done(stage.first + k, direct_.answer(answer, layout, 0, {scaling.exp2, scaling.bits}));
        }
    });
}

struct IdleTapes::OnGpu {
    explicit OnGpu(const CacheSettings &cache) : queue(the_gpu(), cache) {}

    GpuQueue queue;
    std::array<std::optional<TapeOnDevice>, 2> tapes; // in doubles, and dd
};

IdleTapes::IdleTapes() = default;
IdleTapes::~IdleTapes() = default;

void IdleTapes::run(const TapePlan &direct, bool dd, const CacheSettings &cache, MatrixList matrices,
                    const std::function<void(std::size_t)> &tell,
                    const std::function<void(std::size_t, const TapeAnswer &)> &done) const {
    std::unique_ptr<OnGpu> mine;
    if (const std::lock_guard lock(mutex_); !idle_.empty()) {
        mine = std::move(idle_.back());
        idle_.pop_back();
    }
    if (!mine) mine = std::make_unique<OnGpu>(cache);
    std::optional<TapeOnDevice> &tape = mine->tapes[dd];
    if (!tape) tape.emplace(mine->queue, direct, dd);
    tape->run(matrices, tell, done);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(mine));
}

} // namespace libperm
