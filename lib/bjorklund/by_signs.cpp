#include "lib/base/aligned_doubles.hpp"
#include "lib/bjorklund/number_parts.hpp"
#include "lib/bjorklund/sums.hpp"
#include "lib/run/pieces.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

// A piece takes a millisecond or so; what its first levels take is little of that. They are properties of the
// lines alone, so the result does not know of threads.
constexpr int piece_sign_bits = 8, most_piece_bits = 16;

int bits_of_pieces(const LineNumbers &lines) {
    return std::clamp(hafnian_sign_bits(lines.pairs) - piece_sign_bits, 0, most_piece_bits);
}

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
        number_from(&lanes.parts[0][k], HafnianLanes::lanes, x[k]);
        part.error += lanes.error[k];
    }
    number_to(signed_sum(a, std::move(x)), part.parts.data());
    return part;
}

template <class A> HafnianPart total_of(const A &a, std::span<const HafnianPart> pieces) {
    HafnianPart total;
    std::vector<typename A::Number> x(pieces.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
        number_from(pieces[k].parts.data(), 1, x[k]);
        total.error += pieces[k].error;
    }
    number_to(signed_sum(a, std::move(x)), total.parts.data());
    total.error *= 1 + 0x1p-29; // for the bounds' own roundings
    return total;
}

HafnianPart run_piece(const LineNumbers &lines, std::uint64_t piece, RunControl &control) {
    const HafnianLines view = lines.view();
    const std::size_t doubles = hafnian_room(view);
    const Charge charge(&control.memory(), static_cast<std::int64_t>(8 * doubles));
    const AlignedDoubles room = aligned_doubles(doubles);
    HafnianLanes lanes{};
    sum_over_pair_signs(view, bits_of_pieces(lines), piece, room.get(), lanes);
    return with_arithmetic_of(lines.arithmetic, lines.prime,
                              [&](const auto &a) { return part_of(a, lanes); });
}

} // namespace

std::vector<HafnianPart> hafnians_by_signs(const std::vector<LineNumbers> &all, RunControl &control) {
    std::vector<HafnianPart> totals;
    if (all.empty()) return totals;
    const LineNumbers &first = all.front();
    const std::uint64_t pieces = std::uint64_t{1} << bits_of_pieces(first);
    const double work =
        std::exp2(first.pairs - 3 - bits_of_pieces(first)) * hafnian_operations(first.pairs, first.has_loops);
    const auto run = [&](std::uint64_t k) {
        const HafnianPart part = run_piece(all[k / pieces], k % pieces, control);
        control.advance(work);
        return part;
    };
    const std::vector<HafnianPart> parts =
        parts_of_pieces(control, pieces * all.size(), work, HafnianPart{}, each_on_its_thread(control, run));
    for (std::size_t m = 0; m < all.size(); ++m)
        totals.push_back(with_arithmetic_of(all[m].arithmetic, all[m].prime, [&](const auto &a) {
            return total_of(a, std::span<const HafnianPart>(parts).subspan(m * pieces, pieces));
        }));
    return totals;
}

} // namespace libperm
