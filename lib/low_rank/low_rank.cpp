#include "lib/low_rank/low_rank.hpp"

#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/low_rank/permanent_of_forms.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/residues.hpp"
#include "lib/run/errors.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/proposals.hpp"
#include "lib/run/results.hpp"
#include "lib/structure/find_structure.hpp"
#include "lib/structure/separable/walk.hpp"
#include "lib/structure/structure.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

namespace libperm {
namespace {

class LowRankPlan final : public EnginePlan {
  public:
    // Of rank one up to rounding.
    explicit LowRankPlan(const Pattern &a) : n(a.rows), products(static_cast<double>(a.nnz())) {}
    LowRankPlan(const Pattern &a, const LowRank &of)
        : lines(of), n(a.rows), products(products_of_forms(n, rank()) + 8.0 * n * rank() * rank()) {
        std::vector<std::int64_t> entries;
        for (const std::int32_t r : of.rows)
            for (std::int32_t j = 0; j < a.cols; ++j) entries.push_back(entry_at(a, r, j));
        for (const std::int32_t c : of.cols)
            for (std::int32_t i = 0; i < a.rows; ++i) entries.push_back(entry_at(a, i, c));
        read = EntriesRead(std::move(entries));
    }

    LowRank lines; // none: rank one up to rounding
    std::int32_t n;
    double products; // of a matrix: with solving for the columns
    EntriesRead read;

