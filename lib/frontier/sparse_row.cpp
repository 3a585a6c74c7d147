#include "lib/frontier/sparse_row.hpp"

#include <algorithm>

namespace libperm {
namespace {

// Its place in `all`.
template <class T> std::size_t append(std::vector<unsigned char> &all, const std::vector<T> &table) {
    const std::size_t place = all.size();
    const auto *bytes = reinterpret_cast<const unsigned char *>(table.data());
    all.insert(all.end(), bytes, bytes + table.size() * sizeof(T));
    return place;
}

} // namespace

SparseRow SparseRowTables::copy_in(const FrontierStep &step, const std::vector<double> &coefficients,
                                   std::uint64_t states, double prime) {
    terms_.clear();
    closings_.clear();
    floors_.clear();
    for (const FrontierTerm &t : step.terms) add(t);
    all_.clear();
    const std::size_t terms = append(all_, terms_), closings = append(all_, closings_),
                      floors = append(all_, floors_), entries = append(all_, coefficients);
    memory_.reserve(all_.size());
    queue_->copy_in(memory_.address(), all_.data(), all_.size());
    return {states,
            terms_.size(),
            closings_.size(),
            floors_.size(),
            memory_.address() + terms,
            memory_.address() + closings,
            memory_.address() + floors,
            memory_.address() + entries,
            prime,
            1 / prime};
}

void SparseRowTables::add(const FrontierTerm &t) {
    // Keys have their highest word first (lib/frontier/state_key.hpp).
    const auto word_of = [this](std::int32_t slot) {
        return static_cast<std::uint64_t>(words_ - 1 - slot / 64);
    };
    const auto shift = static_cast<std::uint64_t>(t.slot % 64);
    const std::uint64_t word = word_of(t.slot), bit = std::uint64_t{1} << shift;
    const bool is_entry = t.other_slot >= 0; // used, or not
    const std::uint64_t mask = is_entry ? bit : ((std::uint64_t{1} << t.width) - 1) << shift;
    const std::uint64_t full = is_entry ? bit : static_cast<std::uint64_t>(t.multiplicity) << shift;
    if (!is_entry) {
        terms_.push_back({bit, mask, full, word, shift, 0, word});
    } else {
        const std::uint64_t other = std::uint64_t{1} << t.other_slot % 64, other_word = word_of(t.other_slot);
        if (t.entry < 0)
            terms_.push_back({0, 0, 1, word, shift, 0, word});
        else
            terms_.push_back({bit, bit, bit, word, shift, other, other_word});
        if (t.other_closes) close(other_word, other, other);
    }
    if (t.closes)
        close(word, mask, full);
    else if (t.least > 0)
        floors_.push_back({mask, static_cast<std::uint64_t>(t.least) << shift, word});
}

void SparseRowTables::close(std::uint64_t word, std::uint64_t mask, std::uint64_t full) {
    const auto same = std::find_if(closings_.begin(), closings_.end(),
                                   [&](const SparseClosing &c) { return c.word == word; });
    if (same == closings_.end()) {
        closings_.push_back({mask, full, word});
    } else {
        same->mask |= mask;
        same->full |= full;
    }
}

} // namespace libperm
