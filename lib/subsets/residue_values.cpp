#include "lib/subsets/residue_values.hpp"

#include "lib/subsets/kernel_values.hpp"

namespace libperm {

std::vector<double> residue_values(const SubsetPlan &plan, const Residues &residues, std::size_t which) {
    const auto prime = static_cast<double>(residues.primes[which]);
    const number::Modular<double> f{prime, 1 / prime};
    std::vector<double> entries;
    for (const std::uint64_t x : residues.values[which]) entries.push_back(f.reduce(static_cast<double>(x)));
    const double half = f.reduce((prime + 1) / 2);
    std::vector<double> values =
        kernel_values(f, plan, residues.pattern, entries,
                      [&](double a, double sign) { return f.multiply(sign * half, a); });
    values.insert(values.end(), {f.p, f.inverse});
    return values;
}

std::uint64_t residue_permanent(const SubsetPlan &plan, double sum, std::uint64_t prime) {
    const auto p = static_cast<std::int64_t>(prime);
    const std::int64_t value = (plan.kernel.n % 2 ? 2 : -2) * static_cast<std::int64_t>(sum) % p;
    return static_cast<std::uint64_t>(value < 0 ? value + p : value);
}

} // namespace libperm
