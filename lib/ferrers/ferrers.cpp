#include "lib/ferrers/ferrers.hpp"

#include "lib/base/archive.hpp"
#include "lib/number/residues.hpp"
#include "lib/run/errors.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/proposals.hpp"
#include "lib/structure/structure.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <vector>

namespace libperm {
namespace {

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
