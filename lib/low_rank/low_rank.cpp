#include "lib/low_rank/low_rank.hpp"

#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/low_rank/permanent_of_forms.hpp"
#include "lib/number/doubles.hpp"
#include "lib/run/errors.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/proposals.hpp"
#include "lib/run/results.hpp"
#include "lib/structure/find_structure.hpp"
#include "lib/structure/structure.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace libperm {
namespace {

class LowRankPlan final : public EnginePlan {
  public:
    LowRank lines; // none: rank one up to rounding
    std::int32_t n = 0;
    double products = 0; // of a matrix
    EntriesRead read;

    bool is_fit(const Residues &residues,
                std::size_t matrix) const override; // not for a multiple of the minor
    bool is_exact() const { return !lines.rows.empty(); }
    double matrix_products() const override { return products; }
    std::int64_t bytes() const override { return 8 * std::ssize(read.all()); }
    std::span<const std::int64_t> entries_read() const override { return read.all(); }
};

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

constexpr double entry_seconds = 2e-8;

double monomials_of(const LowRank &of, std::int32_t n) {
    return monomial_count(n, static_cast<std::int32_t>(of.rows.size()));
}

// With solving for the columns.
double products_of(const LowRank &of, std::int32_t n) {
    const auto rank = static_cast<double>(of.rows.size());
    return products_of_forms(n, static_cast<std::int32_t>(of.rows.size())) + 8.0 * n * rank * rank;
}

LowRankPlan plan_low_rank(const Pattern &a, const LowRank &of) {
    LowRankPlan plan;
    plan.lines = of;
    plan.n = a.rows;
    plan.products = products_of(of, a.rows);
    std::vector<std::int64_t> entries;
    for (const std::int32_t r : of.rows)
        for (std::int32_t j = 0; j < a.cols; ++j) entries.push_back(entry_at(a, r, j));
    for (const std::int32_t c : of.cols)
        for (std::int32_t i = 0; i < a.rows; ++i) entries.push_back(entry_at(a, i, c));
    plan.read = EntriesRead(std::move(entries));
    return plan;
}

std::shared_ptr<const LowRankPlan> plan_rounded(const Pattern &a) {
    LowRankPlan plan;
    plan.n = a.rows;
    plan.products = static_cast<double>(a.nnz());
    return std::make_shared<const LowRankPlan>(std::move(plan));
}

Cost low_rank_cost(const Proposals &task, const LowRank &of) {
    const double matrices = task.matrices(), lines = 2.0 * task.a.rows * static_cast<double>(of.rows.size());
    Cost cost;
    cost.operations = matrices * products_of(of, task.a.rows);
    cost.serial_seconds = call_seconds + product_seconds * cost.operations + matrices * entry_seconds * lines;
    const auto rank = static_cast<std::int32_t>(of.rows.size());
    const double bytes = bytes_of_forms(task.a.rows, rank, 1);
    cost.bytes_of_matrix = bytes - bytes_of_forms(task.a.rows, rank, 0);
    cost.bytes = bytes + 8 * matrices * lines;
    return cost;
}

bool may_round(const Proposals &task) {
    return task.values.numbers.precision == Precision::double_ && task.values.structure->nearly_rank_one;
}

class FactorsModulo {
  public:
    FactorsModulo(const LowRankPlan &plan, const Monomials &monomials, const Residues &residues,
                  std::uint64_t matrix)
        : plan_(plan),
          monomials_(monomials),
          a_(residues.pattern),
          values_(residues.values[matrix]),
          field_(residues.primes[matrix]) {}

    std::uint64_t permanent() const {
        return permanent_of_forms(monomials_, field_, columns(), rows_solved(), plan_.products);
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

// n! a_00^-n prod a_i0 prod a_0j.
EngineResult nearly_rank_one(const Block &block) {
    const std::size_t n = at(block.n());
    const std::vector<Tracked> &a = block.values;
    Tracked product = tracked(1);
    for (std::size_t i = 0; i < n; ++i)
        product = product * a[i * n] * a[i] / a[0] * tracked(static_cast<double>(i + 1));
    constexpr double of_products = 0x1p-51; // four roundings
    const double d = distance_from_rank_one(block, infinity) + of_products,
                 roundings = 4.0 * static_cast<double>(n);
    call().advance(static_cast<double>(block.pattern.nnz()));
    const double share = std::expm1(static_cast<double>(n) * d) * (1 + 0x1p-40) + roundings * 0x1p-52;
    EngineResult result;
    result.value = ball_from(block, product.value, std::fabs(product.value) * share, product.exp2);
    result.counts.operations = static_cast<double>(block.pattern.nnz());
    return result;
}

} // namespace

void propose_low_rank(Proposals &task, Engine self) {
    if (!task.wants_on_cpu(self)) return;
    const Structure *structure = task.values.structure;
    Candidate c;
    c.engine = self;
    const LowRank none, &lines = structure ? structure->low_rank : none;
    if (!lines.rows.empty() && monomials_of(lines, task.a.rows) <= most_monomials) {
        c.cost = low_rank_cost(task, lines);
        c.plan = std::make_shared<const LowRankPlan>(plan_low_rank(task.a, lines));
    } else if (structure && may_round(task)) {
        const auto plan = plan_rounded(task.a);
        c.cost.operations = plan->products;
        c.cost.serial_seconds = call_seconds + 1e-8 * plan->products;
        c.plan = plan;
    } else {
        return refuse_block(task, self,
                            lines.rows.empty()
                                ? "takes matrices of rank 6 or less and of order 16 or more, as the values "
                                  "say: this one is none"
                                : formatted("would multiply polynomials with {:.3g} monomials",
                                            monomials_of(lines, task.a.rows)));
    }
    task.add(std::move(c), {});
}

bool low_rank_by_residues(const Candidate &c) {
    const auto *plan = plan_as<LowRankPlan>(c);
    return plan && plan->is_exact();
}

std::string saved_low_rank(const EnginePlan &plan, bool) { // the rest follows from the structure
    return dynamic_cast<const LowRankPlan &>(plan).is_exact() ? "e" : "r";
}

std::shared_ptr<const EnginePlan> restored_low_rank(std::string_view bytes, const PlanSource &of) {
    const LowRank &lines = of.structure.low_rank;
    if (bytes == "r") {
        require(of.structure.nearly_rank_one && of.numbers.are_tracked(), "a rank of nearly one");
        return plan_rounded(of.a);
    }
    require(bytes == "e" && !lines.rows.empty() && monomials_of(lines, of.a.rows) <= most_monomials,
            "a low rank");
    return std::make_shared<const LowRankPlan>(plan_low_rank(of.a, lines));
}

void check_low_rank(const Candidate &c) { require(plan_as<LowRankPlan>(c) && !c.on_gpu, "a low rank"); }

EngineResult run_low_rank(const EngineRun &run, const EngineInput &input) {
    const LowRankPlan &plan = *plan_as<LowRankPlan>(run.choice);
    const Residues *residues = input.residues();
    if (!residues) return nearly_rank_one(*input.block());
    const auto rank = static_cast<std::int32_t>(plan.lines.rows.size());
    const double shared = bytes_of_forms(plan.n, rank, 0), each = bytes_of_forms(plan.n, rank, 1) - shared;
    const Charge charge(&call().memory(), static_cast<std::int64_t>(shared));
    const Monomials monomials(plan.n, rank);
    return matrix_by_matrix(*residues, plan.products, each, [&](std::uint64_t matrix) {
        return FactorsModulo(plan, monomials, *residues, matrix).permanent();
    });
}

} // namespace libperm
