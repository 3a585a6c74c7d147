#include "lib/planar/signed_sum.hpp"

namespace libperm {

std::int64_t SignedSum::bytes() const {
    auto bytes = static_cast<std::int64_t>(is_negative.size());
    for (const Choice &choice : choices)
        bytes += static_cast<std::int64_t>(sizeof choice + 4 * choice.flips.capacity());
    for (const Term &term : terms)
        bytes += static_cast<std::int64_t>(sizeof term + 4 * term.choices.capacity());
    return bytes;
}

std::vector<std::int32_t> SignedSum::crossings() const {
    std::vector<std::int32_t> crossings;
    for (const Choice &choice : choices)
        if (choice.crossing != -1) crossings.push_back(choice.crossing);
    return crossings;
}

std::vector<signed char> SignedSum::factors(const PatternGraph &graph, const Term &term) const {
    std::vector<signed char> factors(is_negative.size());
    for (std::size_t k = 0; k < factors.size(); ++k) factors[k] = is_negative[k] ? -1 : 1;
    for (const Choice &choice : choices)
        if (choice.crossing != -1) factors[at(choice.crossing)] = 0;
    for (const std::int32_t c : term.choices) {
        for (const std::int32_t entry : choices[at(c)].flips)
            factors[at(entry)] = static_cast<signed char>(-factors[at(entry)]);
        if (const std::int32_t crossing = choices[at(c)].crossing; crossing != -1)
            for (const std::int32_t line : {graph.row_of(crossing), graph.column_of(crossing)})
                for (const Dart d : graph.around(line)) factors[at(entry_of(d))] = 0;
    }
    for (const std::int32_t c : term.choices)
        if (choices[at(c)].crossing != -1) factors[at(choices[at(c)].crossing)] = 1;
    return factors;
}

} // namespace libperm
