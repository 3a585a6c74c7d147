#include "lib/samples/planar/planar_shots.hpp"

#include "jit/compile/digest.hpp"
#include "lib/base/error.hpp"
#include "lib/input/options.hpp"
#include "lib/planar/drawing.hpp"
#include "lib/planar/planar.hpp"
#include "lib/run/engine_input.hpp"
#include "preprocess/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

namespace libperm {
namespace {

constexpr int most_bits = 4096;

int more_than(int bits) {
    constexpr int after_these = 256;
    if (bits == in_doubles) return in_two_doubles;
    return bits == in_two_doubles ? after_these : 2 * bits;
}

// Measured (docs/structure.md): of a number's product, and of a line besides.
constexpr double line_seconds = 1.5e-7;
double product_seconds(int bits) {
    if (bits == in_doubles) return 1.2e-9;
    return bits == in_two_doubles ? 5e-9 : 3.5e-8 + 1.5e-13 * bits * bits;
}

double lines_seconds(const NarrowOrder &order, double products, int bits) {
    return line_seconds * static_cast<double>(order.lines.size()) + product_seconds(bits) * products;
}

// With the lines paired by a matching of the largest product, whose entries are the first pivots to be tried.
// Scaling has left those above 1/2, and all others below 1. The sign is not the permanent's any more.
std::shared_ptr<const PlanarPlan> paired_by_size(const Block &scaled,
                                                 const std::shared_ptr<const PlanarPlan> &plan) {
    std::vector<char> is_large;
    for (const Tracked &x : scaled.values) is_large.push_back(x.exp2 >= 0);
    const Pattern large = with_entries(scaled.pattern, is_large);
    if (large.nnz() == scaled.pattern.nnz()) return plan;
    const Matching matching = maximum_matching(large);
    if (matching.size < large.rows) return plan; // nothing was scaled
    const auto paired = std::make_shared<PlanarPlan>(*plan);
    paired->fronts = Fronts(scaled.pattern, matching);
    return paired;
}

LongProduct permanent_of(const Block &scaled, const std::shared_ptr<const PlanarPlan> &plan,
                         const Options &options) {
    Candidate choice;
    choice.plan = paired_by_size(scaled, plan);
    const CurrentCall of_none(0, PieceScope{}); // whose pieces are nobody's, nor counted
    GpuQueues none(options);
    const EngineResult result = run_planar({choice, options, call().memory(), none}, EngineInput(scaled));
    const auto &[value, error] = std::get<Ball>(result.value);
    const auto by = std::clamp<std::int64_t>(error.exp2 - value.exp2, -2000, 2000);
    constexpr double share = PlanarShots::tolerance / 16;
    if (!(std::ldexp(error.mantissa, static_cast<int>(by)) <= share * std::fabs(value.mantissa)))
        throw Error(PERM_UNSUPPORTED,
                    "the permanent of a planar block is not known well enough to prove samples by");
    LongProduct out;
    out.multiply({std::fabs(value.mantissa), 0}, value.exp2);
    return out;
}

// A shot itself, and its place among those that are drawn together.
std::int64_t bytes_of_shot(std::int32_t n) {
    return std::int64_t{n} * (sizeof(char) + 2 * sizeof(std::int64_t)) +
           static_cast<std::int64_t>(sizeof(PlanarShot));
}

} // namespace

double PlanarOutline::start_seconds() const {
    constexpr double product_of_balls = 2.5e-7, of_line = 1e-5;
    return product_of_balls * plan->fronts.products() + of_line * static_cast<double>(order.lines.size()) +
           batch_seconds();
}

double PlanarOutline::shot_seconds(int bits) const { return lines_seconds(order, order.products_shot, bits); }
double PlanarOutline::batch_seconds(int bits) const {
    return lines_seconds(order, order.products_back, bits);
}

double PlanarOutline::seconds(std::int64_t shots) const {
    return start_seconds() + static_cast<double>(shots) * shot_seconds();
}

std::optional<PlanarOutline> planar_outline(const SampledPart &part) {
    if (part.free_rows > 0 || part.free_columns > 0) return {};
    std::optional<PlanarPlan> plan = plan_planar(part.pattern);
    if (!plan) return {};
    plan->by_residues = false;
    return PlanarOutline{std::make_shared<const PlanarPlan>(std::move(*plan)), narrow_order(part.pattern)};
}

PlanarShots::PlanarShots(PlanarOutline outline, const SampledPart &part, std::uint64_t seed,
                         const Options &options, std::optional<int> bits)
    : outline_(std::move(outline)), seed_(seed), bits_(bits.value_or(in_doubles)) {
    prepare(part, options);
    if (bits)
        level_ = planar_level({outline_.order, entries_}, bits_);
    else
        begin_with_enough();
}

void PlanarShots::prepare(const SampledPart &part, const Options &options) {
    Block block{part.pattern, part.entries};
    for (Tracked &x : block.values) x = {x.value, std::fabs(x.value), x.exp2, 0}; // this is what is sampled
    scale(block);
    permanent_ = permanent_of(block, outline_.plan, options);
    entries_ = std::move(block.values);
    for (std::size_t k = 0; k < entries_.size(); ++k)
        if (outline_.plan->sum.is_negative[k]) entries_[k].value = -entries_[k].value;
}

// Where of some other shots more than one in eight is wrong, more digits are better for all.
void PlanarShots::begin_with_enough() {
    Numbers some(8);
    std::iota(some.begin(), some.end(), 0);
    for (;; bits_ = more_than(bits_)) {
        if (bits_ > most_bits)
            throw Error(PERM_UNSUPPORTED, "samples of a planar block take more digits than there are");
        const Charge charge(&call().memory(), planar_level_bytes(outline_.order, bits_));
        level_ = planar_level({outline_.order, entries_}, bits_);
        const std::vector<PlanarShot> shots = drawn(*level_, some, ~seed_);
        if (std::count_if(shots.begin(), shots.end(), [this](const auto &shot) { return !is_right(shot); }) <=
            1)
            return;
    }
}

std::vector<PlanarShot> PlanarShots::drawn(const PlanarLevel &level, const Numbers &numbers,
                                           std::uint64_t seed) const {
    const auto n = static_cast<std::int32_t>(outline_.order.lines.size());
    std::vector<PlanarShot> shots;
    shots.reserve(numbers.size());
    for (const std::uint64_t number : numbers) shots.emplace_back(Randomness(seed, number), n);
    level.draw(shots);
    return shots;
}

bool PlanarShots::is_right(const PlanarShot &shot) const {
    if (shot.is_lost) return false;
    LongProduct found = permanent_, expected = shot.of;
    found.multiply(shot.drawn);
    for (const std::int64_t entry : shot.entries) {
        const Tracked &x = entries_[at(entry)];
        expected.multiply({std::fabs(x.value), 0}, x.exp2);
    }
    return distance(found, expected) <= tolerance;
}

void PlanarShots::draw(std::uint64_t first, std::uint32_t count, std::vector<std::uint32_t> &taken) const {
    const auto n = static_cast<std::int32_t>(outline_.order.lines.size());
    const Charge charge(&call().memory(), bytes_of_shot(n) * count);
    taken.resize(at(n) * count);
    Numbers todo(count);
    std::iota(todo.begin(), todo.end(), first);
    std::unique_ptr<const PlanarLevel> wider;
    Charge of_wider(&call().memory());
    const PlanarLevel *level = level_.get();
    for (int bits = bits_;;) {
        const std::vector<PlanarShot> shots = drawn(*level, todo, seed_);
        Numbers wrong;
        for (std::size_t s = 0; s < shots.size(); ++s) {
            if (!is_right(shots[s])) {
                wrong.push_back(todo[s]);
                continue;
            }
            auto to = taken.begin() + static_cast<std::ptrdiff_t>(todo[s] - first);
            for (std::size_t k = 0; k < at(n); ++k)
                to[static_cast<std::ptrdiff_t>(k * count)] = static_cast<std::uint32_t>(shots[s].entries[k]);
        }
        todo = std::move(wrong);
        if (todo.empty()) return;
        bits = more_than(bits);
        if (bits > most_bits)
            throw Error(PERM_UNSUPPORTED,
                        "a sample of a planar block takes more digits than there are to be proven");
        wider.reset();
        of_wider.resize(planar_level_bytes(outline_.order, bits));
        wider = planar_level({outline_.order, entries_}, bits);
        level = wider.get();
    }
}

double PlanarShots::shot_seconds() const {
    return outline_.shot_seconds(bits_) + outline_.batch_seconds(bits_) / at_once();
}

// Of half a second, or so many that what they have in common is a small part.
std::uint32_t PlanarShots::at_once() const {
    constexpr double seconds = 0.5, batches = 4;
    return static_cast<std::uint32_t>(
        std::clamp(std::max(seconds, batches * outline_.batch_seconds(bits_)) / outline_.shot_seconds(bits_),
                   1.0, double{most_at_once}));
}

std::int64_t PlanarShots::bytes_for(const PlanarOutline &outline, int bits) {
    constexpr std::int64_t of_entry = 64; // in its line, and in lists of lines
    return outline.plan->bytes() + planar_level_bytes(outline.order, bits) +
           static_cast<std::int64_t>(outline.plan->sum.is_negative.size()) *
               (of_entry + std::int64_t{sizeof(Tracked)});
}

std::string PlanarShots::digest() const {
    std::vector<std::int64_t> out{bits_};
    for (const OrderedLine &line : outline_.order.lines)
        for (const OrderedLine::Entry &e : line.entries) out.push_back(e.entry);
    return digest_of_bytes(
        std::string_view(reinterpret_cast<const char *>(out.data()), out.size() * sizeof out[0]));
}

} // namespace libperm
