#include "lib/samples/walk_sampler.hpp"

#include <algorithm>

namespace libperm {
namespace {

// Walks so many chunks more; what comes through goes behind what was found.
void walk_on(const Walks &walks, std::uint64_t chunks, std::int64_t most, SampleDevices *devices,
             RunControl &control, WalkRate &rate, std::vector<std::int32_t> &found) {
    std::vector<std::vector<std::int32_t>> columns(chunks);
    std::vector<double> sums(chunks);
    walks.draw(static_cast<std::uint64_t>(rate.chunks), static_cast<std::uint64_t>(most), devices, columns,
               sums, control);
    std::size_t size = found.size();
    for (const auto &one : columns) size += one.size();
    found.reserve(size); // from here on nothing throws
    for (std::uint64_t k = 0; k < chunks; ++k) {
        rate.values += sums[k];
        found.insert(found.end(), columns[k].begin(), columns[k].end());
    }
    rate.chunks += static_cast<double>(chunks);
}

} // namespace

WalkPlan::WalkPlan(const Pattern &a, const std::vector<Tracked> &entries, std::int64_t shots,
                   std::uint64_t seed, const Options &within, RunControl &control)
    : walks_(a, entries, seed, [&control] { control.poll(); }), shots_(shots) {
    constexpr std::uint64_t pilot = 8; // chunks
    const auto most = std::min<std::int64_t>(shots, pilot * Walks::chunk);
    const Charge charge(&control.memory(), 2 * std::int64_t{sizeof(std::int32_t)} * a.rows * most);
    RunControl uncounted(control, 0);
    walk_on(walks_, pilot, shots, nullptr, uncounted, rate_, found_);
    const std::int64_t left = shots - static_cast<std::int64_t>(found_.size()) / a.rows;
    if (left <= 0) return;
    seconds_ = walks_.drawn_where(rate_.chunks_for(left), within).seconds;
    rate_.refuse_if_longer(left, seconds_, within);
}

WalkSampler::WalkSampler(const WalkPlan &plan, const Options &options, RunControl &control)
    : plan_(plan),
      rows_(plan.walks().rows()),
      options_(options),
      control_(control),
      rate_(plan.rate()),
      charge_(&control.memory(), plan.bytes()),
      found_(plan.found()) {}

void WalkSampler::reach(std::int64_t first, std::int64_t count) {
    constexpr double most_at_once = 4096; // chunks
    found_.erase(found_.begin(), found_.begin() + (std::min(first - first_, there()) * rows_));
    first_ = first;
    while (there() < count) {
        predict();
        charge_.resize(bytes_of(std::max(count, there())));
        walk(static_cast<std::uint64_t>(std::min(rate_.chunks_for(count - there()), most_at_once)));
    }
}

// Shots are held as they are found, and all together.
std::int64_t WalkSampler::bytes_of(std::int64_t shots) const {
    return 2 * std::int64_t{sizeof(std::int32_t)} * rows_ * shots;
}

void WalkSampler::predict() {
    const double wanted = rate_.chunks_for(left());
    if (!drawn_.devices) {
        drawn_ = plan_.walks().drawn_where(wanted, options_);
        of_chunk_ = drawn_.seconds / wanted;
    }
    rate_.refuse_if_longer(left(), of_chunk_ * wanted, options_);
}

void WalkSampler::walk(std::uint64_t chunks) {
    RunControl seconds(control_, of_chunk_);
    walk_on(plan_.walks(), chunks, left(), drawn_.devices.get(), seconds, rate_, found_);
}

} // namespace libperm
