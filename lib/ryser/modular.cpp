// Engine ryser modulo primes.
#include "lib/number/montgomery.hpp"
#include "lib/ryser/ryser.hpp"
#include "lib/ryser/walk.hpp"

#include <vector>

namespace libperm {
namespace {

class ModularRing {
  public:
    using RowSum = std::uint64_t;
    using Product = std::uint64_t;
    struct Total {
        std::uint64_t sum = 0;
    };
    static constexpr std::uint64_t run_length = 4096;

    explicit ModularRing(std::uint64_t p) : field_(p), half_(field_.to((p + 1) / 2)) {}

    const Montgomery &field() const { return field_; }

    static RowSum zero() { return 0; }
    Product one() const { return field_.to(1); }
    static Total total() { return {}; }

    void add(RowSum &to, RowSum x) const { to = field_.add(to, x); }
    void subtract(RowSum &to, RowSum x) const { to = field_.subtract(to, x); }
    void halve(RowSum &x) const { x = field_.multiply(x, half_); }
    static bool is_zero(RowSum x) { return x == 0; }
    static void round(Product &to, RowSum x) { to = x; }
    void multiply(Product &to, Product x) const { to = field_.multiply(to, x); }

    // By the ratios of neighbours; 1 / i = -[p / i] / (p mod i), which has been met.
    std::vector<Product> weights(std::int32_t m) const {
        const std::uint64_t p = field_.prime();
        const auto size = static_cast<std::size_t>(m) + 1;
        std::vector<Product> inverse(size, one()), choices(size, one());
        for (std::size_t i = 2; i < size; ++i)
            inverse[i] = field_.subtract(0, field_.multiply(field_.to(p / i), inverse[p % i]));
        for (std::size_t k = 1; k < size; ++k)
            choices[k] = field_.multiply(choices[k - 1], field_.multiply(field_.to(size - k), inverse[k]));
        return choices;
    }

    void add(Total &to, Product term, bool negative) const {
        to.sum = negative ? field_.subtract(to.sum, term) : field_.add(to.sum, term);
    }
    void add(Total &to, Total x) const { to.sum = field_.add(to.sum, x.sum); }

  private:
    Montgomery field_;
    std::uint64_t half_;
};

} // namespace

EngineResult ryser_modular(const RyserPlan &plan, const Residues &residues) {
    // Each sum has the values of its columns, and the row that they stand in.
    const auto entries = static_cast<std::int64_t>(residues.primes.size()) * residues.pattern.nnz();
    const Charge charge(&call().memory(), plan.counted ? 0 : 24 * entries);
    std::vector<RyserSum<ModularRing>> sums;
    for (std::size_t m = 0; m < residues.primes.size(); ++m) {
        poll();
        const ModularRing ring(residues.primes[m]);
        sums.emplace_back(plan, residues.pattern, ring,
                          [&](std::size_t, std::size_t k) { return ring.field().to(residues.values[m][k]); });
    }
    CurrentCall part(1 / static_cast<double>(sums.size())); // a plan's terms are of all of them
    const std::vector<ModularRing::Total> totals = totals_of(sums);
    ResidueVector permanents;
    for (std::size_t m = 0; m < sums.size(); ++m) {
        const Montgomery &field = sums[m].ring().field();
        const std::uint64_t twice = field.add(totals[m].sum, totals[m].sum); // 4 (n mod 2) - 2 is 2 or -2
        permanents.push_back(field.from(residues.pattern.rows % 2 ? twice : field.subtract(0, twice)));
    }
    EngineResult result{std::move(permanents), {}};
    result.counts.subsets = plan.terms;
    return result;
}

} // namespace libperm
