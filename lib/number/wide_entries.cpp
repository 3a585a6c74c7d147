#include "lib/number/wide_entries.hpp"

#include "preprocess/scaling.hpp"

namespace libperm {
namespace {

bool has_part(Arithmetic arithmetic, std::size_t part) {
    return (part < 2 || is_complex(arithmetic)) && (part % 2 == 0 || is_dd(arithmetic));
}

} // namespace

PackedParts packed(const Parts &parts, Arithmetic arithmetic) {
    PackedParts out{};
    std::size_t count = 0;
    for (std::size_t k = 0; k < parts.size(); ++k)
        if (has_part(arithmetic, k)) out[count++] = parts[k];
    return out;
}

Parts unpacked(const PackedParts &parts, Arithmetic arithmetic) {
    Parts out{};
    std::size_t count = 0;
    for (std::size_t k = 0; k < out.size(); ++k)
        if (has_part(arithmetic, k)) out[k] = parts[count++];
    return out;
}

WideEntries in_complex_dd(WideEntries entries) {
    for (PackedParts &parts : entries.parts)
        parts = packed(unpacked(parts, entries.arithmetic), Arithmetic::complex_dd);
    entries.arithmetic = Arithmetic::complex_dd;
    return entries;
}

WideEntries wide_entries(const ExactBlock &block, Arithmetic arithmetic, bool scaled) {
    PolledSteps steps;
    WideEntries entries{arithmetic, !is_complex(arithmetic), magnitudes_of(block), {}, 0};
    entries.parts.reserve(block.values.size());
    for (std::size_t k = 0; k < block.values.size(); ++k) {
        steps.take(64);
        const Gaussian &x = block.values[k];
        entries.parts.push_back(
            packed(parts_of(x, entries.magnitudes.values[k].exp2, arithmetic), arithmetic));
        entries.nonnegative = entries.nonnegative && x.re >= 0;
    }
    if (scaled) entries.exp2 = scale(entries.magnitudes);
    return entries;
}

} // namespace libperm
