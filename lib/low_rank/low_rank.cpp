#include "lib/low_rank/low_rank.hpp"

#include "lib/low_rank/permanent_of_forms.hpp"
#include "lib/low_rank/plan.hpp"
#include "lib/run/input_error.hpp"
#include "lib/run/matrix_pieces.hpp"
#include "lib/run/unfit_prime.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

class FactorsModulo {
  public:
    FactorsModulo(const LowRankPlan &plan, const Monomials &monomials, const Residues &residues,
                  std::uint64_t matrix)
        : plan_(plan),
          monomials_(monomials),
          a_(residues.pattern),
          values_(residues.values[matrix]),
          field_(residues.primes[matrix]) {}

    std::uint64_t permanent(RunControl &control) const {
        return permanent_of_forms(monomials_, field_, columns(), rows_solved(), plan_.products, control);
    }

  private:
    using Forms = std::vector<std::uint64_t>; // r coefficients each

    std::size_t rank() const { return plan_.lines.rows.size(); }
    std::uint64_t entry(std::int32_t i, std::int32_t j) const {
        return field_.to(plan_.read.value(values_, entry_at(a_, i, j)));
    }

    // C, by row.
    Forms columns() const {
        Forms forms;
        for (std::int32_t i = 0; i < plan_.n; ++i)
            for (const std::int32_t j : plan_.lines.cols) forms.push_back(entry(i, j));
        return forms;
    }

    // G^-1 R, by column: by Gauss and Jordan on R, whose columns of G become those of 1.
    Forms rows_solved() const {
        const std::size_t r = rank(), n = at(plan_.n);
        Forms rows; // by row
        for (const std::int32_t i : plan_.lines.rows)
            for (std::int32_t j = 0; j < plan_.n; ++j) rows.push_back(entry(i, j));
        for (std::size_t t = 0; t < r; ++t) {
            const std::size_t col = at(plan_.lines.cols[t]);
            std::size_t pivot = t;
            while (pivot < r && rows[pivot * n + col] == 0) ++pivot;
            if (pivot == r) throw UnfitPrime(Engine::low_rank, "a minor of the matrix");
            std::swap_ranges(&rows[t * n], &rows[t * n] + n, &rows[pivot * n]);
            const std::uint64_t inverse = field_.power(rows[t * n + col], field_.prime() - 2);
            for (std::size_t j = 0; j < n; ++j) rows[t * n + j] = field_.multiply(rows[t * n + j], inverse);
            for (std::size_t other = 0; other < r; ++other) {
                const std::uint64_t by = rows[other * n + col];
                if (other == t || by == 0) continue;
                for (std::size_t j = 0; j < n; ++j)
                    rows[other * n + j] =
                        field_.subtract(rows[other * n + j], field_.multiply(by, rows[t * n + j]));
            }
        }
        Forms forms;
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t t = 0; t < r; ++t) forms.push_back(rows[t * n + j]);
        return forms;
    }

    const LowRankPlan &plan_;
    const Monomials &monomials_;
    const Pattern &a_;
    const std::vector<std::uint64_t> &values_;
    Montgomery field_;
};

// How far from u_i v_j an entry is, by its share, at most: a_i0 a_0j / a_00 is that product.
double greatest_distance(const Block &block, RunControl &control) {
    constexpr double of_products = 0x1p-51; // four roundings
    const std::size_t n = at(block.n());
    const std::vector<Tracked> &a = block.values;
    double most = 0;
    for (std::size_t i = 0; i < n; ++i) {
        control.advance(static_cast<double>(n));
        for (std::size_t j = 0; j < n; ++j) {
            const Tracked &x = a[i * n + j], &u = a[i * n], &v = a[j];
            const std::int64_t exponent =
                std::clamp<std::int64_t>(x.exp2 + a[0].exp2 - u.exp2 - v.exp2, -2000, 2000);
            const double there = u.value * v.value,
                         here = std::ldexp(x.value * a[0].value, static_cast<int>(exponent));
            most = std::max(most, std::fabs(here - there) / there);
        }
    }
    return most + of_products;
}

// n! a_00^-n prod a_i0 prod a_0j.
EngineResult nearly_rank_one(const Block &block, RunControl &control) {
    const std::size_t n = at(block.n());
    const std::vector<Tracked> &a = block.values;
    Tracked product = tracked(1);
    for (std::size_t i = 0; i < n; ++i)
        product = product * a[i * n] * a[i] / a[0] * tracked(static_cast<double>(i + 1));
    const double d = greatest_distance(block, control), roundings = 4.0 * static_cast<double>(n);
    const double share = std::expm1(static_cast<double>(n) * d) * (1 + 0x1p-40) + roundings * 0x1p-52;
    EngineResult result;
    result.value = ball_from(block, product.value, std::fabs(product.value) * share, product.exp2);
    result.counts.operations = static_cast<double>(block.pattern.nnz());
    return result;
}

} // namespace

bool LowRankPlan::is_fit(const Residues &residues, std::size_t matrix) const {
    const Montgomery field(residues.primes[matrix]);
    const std::size_t r = lines.rows.size();
    std::vector<std::uint64_t> minor;
    for (const std::int32_t i : lines.rows)
        for (const std::int32_t j : lines.cols)
            minor.push_back(field.to(read.value(residues.values[matrix], entry_at(residues.pattern, i, j))));
    for (std::size_t t = 0; t < r; ++t) {
        std::size_t pivot = t;
        while (pivot < r && minor[pivot * r + t] == 0) ++pivot;
        if (pivot == r) return false;
        std::swap_ranges(&minor[t * r], &minor[t * r] + r, &minor[pivot * r]);
        const std::uint64_t inverse = field.power(minor[t * r + t], field.prime() - 2);
        for (std::size_t i = t + 1; i < r; ++i) {
            const std::uint64_t by = field.multiply(minor[i * r + t], inverse);
            for (std::size_t j = t; j < r; ++j)
                minor[i * r + j] = field.subtract(minor[i * r + j], field.multiply(by, minor[t * r + j]));
        }
    }
    return true;
}

EngineResult run_low_rank(const EngineRun &run, const EngineInput &input) {
    const LowRankPlan &plan = *plan_as<LowRankPlan>(run.choice);
    const Residues *residues = input.residues();
    if (!residues) return nearly_rank_one(*input.block(), run.control);
    const auto rank = static_cast<std::int32_t>(plan.lines.rows.size());
    const double shared = bytes_of_forms(plan.n, rank, 0), each = bytes_of_forms(plan.n, rank, 1) - shared;
    const Charge charge(&run.control.memory(), static_cast<std::int64_t>(shared));
    const Monomials monomials(plan.n, rank, [&run] { run.control.poll(); });
    return matrix_by_matrix(run.control, *residues, plan.products, each, [&](std::uint64_t matrix) {
        return FactorsModulo(plan, monomials, *residues, matrix).permanent(run.control);
    });
}

} // namespace libperm
