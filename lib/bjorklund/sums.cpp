#include "lib/bjorklund/sums.hpp"

#include "jit/number/partial.hpp"
#include "lib/base/aligned_doubles.hpp"
#include "lib/number/doubles.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/placement.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

namespace libperm {
namespace {

// Of sets of lines, the first of which has each of the others for a partner, or its loop.
template <class A> class Matchings {
    using Number = typename A::Number;

  public:
    struct Sum {
        Number value;
        double size, error; // the terms' absolute values, and what the value can be wrong by
    };

    Matchings(const LineNumbers &lines, A a) : lines_(lines), a_(a) {}

    Sum of_all() const {
        const int n = 2 * lines_.pairs;
        std::vector<Sum> sums(std::size_t{1} << n);
        sums[0] = {A::number(1), 1, 0};
        for (std::size_t set = 1; set < sums.size(); ++set)
            if (lines_.has_loops || std::popcount(set) % 2 == 0) sums[set] = of(set, sums);
        return sums.back();
    }

  private:
    Sum of(std::size_t set, const std::vector<Sum> &known) const {
        Sum sum{A::number(0), 0, 0};
        const int first = std::countr_zero(set), loops = 2 * lines_.pairs;
        set &= set - 1;
        for (std::size_t others = set; others != 0; others &= others - 1) {
            const std::size_t other = others & (~others + 1);
            add(lines_.place(first, std::countr_zero(others)), known[set ^ other], sum);
        }
        if (lines_.has_loops) add(lines_.place(first, loops), known[set], sum);
        if constexpr (A::bounded) {
            const double roundings = (fused_roundings(lines_.arithmetic) + 1) * loops;
            sum.error += sum.size * unit_of(lines_.arithmetic) * roundings + 0x1p-1000;
        }
        return sum;
    }

    void add(std::size_t place, const Sum &rest, Sum &to) const {
        const Number x = gathered<Number>(&lines_.entries[place * at(A::parts)]);
        to.value = a_.madd(x, rest.value, to.value);
        if constexpr (A::bounded) {
            const double size = A::magnitude(x), error = lines_.errors[place];
            to.size += size * rest.size;
            to.error += error * (rest.size + rest.error) + size * rest.error;
        }
    }

    const LineNumbers &lines_;
    const A a_;
};

} // namespace

HafnianPart hafnian_by_definition(const LineNumbers &lines) {
    HafnianPart part;
    with_arithmetic_of(lines.arithmetic, lines.prime, [&]<class A>(A a) {
        typename Matchings<A>::Sum sum{};
        with_fma([&] { sum = Matchings<A>(lines, a).of_all(); });
        scatter(sum.value, part.parts.data());
        part.error = sum.error * (1 + 0x1p-29); // for the bound's own roundings
    });
    return part;
}

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

namespace {

// sum (-1)^(bits of k) x_k of 2^bits numbers, by halves.
template <class A> typename A::Number signed_sum(const A &a, std::vector<typename A::Number> x) {
    for (std::size_t half = x.size() / 2; half > 0; half /= 2)
        for (std::size_t k = 0; k < half; ++k) x[k] = a.subtract(x[k], x[k + half]);
    return x.front();
}

template <class A> HafnianPart part_of(const A &a, const HafnianLanes &lanes) {
    HafnianPart part;
    std::vector<typename A::Number> x(HafnianLanes::lanes);
    for (std::size_t k = 0; k < x.size(); ++k) {
        x[k] = gathered<typename A::Number>(&lanes.parts[0][k], HafnianLanes::lanes);
        part.error += lanes.error[k];
    }
    scatter(signed_sum(a, std::move(x)), part.parts.data());
    return part;
}

template <class A> HafnianPart total_of(const A &a, std::span<const HafnianPart> pieces) {
    HafnianPart total;
    std::vector<typename A::Number> x(pieces.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
        x[k] = gathered<typename A::Number>(pieces[k].parts.data());
        total.error += pieces[k].error;
    }
    scatter(signed_sum(a, std::move(x)), total.parts.data());
    total.error *= 1 + 0x1p-29; // for the bounds' own roundings
    return total;
}

HafnianPart part_of(const LineNumbers &lines, const HafnianLanes &lanes) {
    return with_arithmetic_of(lines.arithmetic, lines.prime,
                              [&](const auto &a) { return part_of(a, lanes); });
}

HafnianPart run_piece(const LineNumbers &lines, std::uint64_t piece) {
    const HafnianLines view = lines.view();
    const std::size_t doubles = hafnian_room(view);
    const Charge charge(&call().memory(), static_cast<std::int64_t>(8 * doubles));
    const AlignedDoubles room = aligned_doubles(doubles);
    HafnianLanes lanes{};
    sum_over_pair_signs(view, piece_bits_of(lines.pairs), piece, room.get(), lanes);
    return part_of(lines, lanes);
}

// Pieces of all matrices, those of one together. `work`: of a piece.
template <class Done>
void run_on(SignsOnDevice &device, const std::vector<LineNumbers> &all, double work,
            std::span<const std::uint64_t> pieces, const Done &done) {
    const int piece_bits = piece_bits_of(all.front().pairs);
    for (std::size_t k = 0, end = 0; k < pieces.size(); k = end) {
        call().begin_piece();
        const std::uint64_t matrix = pieces[k] >> piece_bits;
        std::vector<std::uint64_t> own;
        for (; end < pieces.size() && pieces[end] >> piece_bits == matrix; ++end)
            own.push_back(pieces[end] - (matrix << piece_bits));
        const std::vector<HafnianLanes> lanes = device.lanes_of(all[matrix], own);
        for (std::size_t i = k; i < end; ++i) done(pieces[i], part_of(all[matrix], lanes[i - k]));
        call().advance(work * static_cast<double>(end - k));
    }
}

} // namespace

std::vector<HafnianPart> hafnians_by_signs(const std::vector<LineNumbers> &all, SignDevices &where) {
    std::vector<HafnianPart> totals;
    if (all.empty()) return totals;
    const LineNumbers &first = all.front();
    const int piece_bits = piece_bits_of(first.pairs);
    const std::uint64_t pieces = std::uint64_t{1} << piece_bits;
    const double work =
        std::exp2(first.pairs - 3 - piece_bits) * hafnian_operations(first.pairs, first.has_loops);
    const auto one = [&](std::uint64_t k) {
        const HafnianPart part = run_piece(all[k / pieces], k % pieces);
        call().advance(work);
        return part;
    };
    const auto run = [&](std::span<const std::uint64_t> todo, const auto &done) {
        if (!where.queues) return each_on_its_thread(one)(todo, done);
        const double seconds = where.seconds / static_cast<double>(pieces * all.size());
        OnEachDevice<SignsOnDevice> devices(*where.queues, [&](DeviceQueue &queue) {
            return std::make_unique<SignsOnDevice>(queue, first, piece_bits, seconds);
        });
        devices.share(
            todo, [](const SignsOnDevice &device) { return device.at_once(); },
            [&](SignsOnDevice &device, std::span<const std::uint64_t> some) {
                run_on(device, all, work, some, done);
            });
        where.bytes = devices.peak_bytes();
    };
    const std::vector<HafnianPart> parts = parts_of_pieces(pieces * all.size(), work, HafnianPart{}, run);
    for (std::size_t m = 0; m < all.size(); ++m)
        totals.push_back(with_arithmetic_of(all[m].arithmetic, all[m].prime, [&](const auto &a) {
            return total_of(a, std::span<const HafnianPart>(parts).subspan(m * pieces, pieces));
        }));
    return totals;
}

} // namespace libperm
