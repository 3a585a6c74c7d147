#include "lib/background/background.hpp"

#include "lib/background/counting_table.hpp"
#include "lib/background/plan.hpp"
#include "lib/number/montgomery.hpp"
#include "lib/run/matrix_pieces.hpp"
#include "lib/run/unfit_prime.hpp"
#include "lib/structure/background_lines.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <vector>

namespace libperm {
namespace {

class Modulo {
  public:
    Modulo(const BackgroundPlan &plan, const Residues &residues, std::uint64_t matrix)
        : plan_(plan),
          a_(residues.pattern),
          values_(residues.values[matrix]),
          field_(residues.primes[matrix]),
          u_(at(a_.rows)),
          v_(at(a_.cols)) {
        background_lines(
            plan.background, [this](std::int32_t i, std::int32_t j) { return entry(entry_at(a_, i, j)); },
            [this](std::uint64_t x, std::uint64_t y) {
                if (y == 0) throw UnfitPrime(Engine::background, "an entry of the background");
                return field_.multiply(x, field_.power(y, field_.prime() - 2));
            },
            field_.to(1), u_, v_);
    }

    std::uint64_t permanent(RunControl &control) const {
        const Charge charge(&control.memory(), static_cast<std::int64_t>(plan_.table_bytes()));
        CountingTable table(field_.prime(), at(plan_.longest) + 1, plan_.open);
        std::vector<char> is_there(at(2 * a_.rows));
        const std::vector<std::uint64_t> beside = beside_background();
        std::vector<CountingTable::Term> terms;
        const double share = plan_.products / std::max(1.0, sets_gone_through(plan_.steps));
        std::int32_t open = 0;
        for (const CountingStep &step : plan_.steps) {
            terms.clear();
            for (const CountingStep::Term &t : step.terms)
                terms.push_back({t.slot, table.factor(field_.from(beside[at(t.entry)]))});
            table.open(terms);
            control.poll();
            for (const CountingStep::Closing &c : step.closings) {
                table.close(c.slot, table.factor(field_.from(of_line(c.line))));
                is_there[at(c.line)] = 1;
            }
            control.advance(share * sets_of(step, ++open));
            open -= static_cast<std::int32_t>(step.closings.size());
        }
        std::uint64_t product = with_background(table);
        for (std::int32_t line = 0; line < 2 * a_.rows; ++line)
            if (!is_there[at(line)]) product = field_.multiply(product, of_line(line));
        return field_.from(product);
    }

  private:
    std::uint64_t entry(std::int64_t k) const { return field_.to(plan_.read.value(values_, k)); }

    // Its number in the background.
    std::uint64_t of_line(std::int32_t line) const {
        return line < a_.rows ? u_[at(line)] : v_[at(line - a_.rows)];
    }

    // B, by entry.
    std::vector<std::uint64_t> beside_background() const {
        const Pattern &b = plan_.background.beside;
        std::vector<std::uint64_t> values;
        for (std::int32_t i = 0; i < b.rows; ++i)
            for (const std::int32_t j : b.row(i))
                values.push_back(
                    field_.subtract(entry(entry_at(a_, i, j)), field_.multiply(u_[at(i)], v_[at(j)])));
        return values;
    }

    // Of n - k lines that are left each to each other one.
    std::uint64_t with_background(const CountingTable &table) const {
        std::uint64_t sum = 0, factorial = field_.to(1);
        std::int32_t count = 0;
        for (std::int32_t k = plan_.longest; k >= 0; --k) {
            for (; count < a_.rows - k;) factorial = field_.multiply(factorial, field_.to(at(++count)));
            sum = field_.add(sum, field_.multiply(field_.to(table.weight(at(k))), factorial));
        }
        return sum;
    }

    const BackgroundPlan &plan_;
    const Pattern &a_;
    const std::vector<std::uint64_t> &values_;
    Montgomery field_;
    std::vector<std::uint64_t> u_, v_; // of the background
};

} // namespace

EngineResult run_background(const EngineRun &run, const EngineInput &input) {
    const BackgroundPlan &plan = *plan_as<BackgroundPlan>(run.choice);
    const Residues &residues = *input.residues();
    return matrix_by_matrix(run.control, residues, plan.products, [&](std::uint64_t matrix) {
        return Modulo(plan, residues, matrix).permanent(run.control);
    });
}

} // namespace libperm
