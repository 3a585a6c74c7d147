#include "lib/sieve/rows.hpp"

#include "lib/base/randomness.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace libperm {
namespace {

SieveFactor row_factor(const std::vector<SieveEntry> &row, bool is_halved) {
    SieveFactor factor;
    factor.shares = {1};
    if (is_other(row)) return factor;
    for (const SieveEntry &entry : row) {
        const auto more = at(std::abs(entry.value));
        factor.weight += std::abs(entry.value);
        std::vector<double> next(factor.shares.size() + more);
        for (std::size_t count = 0; count < factor.shares.size(); ++count) {
            next[count] += factor.shares[count] / 2;
            next[count + more] += factor.shares[count] / 2;
        }
        factor.shares = std::move(next);
    }
    if (is_halved && factor.weight % 2 == 1) {
        factor.scale = 2;
        factor.offset = factor.weight;
        return factor;
    }
    const auto &shares = factor.shares;
    const std::int32_t often =
        static_cast<std::int32_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
    factor.offset = is_halved ? factor.weight / 2 : often;
    if (const double share = shares[at(factor.offset)]; share > 0) {
        factor.vanishes = factor.offset;
        factor.stays = 1 - share;
    }
    return factor;
}

} // namespace

bool is_other(const std::vector<SieveEntry> &row) {
    std::int32_t weight = 0;
    for (const SieveEntry &entry : row) weight += std::abs(entry.value);
    return weight > most_row_weight;
}

SieveRows transposed(const SieveRows &rows) {
    SieveRows columns(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (const SieveEntry &entry : rows[i])
            columns[at(entry.col)].push_back({static_cast<std::int32_t>(i), entry.value});
    return columns;
}

std::vector<SieveFactor> row_factors(const SieveRows &rows, bool is_halved) {
    std::vector<SieveFactor> factors;
    for (const std::vector<SieveEntry> &row : rows) factors.push_back(row_factor(row, is_halved));
    return factors;
}

namespace {

// Prefixes of an order, quickly: rows by their columns, without lists of lists.
class Predictor {
  public:
    Predictor(const SieveRows &rows, const std::vector<SieveFactor> &factors)
        : place_(rows.size()), stays_(rows.size()) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (factors[i].stays == 1) continue;
            for (const SieveEntry &entry : rows[i]) cols_.push_back(entry.col);
            ends_.push_back(cols_.size());
            share_.push_back(factors[i].stays);
        }
    }

    double prefixes(const std::vector<std::int32_t> &order) {
        for (std::size_t k = 0; k < order.size(); ++k) {
            place_[at(order[k])] = static_cast<std::int32_t>(k);
            stays_[k] = 2;
        }
        std::size_t begin = 0;
        for (std::size_t i = 0; i < ends_.size(); ++i) {
            std::int32_t last = 0;
            for (; begin < ends_[i]; ++begin) last = std::max(last, place_[at(cols_[begin])]);
            stays_[at(last)] *= share_[i];
        }
        double sum = 0, left = 1;
        for (const double share : stays_) sum += left *= share;
        return sum;
    }

    double seconds() const { // of one order
        return 1e-9 * (3 * static_cast<double>(cols_.size()) + 4 * static_cast<double>(place_.size()));
    }

  private:
    std::vector<std::int32_t> cols_, place_;
    std::vector<std::size_t> ends_;
    std::vector<double> share_, stays_;
};

// Column after column, each time the one that brings the most rows nearest to their end.
std::vector<std::int32_t> greedy_order(const SieveRows &rows) {
    const SieveRows columns = transposed(rows);
    constexpr double endless = 1e4;
    std::vector<double> left;
    for (const auto &row : rows) left.push_back(is_other(row) ? endless : static_cast<double>(row.size()));
    std::vector<std::int32_t> order;
    std::vector<char> is_taken(rows.size());
    for (std::size_t k = 0; k < rows.size(); ++k) {
        std::size_t best = rows.size();
        double most = -1;
        for (std::size_t j = 0; j < rows.size(); ++j) {
            if (is_taken[j]) continue;
            double gain = 0;
            for (const SieveEntry &entry : columns[j]) gain += std::exp2(-left[at(entry.col)]);
            if (gain > most) {
                most = gain;
                best = j;
            }
        }
        is_taken[best] = 1;
        order.push_back(static_cast<std::int32_t>(best));
        for (const SieveEntry &entry : columns[best]) --left[at(entry.col)];
    }
    return order;
}

} // namespace

double predicted_prefixes(const SieveRows &rows, const std::vector<SieveFactor> &factors,
                          const std::vector<std::int32_t> &order) {
    return Predictor(rows, factors).prefixes(order);
}

SieveOrder sieve_order(const SieveRows &rows, const std::vector<SieveFactor> &factors, double seconds) {
    constexpr std::uint64_t seed = 58;
    constexpr double warm = 0.7, cold = 0.003; // of the logarithm
    Predictor predictor(rows, factors);
    SieveOrder best{greedy_order(rows), 0};
    best.predicted = predictor.prefixes(best.columns);
    std::vector<std::int32_t> order = best.columns, other;
    double now = std::log(best.predicted);
    const auto n = static_cast<std::uint64_t>(order.size());
    const auto trials = static_cast<std::int64_t>(seconds / predictor.seconds());
    if (n < 2) return best;
    Randomness random(seed, 0);
    PolledSteps steps;
    for (std::int64_t k = 0; k < trials; ++k) {
        steps.take(static_cast<std::int64_t>(n));
        const double heat =
            warm * std::pow(cold / warm, static_cast<double>(k) / static_cast<double>(trials));
        const auto from = static_cast<std::ptrdiff_t>(random.below(n)),
                   to = static_cast<std::ptrdiff_t>(random.below(n));
        other = order;
        if (from < to)
            std::rotate(other.begin() + from, other.begin() + from + 1, other.begin() + to + 1);
        else
            std::rotate(other.begin() + to, other.begin() + from, other.begin() + from + 1);
        const double prefixes = predictor.prefixes(other), then = std::log(prefixes);
        if (then > now && std::exp((now - then) / heat) <= random.uniform()) continue;
        order.swap(other);
        now = then;
        if (prefixes < best.predicted) best = {order, prefixes};
    }
    return best;
}

} // namespace libperm
