#include "lib/background/background.hpp"

#include "lib/background/rests.hpp"
#include "lib/number/montgomery.hpp"
#include "lib/run/matrix_pieces.hpp"
#include "lib/run/unfit_prime.hpp"
#include "lib/structure/background_lines.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {
namespace {

// The weights of a sparse matrix's matchings modulo a prime, by a number that each entry adds to and by which
// open lines they have.
//
// Numbers are kept below 2p, and multiplied by factors that bring floor(2^64 a / p) along (Shoup; Harvey, J.
// Symbolic Comput. 60 (2014), Theorem 1).

// A polynomial for each set of open lines: x^k is for matchings whose entries add up to k. Lines that a
// matching has not bring their own weights.
class CountingTable {
    __extension__ using Wide = unsigned __int128;

  public:
    struct Factor {
        std::uint64_t value, quotient;
    };
    struct Term {
        std::int32_t slot;
        Factor weight;
        std::size_t adds;
    };

    // For polynomials of so many coefficients and at most so many open lines; p < 2^62.
    CountingTable(std::uint64_t p, std::size_t coefficients, std::int32_t most_open)
        : p_(p), length_(coefficients), numbers_(coefficients << most_open) {
        numbers_[0] = 1;
    }

    Factor factor(std::uint64_t a) const { // below p
        return {a, static_cast<std::uint64_t>((static_cast<Wide>(a) << 64) / p_)};
    }

    // A line opens; with each open one in a slot that it shares an entry with, both may be taken.
    void open(const std::vector<Term> &terms) {
        const std::size_t half = sets(), size = half * length_;
        std::fill_n(numbers_.begin() + static_cast<std::ptrdiff_t>(size), size, 0);
        std::size_t most = 0;
        for (const Term &t : terms) most = std::max(most, t.adds);
        used_ = std::min(used_ + most, length_);
        for (const auto [slot, weight, adds] : terms) {
            const std::size_t bit = std::size_t{1} << slot, left = used_ - adds;
            for (std::size_t set = 0; set < half; ++set) {
                if (set & bit) continue;
                const std::uint64_t *const from = of(set);
                std::uint64_t *const to = of(half | set | bit) + adds;
                for (std::size_t k = 0; k < left; ++k) to[k] = add(to[k], multiply(weight, from[k]));
            }
        }
        ++open_;
    }

    // A line without other entries to come: it was taken, or is left out with its weight.
    void close(std::int32_t slot, const Factor &left_out) {
        const std::size_t bit = std::size_t{1} << slot, half = sets() / 2;
        for (std::size_t set = 0; set < half; ++set) {
            const std::size_t without = (set & (bit - 1)) | (set & ~(bit - 1)) << 1;
            const std::uint64_t *const free = of(without), *const taken = of(without | bit);
            std::uint64_t *const to = of(set); // which is not above `without`
            if (left_out.value == 1)
                for (std::size_t k = 0; k < used_; ++k) to[k] = add(taken[k], free[k]);
            else
                for (std::size_t k = 0; k < used_; ++k) to[k] = add(taken[k], multiply(left_out, free[k]));
        }
        --open_;
    }

    std::size_t sets() const { return std::size_t{1} << open_; }
    // Below p, of the matchings whose entries add up to k, when all lines are closed.
    std::uint64_t weight(std::size_t k) const { return numbers_[k] % p_; }

  private:
    std::uint64_t *of(std::size_t set) { return numbers_.data() + set * length_; }
    std::uint64_t add(std::uint64_t x, std::uint64_t y) const {
        const std::uint64_t sum = x + y;
        return std::min(sum, sum - 2 * p_); // below 0 is far above
    }
    std::uint64_t multiply(const Factor &a, std::uint64_t x) const {
        return a.value * x - static_cast<std::uint64_t>(static_cast<Wide>(a.quotient) * x >> 64) * p_;
    }

    std::uint64_t p_;
    std::size_t length_, used_ = 1; // coefficients: all, and those that may not be 0
    std::int32_t open_ = 0;
    std::vector<std::uint64_t> numbers_;
};

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

    std::uint64_t permanent() const {
        const Charge charge(&call().memory(), static_cast<std::int64_t>(plan_.table_bytes()));
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
            poll();
            for (const CountingStep::Closing &c : step.closings) {
                table.close(c.slot, table.factor(field_.from(of_line(c.line))));
                is_there[at(c.line)] = 1;
            }
            call().advance(share * sets_of(step, ++open));
            open -= static_cast<std::int32_t>(step.closings.size());
        }
        const Rests rests(field_, plan_.counts, lines_.classes);
        std::uint64_t product = rests.sum([&table](std::size_t k) { return table.weight(k); });
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
    return matrix_by_matrix(residues, plan.products, plan.table_bytes(),
                            [&](std::uint64_t matrix) { return Modulo(plan, residues, matrix).permanent(); });
}

} // namespace libperm
