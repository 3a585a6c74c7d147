#include "tests/support/polynomials.hpp"

namespace oracle {

std::vector<Gaussian> interpolated(std::int64_t degree, const std::function<Gaussian(long x)> &value) {
    const auto n = static_cast<std::size_t>(degree + 1);
    std::vector<Gaussian> differences(n), out(n);
    const auto minus = [](const Gaussian &x) { return Gaussian{-x.re, -x.im}; };
    for (std::size_t k = 0; k < n; ++k) differences[k] = value(static_cast<long>(k));
    for (std::size_t order = 1; order < n; ++order)
        for (std::size_t k = n - 1; k >= order; --k)
            differences[k] = (differences[k] + minus(differences[k - 1])) / Gaussian{mpq_class(order), 0};
    for (std::size_t k = n; k-- > 0;) { // Horner's rule: times (x - k), plus the next
        const Gaussian at{mpq_class(k), 0};
        for (std::size_t power = n - 1; power > 0; --power)
            out[power] = out[power - 1] + minus(at * out[power]);
        out[0] = differences[k] + minus(at * out[0]);
    }
    return out;
}

MatchingMatrix moved(const MatchingMatrix &a, const MatchingMatrix &b, long x) {
    MatchingMatrix out = a;
    const Gaussian times{mpq_class(x), 0};
    const auto move = [&](std::vector<Gaussian> &to, const std::vector<Gaussian> &by) {
        for (std::size_t k = 0; k < to.size(); ++k) to[k] = to[k] + times * by[k];
    };
    for (std::size_t i = 0; i < out.entries.size(); ++i) move(out.entries[i], b.entries[i]);
    if (out.row_weights) move(*out.row_weights, *b.row_weights);
    if (out.col_weights) move(*out.col_weights, *b.col_weights);
    return out;
}

} // namespace oracle

oracle::Gaussian number_at(const MatchingMatrix &a, const MatchingInput::Place &place) {
    const auto row = static_cast<std::size_t>(place.row), col = static_cast<std::size_t>(place.col);
    if (place.row < 0) return (*a.col_weights)[col];
    return place.col < 0 ? (*a.row_weights)[row] : a.entries[row][col];
}

std::vector<oracle::Gaussian> numbers_beside(const MatchingInput &input, const MatchingMatrix &a,
                                             bool weights) {
    std::vector<oracle::Gaussian> numbers;
    for (const MatchingInput::Place &place : input.places())
        if (weights || (place.row >= 0 && place.col >= 0)) numbers.push_back(number_at(a, place));
    return numbers;
}
