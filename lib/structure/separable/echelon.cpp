#include "lib/structure/separable/echelon.hpp"

#include <algorithm>

namespace libperm {

void Echelon::leave_out_before(std::size_t place) {
    std::erase_if(lines_, [place](const Line &line) { return line.last < place; });
}

std::optional<std::size_t> Echelon::add(const std::vector<std::uint64_t> &line, std::size_t last,
                                        std::size_t kinds) {
    std::size_t kind = 0;
    const auto is_taken = [&] {
        return std::any_of(lines_.begin(), lines_.end(), [kind](const Line &l) { return l.kind == kind; });
    };
    while (is_taken()) ++kind;
    if (kind >= kinds) return {};
    const auto behind =
        std::find_if(lines_.begin(), lines_.end(), [last](const Line &other) { return other.last < last; });
    const std::uint64_t inverse = field_.power(field_.to(line[last]), field_.prime() - 2);
    lines_.insert(behind, {kind, last, inverse, line});
    return kind;
}

} // namespace libperm