    bool is_fit(const Residues &residues,
                std::size_t matrix) const override; // not for a multiple of the minor
    bool is_exact() const { return !lines.rows.empty(); }
    std::int32_t rank() const { return static_cast<std::int32_t>(lines.rows.size()); }
    double matrix_products() const override { return products; }
    std::int64_t bytes() const override { return 8 * std::ssize(read.all()); }
    std::span<const std::int64_t> entries_read() const override { return read.all(); }
};

bool LowRankPlan::is_fit(const Residues &residues, std::size_t matrix) const {
    const Montgomery field(residues.primes[matrix]);
    std::vector<std::uint64_t> minor;
    std::vector<std::size_t> all;
    for (const std::int32_t i : lines.rows) {
        all.push_back(all.size());
        for (const std::int32_t j : lines.cols)
            minor.push_back(field.to(read.value(residues.values[matrix], entry_at(residues.pattern, i, j))));
    }
    return solve_for(field, minor, all.size(), all);
}

constexpr double entry_seconds = 2e-8;

double monomials_of(const LowRank &of, std::int32_t n) {
    return monomial_count(n, static_cast<std::int32_t>(of.rows.size()));
}

Cost low_rank_cost(const Proposals &task, const LowRankPlan &plan) {
    const double matrices = task.matrices(), lines = 2.0 * plan.n * plan.rank();
    Cost cost;
    cost.operations = matrices * plan.products;
    cost.serial_seconds = call_seconds + product_seconds * cost.operations + matrices * entry_seconds * lines;
    const double bytes = bytes_of_forms(plan.n, plan.rank(), 1);
    cost.bytes_of_matrix = bytes - bytes_of_forms(plan.n, plan.rank(), 0);
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

    // G^-1 R, by column.
    Forms rows_solved() const {
        const std::size_t r = rank(), n = at(plan_.n);
        Forms rows; // by row
        for (const std::int32_t i : plan_.lines.rows)
            for (std::int32_t j = 0; j < plan_.n; ++j) rows.push_back(entry(i, j));
        if (!solve_for(field_, rows, n, plan_.lines.cols))
            throw UnfitPrime(Engine::low_rank, "a minor of the matrix");
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

// Engine `separable`.

// Its walk, and what that takes.
class SeparablePlan final : public EnginePlan {
  public:
    explicit SeparablePlan(const Separable &found) : shape(found) {
        const std::vector<ComingLines> steps = steps_of(shape.order);
        products = separable_products(steps, shape.above, shape.below, shape.band);
        table_bytes = separable_bytes(steps, shape.above, shape.below, shape.band);
    }

    Separable shape;
    double products = 0, table_bytes = 0; // of a matrix

    double matrix_products() const override { return products; }
    std::int64_t bytes() const override { return 16 * std::ssize(shape.order.rows); }
};

double entries_of(const Residues &residues) { // written out
    return static_cast<double>(residues.pattern.rows) * residues.pattern.rows;
}

DenseResidues dense_matrix(const Residues &residues, std::uint64_t matrix) {
    const Pattern &a = residues.pattern;
    const auto n = at(a.rows);
    DenseResidues dense{n, residues.primes[matrix], std::vector<std::uint64_t>(n * n)};
    std::int64_t k = 0;
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (const std::int32_t j : a.row(i))
            dense.values[at(i) * n + at(j)] = residues.values[matrix][at(k++)];
    return dense;
}

std::uint64_t along_the_walk(const SeparablePlan &plan, const Residues &residues, std::uint64_t matrix) {
    const double entries = entries_of(residues);
    Charge charge(&call().memory(), static_cast<std::int64_t>(plan.table_bytes + 8 * entries));
    const std::optional<Generators> found =
        generators_of(dense_matrix(residues, matrix), plan.shape.order, plan.shape.band);
    if (!found) throw UnfitPrime(Engine::separable, "a minor beside the diagonal");
    const double bytes =
        separable_bytes(found->steps, found->above.kinds, found->below.kinds, plan.shape.band) + 8 * entries;
    charge.resize(std::max(charge.bytes(), static_cast<std::int64_t>(bytes)));
    return separable_permanent(*found, [](double products) { call().advance(products); });
}

// Engine `ferrers`.

class FerrersPlan final : public EnginePlan {
  public:
    FerrersPlan(const Pattern &a, const std::vector<std::int32_t> &nested) : rows(nested) {
        std::vector<std::int64_t> entries;
        for (std::int32_t j = 0; j < a.cols; ++j) entries.push_back(entry_at(a, rows.back(), j));
        for (const std::int32_t i : rows) entries.push_back(a.row_begin(i));
        read = EntriesRead(std::move(entries));
    }

    std::vector<std::int32_t> rows; // each one's columns are among the next one's
    EntriesRead read;

    bool is_fit(const Residues &residues, std::size_t matrix) const override { // not for what it divides by
        return std::all_of(rows.begin(), rows.end(), [&](std::int32_t i) {
            const std::int64_t v = residues.pattern.row_begin(rows.back()) + residues.pattern.row(i).front();
            return read.value(residues.values[matrix], v) != 0;
        });
    }
    double matrix_products() const override { return 4.0 * static_cast<double>(rows.size()); }
    std::int64_t bytes() const override { return 4 * std::ssize(rows) + 8 * std::ssize(read.all()); }
    std::span<const std::int64_t> entries_read() const override { return read.all(); }
};

// v is the last row, which is full.
std::uint64_t product_modulo(const FerrersPlan &plan, const Residues &residues, std::uint64_t matrix) {
    const Pattern &a = residues.pattern;
    const Montgomery field(residues.primes[matrix]);
    const auto entry = [&](std::int64_t k) { return field.to(plan.read.value(residues.values[matrix], k)); };
    const std::int64_t v = a.row_begin(plan.rows.back());
    std::uint64_t product = field.to(1), below = product;
    for (std::int32_t j = 0; j < a.cols; ++j) product = field.multiply(product, entry(v + j));
    std::int64_t taken = 0;
    for (const std::int32_t i : plan.rows) {
        product = field.multiply(product, entry(a.row_begin(i)));
        below = field.multiply(below, entry(v + a.row(i).front()));
        const std::int64_t left = std::ssize(a.row(i)) - taken++;
        product = field.multiply(product, field.to(at(std::max<std::int64_t>(0, left))));
    }
    if (below == 0) throw UnfitPrime(Engine::ferrers, "an entry of the matrix");
    return field.from(field.multiply(product, field.power(below, field.prime() - 2)));
}

} // namespace

void propose_low_rank(Proposals &task, Engine self) {
    if (!task.wants_on_cpu(self)) return;
    const Structure *structure = task.values.structure;
    Candidate c;
    c.engine = self;
    const LowRank none, &lines = structure ? structure->low_rank : none;
    if (!lines.rows.empty() && monomials_of(lines, task.a.rows) <= most_monomials) {
        const auto plan = std::make_shared<const LowRankPlan>(task.a, lines);
        c.cost = low_rank_cost(task, *plan);
        c.plan = plan;
    } else if (structure && may_round(task)) {
        const auto plan = std::make_shared<const LowRankPlan>(task.a);
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
        return std::make_shared<const LowRankPlan>(of.a);
    }
    require(bytes == "e" && !lines.rows.empty() && monomials_of(lines, of.a.rows) <= most_monomials,
            "a low rank");
    return std::make_shared<const LowRankPlan>(of.a, lines);
}

void check_low_rank(const Candidate &c) { require(plan_as<LowRankPlan>(c) && !c.on_gpu, "a low rank"); }

EngineResult run_low_rank(const EngineRun &run, const EngineInput &input) {
    const LowRankPlan &plan = *plan_as<LowRankPlan>(run.choice);
    const Residues *residues = input.residues();
    if (!residues) return nearly_rank_one(*input.block());
    const double shared = bytes_of_forms(plan.n, plan.rank(), 0),
                 each = bytes_of_forms(plan.n, plan.rank(), 1) - shared;
    const Charge charge(&call().memory(), static_cast<std::int64_t>(shared));
    const Monomials monomials(plan.n, plan.rank());
    return matrix_by_matrix(*residues, plan.products, each, [&](std::uint64_t matrix) {
        return FactorsModulo(plan, monomials, *residues, matrix).permanent();
    });
}

void propose_separable(Proposals &task, Engine self) {
    if (!task.wants_on_cpu(self)) return;
    const Structure *structure = task.values.structure;
    if (!structure || !structure->is_separable())
        return refuse_block(task, self,
                            "takes matrices of order 24 or more with low ranks on both sides of the "
                            "diagonal, of a band or of a staircase: this one is none, as far as was looked");
    const auto plan = std::make_shared<const SeparablePlan>(structure->separable);
    const double matrices = task.matrices(), entries = static_cast<double>(task.a.rows) * task.a.rows;
    Candidate c;
    c.engine = self;
    c.cost.operations = matrices * plan->products;
    c.cost.serial_seconds =
        call_seconds + matrices * (product_seconds * plan->products + entry_seconds * entries);
    c.cost.bytes_of_matrix = plan->table_bytes + 8 * entries;
    c.cost.bytes = c.cost.bytes_of_matrix + 8 * matrices * static_cast<double>(task.a.nnz());
    c.plan = plan;
    task.add(std::move(c), {});
}

EngineResult run_separable(const EngineRun &run, const EngineInput &input) {
    const SeparablePlan &plan = *plan_as<SeparablePlan>(run.choice);
    const Residues &residues = *input.residues();
    return matrix_by_matrix(residues, plan.products, plan.table_bytes + 8 * entries_of(residues),
                            [&](std::uint64_t matrix) { return along_the_walk(plan, residues, matrix); });
}

std::string saved_separable(const EnginePlan &, bool) { return "s"; } // it follows from the structure

std::shared_ptr<const EnginePlan> restored_separable(std::string_view bytes, const PlanSource &of) {
    require(bytes == "s" && of.structure.is_separable(), "a staircase");
    return std::make_shared<const SeparablePlan>(of.structure.separable);
}

void check_separable(const Candidate &c) { require(plan_as<SeparablePlan>(c) && !c.on_gpu, "a staircase"); }

void propose_ferrers(Proposals &task, Engine self) {
    if (!task.wants_on_cpu(self)) return;
    const Structure *structure = task.values.structure;
    if (!structure || structure->nested.empty())
        return refuse_block(task, self,
                            "takes nested rows with entries u_i v_j, of order 12 or more: these are none");
    const auto plan = std::make_shared<const FerrersPlan>(task.a, structure->nested);
    const double matrices = task.matrices();
    Candidate c;
    c.engine = self;
    c.cost.operations = matrices * plan->matrix_products();
    c.cost.serial_seconds = call_seconds + 1e-8 * c.cost.operations;
    c.cost.bytes = 8 * matrices * static_cast<double>(plan->read.all().size());
    c.plan = plan;
    task.add(std::move(c), {});
}

EngineResult run_ferrers(const EngineRun &run, const EngineInput &input) {
    const FerrersPlan &plan = *plan_as<FerrersPlan>(run.choice);
    return matrix_by_matrix(*input.residues(), plan.matrix_products(), 0, [&](std::uint64_t matrix) {
        call().advance(plan.matrix_products());
        return product_modulo(plan, *input.residues(), matrix);
    });
}

std::string saved_ferrers(const EnginePlan &, bool) { return "f"; } // it follows from the structure

std::shared_ptr<const EnginePlan> restored_ferrers(std::string_view bytes, const PlanSource &of) {
    require(bytes == "f" && !of.structure.nested.empty(), "nested rows");
    return std::make_shared<const FerrersPlan>(of.a, of.structure.nested);
}

void check_ferrers(const Candidate &c) { require(plan_as<FerrersPlan>(c) && !c.on_gpu, "nested rows"); }

} // namespace libperm
