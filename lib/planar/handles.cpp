#include "lib/planar/handles.hpp"

#include "lib/planar/cycle_search.hpp"

#include <algorithm>
#include <utility>

namespace libperm {
namespace {

// Taken out of its lines, which leaves it alone on a sphere.
void take_out(Rotation &rotation, std::int32_t entry) {
    for (const Dart d : {2 * entry, 2 * entry + 1}) {
        Dart before = d;
        while (rotation[at(before)] != d) before = rotation[at(before)];
        rotation[at(before)] = rotation[at(d)];
        rotation[at(d)] = d;
    }
}

class Handles {
  public:
    Handles(const PatternGraph &graph, Rotation rotation)
        : rotation_(std::move(rotation)), genus_(genus_of(rotation_, faces_of(rotation_))) {
        CycleSearch search(graph);
        for (std::int32_t e = 0; e < graph.entries(); ++e) {
            const std::int32_t length = search.through(e).length;
            way_round_.push_back(length > 0 ? length : CycleSearch::longest + 1);
            longest_first_.push_back(e);
        }
        std::stable_sort(longest_first_.begin(), longest_first_.end(), [&](std::int32_t x, std::int32_t y) {
            return way_round_[at(x)] > way_round_[at(y)];
        });
    }

    std::int32_t genus() const { return genus_; }

    // With it a handle goes, or at least what is unlike most entries. -1: neither is there.
    std::int32_t take_one() {
        constexpr int most_tries = 32;
        const Faces faces = faces_of(rotation_);
        int tries = 0;
        for (const std::int32_t e : longest_first_) {
            const std::int32_t face = faces.of_dart[at(2 * e)];
            if (face != faces.of_dart[at(2 * e + 1)] || is_out(e)) continue;
            if (taken(e)) return e;
            if (++tries == most_tries) break; // bridges
        }
        const std::int32_t usual = way_round_[at(longest_first_[longest_first_.size() / 2])];
        for (const std::int32_t e : longest_first_) {
            if (is_out(e)) continue;
            if (way_round_[at(e)] <= usual) break;
            take_out(rotation_, e);
            return e;
        }
        return -1;
    }

  private:
    bool is_out(std::int32_t entry) const {
        return rotation_[at(2 * entry)] == 2 * entry && rotation_[at(2 * entry + 1)] == 2 * entry + 1;
    }
    bool taken(std::int32_t entry) { // if a handle goes
        Rotation without = rotation_;
        take_out(without, entry);
        if (genus_of(without, faces_of(without)) == genus_) return false;
        rotation_ = std::move(without);
        --genus_;
        return true;
    }

    Rotation rotation_;
    std::int32_t genus_;
    std::vector<std::int32_t> way_round_, longest_first_; // by entry; entries
};

} // namespace

std::vector<std::int32_t> entries_on_handles(const PatternGraph &graph, Rotation rotation, std::size_t most,
                                             const Poll &poll) {
    Handles handles(graph, std::move(rotation));
    std::vector<std::int32_t> entries;
    while (handles.genus() > 0) {
        poll();
        const std::int32_t entry = handles.take_one();
        if (entry == -1 || entries.size() == most) return {};
        entries.push_back(entry);
    }
    std::sort(entries.begin(), entries.end());
    return entries;
}

} // namespace libperm
