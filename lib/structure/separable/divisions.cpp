#include "lib/structure/separable/divisions.hpp"

namespace libperm {

std::size_t divisions_of(std::size_t total, std::size_t kinds) {
    if (kinds == 0) return total == 0 ? 1 : 0;
    if (kinds == 1) return 1;
    return kinds == 2 ? total + 1 : (total + 1) * (total + 2) / 2;
}

Divisions::Divisions(std::size_t kinds, std::size_t most) {
    // The first division of so many others.
    const auto base = [kinds](std::uint32_t others) {
        return kinds == 2 ? others : others * (others + 1) / 2;
    };
    const std::uint32_t most_others = kinds <= 1 ? 0 : static_cast<std::uint32_t>(most);
    for (std::uint32_t others = 0; others <= most_others; ++others)
        for (std::uint32_t third = 0; third <= (kinds == 3 ? others : 0); ++third) {
            const std::uint32_t second = others - third, own = base(others) + third;
            others_.push_back(others);
            counts_[1].push_back(second);
            counts_[2].push_back(third);
            more_[0].push_back(own);
            more_[1].push_back(base(others + 1) + third);
            more_[2].push_back(base(others + 1) + third + 1);
            less_[0].push_back(own);
            less_[1].push_back(second == 0 ? none : base(others - 1) + third);
            less_[2].push_back(third == 0 ? none : base(others - 1) + third - 1);
        }
}

} // namespace libperm
