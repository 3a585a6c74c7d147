#include "lib/background/background.hpp"

#include "lib/background/counting_table.hpp"
#include "lib/background/plan.hpp"
#include "lib/background/rests.hpp"
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
          lines_(background_lines(
              plan.background, [this](std::int32_t i, std::int32_t j) { return entry(entry_at(a_, i, j)); },
              [this](std::uint64_t x, std::uint64_t y, std::uint64_t z) {
                  const std::uint64_t by = field_.multiply(y, z);
                  if (by == 0) throw UnfitPrime(Engine::background, "an entry of the background");
                  return field_.multiply(x, field_.power(by, field_.prime() - 2));
              },
              field_.to(1))) {}

    std::uint64_t permanent(RunControl &control) const {
        const Charge charge(&control.memory(), static_cast<std::int64_t>(plan_.table_bytes()));
        CountingTable table(field_.prime(), plan_.counts.numbers, plan_.open);
        std::vector<char> is_there(at(2 * a_.rows));
        const std::vector<Entry> beside = beside_background();
        std::vector<CountingTable::Term> terms;
        const double share = plan_.products / std::max(1.0, sets_gone_through(plan_.steps));
        std::int32_t open = 0;
        for (const CountingStep &step : plan_.steps) {
            terms.clear();
            for (const auto &[slot, k] : step.terms)
                terms.push_back({slot, table.factor(field_.from(beside[at(k)].value)), beside[at(k)].adds});
            table.open(terms);
            control.poll();
            for (const CountingStep::Closing &c : step.closings) {
                table.close(c.slot, table.factor(field_.from(of_line(c.line))));
                is_there[at(c.line)] = 1;
            }
            control.advance(share * sets_of(step, ++open));
            open -= static_cast<std::int32_t>(step.closings.size());
        }
        const Rests rests(field_, plan_.counts, lines_.classes);
        std::uint64_t product =
            rests.sum([&table](std::size_t k) { return table.weight(k); }, [&control] { control.poll(); });
        for (std::int32_t line = 0; line < 2 * a_.rows; ++line)
            if (!is_there[at(line)]) product = field_.multiply(product, of_line(line));
        return field_.from(product);
    }

  private:
    struct Entry { // of B
        std::uint64_t value;
        std::size_t adds; // to the counts of lines
    };

    std::uint64_t entry(std::int64_t k) const { return field_.to(plan_.read.value(values_, k)); }

    // Its number in the background.
    std::uint64_t of_line(std::int32_t line) const {
        return line < a_.rows ? lines_.u[at(line)] : lines_.v[at(line - a_.rows)];
    }

    std::uint64_t of_background(std::int32_t i, std::int32_t j) const {
        return field_.multiply(field_.multiply(lines_.u[at(i)], lines_.v[at(j)]),
                               lines_.of_classes(plan_.background, i, j));
    }

    std::vector<Entry> beside_background() const {
        const Pattern &b = plan_.background.beside;
        std::vector<Entry> entries;
        for (std::int32_t i = 0; i < b.rows; ++i)
            for (const std::int32_t j : b.row(i))
                entries.push_back({field_.subtract(entry(entry_at(a_, i, j)), of_background(i, j)),
                                   plan_.counts.of_entry(plan_.background, i, j)});
        return entries;
    }

    const BackgroundPlan &plan_;
    const Pattern &a_;
    const std::vector<std::uint64_t> &values_;
    Montgomery field_;
    BackgroundLines<std::uint64_t> lines_;
};

} // namespace

bool BackgroundPlan::is_fit(const Residues &residues, std::size_t matrix) const {
    try {
        return static_cast<void>(Modulo(*this, residues, matrix)), true;
    } catch (const UnfitPrime &) {
        return false;
    }
}

EngineResult run_background(const EngineRun &run, const EngineInput &input) {
    const BackgroundPlan &plan = *plan_as<BackgroundPlan>(run.choice);
    const Residues &residues = *input.residues();
    return matrix_by_matrix(
        run.control, residues, plan.products, plan.table_bytes(),
        [&](std::uint64_t matrix) { return Modulo(plan, residues, matrix).permanent(run.control); });
}

} // namespace libperm
