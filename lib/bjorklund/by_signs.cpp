#include "jit/number/number_parts.hpp"
#include "lib/base/aligned_doubles.hpp"
#include "lib/bjorklund/signs_on_device.hpp"
#include "lib/bjorklund/sums.hpp"
#include "lib/run/on_each_device.hpp"
#include "lib/run/pieces.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace libperm {
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

// Pieces of all matrices on the GPUs.
class SignsOnDevices {
  public:
    SignsOnDevices(const std::vector<LineNumbers> &all, const SignDevices &where, double work)
        : all_(all),
          where_(where),
          work_(work),
          piece_bits_(piece_bits_of(all.front().pairs)),
          devices_(*where.queues, [this](DeviceQueue &queue) {
              const double pieces = std::ldexp(static_cast<double>(all_.size()), piece_bits_);
              return std::make_unique<SignsOnDevice>(queue, all_.front(), piece_bits_,
                                                     where_.seconds / pieces);
          }) {}

    template <class Done> void run(std::span<const std::uint64_t> todo, const Done &done) {
        devices_.share(
            todo, [](const SignsOnDevice &device) { return device.at_once(); },
            [&](SignsOnDevice &device, std::span<const std::uint64_t> pieces) {
                run_on(device, pieces, done);
            });
    }

    std::int64_t peak_bytes() const { return devices_.peak_bytes(); }

  private:
    // Those of a matrix together.
    template <class Done>
    void run_on(SignsOnDevice &device, std::span<const std::uint64_t> pieces, const Done &done) {
        for (std::size_t k = 0, end = 0; k < pieces.size(); k = end) {
            call().begin_piece();
            const std::uint64_t matrix = pieces[k] >> piece_bits_;
            std::vector<std::uint64_t> own;
            for (; end < pieces.size() && pieces[end] >> piece_bits_ == matrix; ++end)
                own.push_back(pieces[end] - (matrix << piece_bits_));
            const std::vector<HafnianLanes> lanes = device.lanes_of(all_[matrix], own);
            for (std::size_t i = k; i < end; ++i) done(pieces[i], part_of(all_[matrix], lanes[i - k]));
            call().advance(work_ * static_cast<double>(end - k));
        }
    }

    const std::vector<LineNumbers> &all_;
    const SignDevices &where_;
    const double work_; // of a piece
    const int piece_bits_;
    OnEachDevice<SignsOnDevice> devices_;
};

} // namespace

std::vector<HafnianPart> hafnians_by_signs(const std::vector<LineNumbers> &all, const SignDevices &where,
                                           std::int64_t &device_bytes) {
    std::vector<HafnianPart> totals;
    if (all.empty()) return totals;
    const LineNumbers &first = all.front();
    const std::uint64_t pieces = std::uint64_t{1} << piece_bits_of(first.pairs);
    const double work = std::exp2(first.pairs - 3 - piece_bits_of(first.pairs)) *
                        hafnian_operations(first.pairs, first.has_loops);
    const auto one = [&](std::uint64_t k) {
        const HafnianPart part = run_piece(all[k / pieces], k % pieces);
        call().advance(work);
        return part;
    };
    const auto run = [&](std::span<const std::uint64_t> todo, const auto &done) {
        if (!where.queues) return each_on_its_thread(one)(todo, done);
        SignsOnDevices devices(all, where, work);
        devices.run(todo, done);
        device_bytes = devices.peak_bytes();
    };
    const std::vector<HafnianPart> parts = parts_of_pieces(pieces * all.size(), work, HafnianPart{}, run);
    for (std::size_t m = 0; m < all.size(); ++m)
        totals.push_back(with_arithmetic_of(all[m].arithmetic, all[m].prime, [&](const auto &a) {
            return total_of(a, std::span<const HafnianPart>(parts).subspan(m * pieces, pieces));
        }));
    return totals;
}

} // namespace libperm
