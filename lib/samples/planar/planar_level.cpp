#include "lib/samples/planar/planar_level.hpp"

#include "lib/number/with_fma.hpp"
#include "lib/samples/planar/chooser.hpp"
#include "lib/samples/planar/rest.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

// What lies behind is made from the last line on, and wanted from the first on: it is kept at the ends of
// segments, and made again inside of one.
std::int32_t segment_length(const NarrowOrder &order) {
    return static_cast<std::int32_t>(std::ceil(std::sqrt(static_cast<double>(order.lines.size()))));
}

template <class Field> class LevelOf final : public PlanarLevel {
    using Number = typename Field::Number;
    using Rests = std::vector<Rest<Field>>;

  public:
    LevelOf(const PlanarLines &lines, const Field &field, int bits, RunControl &control)
        : lines_(lines), field_(field), bits_(bits), length_(segment_length(lines.order)) {
        const std::int32_t n = lines_.n();
        Rest<Field> rest(field_);
        for (std::int32_t k = n; k-- > 0 && is_known_;) { // behind line k
            if (k % length_ == length_ - 1 || k == n - 1) ends_.push_back(rest);
            is_known_ = rest.prepend(lines_.order.lines[at(k)], entries_of(k));
            if (k % 16 == 0) control.poll();
        }
        std::reverse(ends_.begin(), ends_.end());
    }

    void draw(std::span<PlanarShot> shots, RunControl &control) const override {
        const Charge charge(&control.memory(), planar_level_bytes(lines_.order, bits_));
        for (PlanarShot &shot : shots) shot.is_lost = !is_known_;
        if (!is_known_) return;
        Chooser<Field> chooser(field_, lines_.n());
        for (std::size_t s = 0; s < ends_.size(); ++s) {
            const Rests rests = segment(s, control);
            for (std::size_t k = 0; k < rests.size(); ++k) {
                const std::int32_t line =
                    static_cast<std::int32_t>(s) * length_ + static_cast<std::int32_t>(k);
                const std::vector<Number> entries = entries_of(line);
                with_fma([&] {
                    for (PlanarShot &shot : shots)
                        if (!shot.is_lost)
                            chooser.choose(lines_.order.lines[at(line)], entries, rests[k], shot);
                });
                control.poll();
            }
        }
    }

  private:
    std::vector<Number> entries_of(std::int32_t line) const {
        std::vector<Number> out;
        for (const OrderedLine::Entry &e : lines_.order.lines[at(line)].entries) {
            const Tracked &x = lines_.entries[at(e.entry)];
            out.push_back(field_.number(x.value, x.exp2));
        }
        return out;
    }

    // What lies behind each of its lines.
    Rests segment(std::size_t s, RunControl &control) const {
        const std::int32_t first = static_cast<std::int32_t>(s) * length_,
                           last = std::min(first + length_, lines_.n()) - 1;
        Rests rests(at(last - first + 1), Rest<Field>(field_));
        rests.back() = ends_[s];
        for (std::int32_t k = last; k > first; --k) {
            Rest<Field> &before = rests[at(k - 1 - first)];
            before = rests[at(k - first)];
            before.prepend(lines_.order.lines[at(k)], entries_of(k));
            control.poll();
        }
        return rests;
    }

    const PlanarLines lines_;
    const Field field_;
    const int bits_;
    const std::int32_t length_;
    bool is_known_ = true;
    Rests ends_; // behind the last line of each segment
};

} // namespace

std::unique_ptr<const PlanarLevel> planar_level(const PlanarLines &lines, int bits, RunControl &control) {
    if (bits == in_doubles)
        return std::make_unique<LevelOf<DoubleField>>(lines, DoubleField(), bits, control);
    if (bits == in_two_doubles)
        return std::make_unique<LevelOf<TwoDoublesField>>(lines, TwoDoublesField(), bits, control);
    return std::make_unique<LevelOf<MpfrField>>(lines, MpfrField(bits), bits, control);
}

std::int64_t planar_level_bytes(const NarrowOrder &order, int bits) {
    constexpr double of_line = 160;     // lists
    double of_number = 48 + bits / 8.0; // MPFR's
    if (bits == in_doubles) of_number = sizeof(double);
    if (bits == in_two_doubles) of_number = sizeof(TwoDoubles::Number);
    const double rests = segment_length(order); // of a segment, and at the ends of all
    return static_cast<std::int64_t>(rests * (2 * of_number * order.most_numbers() + of_line));
}

} // namespace libperm
