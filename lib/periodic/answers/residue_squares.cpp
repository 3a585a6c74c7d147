#include "lib/periodic/answers/residue_squares.hpp"

#include "lib/number/montgomery.hpp"
#include "lib/periodic/answers/squares_times.hpp"
#include "lib/periodic/power/power_steps.hpp"
#include "lib/periodic/power/sector_matrix.hpp"

#include <algorithm>
#include <bit>

namespace libperm {
namespace {

// Residues next to 0, in digits next to 0 of so many bits that the sums of a product's digits are whole
// numbers of at most 53: |digit| <= 2^(bits - 1).
class Digits {
  public:
    Digits(std::uint64_t prime, std::size_t inner)
        : prime_(prime),
          bits_((55 - static_cast<int>(std::bit_width(inner))) / 2),
          count_(1 + static_cast<int>(std::bit_width(prime)) / bits_) {
    } // the highest may be one more than it was

    int count() const { return count_; }
    std::uint64_t weight(int digit) const { // modulo the prime
        std::uint64_t w = 1 % prime_;
        for (int k = 0; k < digit * bits_; ++k) w = 2 * w % prime_; // of less than 2^62
        return w;
    }
    template <class Put> void split(std::uint64_t residue, const Put &put) const {
        auto left = static_cast<std::int64_t>(residue);
        if (residue > prime_ / 2) left -= static_cast<std::int64_t>(prime_);
        const std::int64_t base = std::int64_t{1} << bits_;
        for (int k = 0; k < count_; ++k) {
            std::int64_t digit = left;
            if (k + 1 < count_) {
                digit = (left % base + base) % base;
                if (digit > base / 2) digit -= base;
                left = (left - digit) / base;
            }
            put(k, static_cast<double>(digit));
        }
    }

  private:
    std::uint64_t prime_;
    int bits_, count_;
};

struct ResidueMatrix {
    std::size_t rows = 0, columns = 0;
    std::vector<PlacedMatrix> digits;
    std::vector<std::uint64_t> residues;
};

class ResiduePowers {
  public:
    ResiduePowers(DenseMachine &machine, const PeriodBlock &block, const std::vector<Sector> &sectors,
                  const Residues &residues, RunControl &control)
        : machine_(machine),
          block_(block),
          sectors_(sectors),
          residues_(residues),
          control_(control),
          prime_(residues.primes.front()),
          field_(prime_),
          digits_(prime_, std::max<std::size_t>(block.states, 1)) {}

    std::uint64_t trace_of_power(std::size_t which, std::int64_t m) {
        const Sector &sector = sectors_[which], &next = sectors_[sector.next];
        const auto power = static_cast<std::uint64_t>(m);
        ResidueMatrix base = written(sector, next);
        if (m % 2 == 0) {
            const ResidueMatrix back = sector.next == which ? ResidueMatrix() : written(next, sector);
            base = times(base, sector.next == which ? base : back);
        }
        return trace_by_halves(
            base, m % 2 == 0 ? power / 2 : power,
            [this](const ResidueMatrix &a, const ResidueMatrix &b) { return times(a, b); },
            [this](const ResidueMatrix &a, const ResidueMatrix *b) { return trace(a, b); });
    }

  private:
    ResidueMatrix written(const Sector &from, const Sector &to) {
        using Numbers = ResidueNumbers<1>;
        Numbers numbers(residues_, 0);
        const std::vector<Numbers::Factor> factors =
            numbers.begin_step(all_entries(residues_.values.front().size()));
        ResidueMatrix out{from.size(), to.size(), {}, std::vector<std::uint64_t>(from.size() * to.size())};
        write_sector(
            {block_, from, to}, numbers, factors,
            [this](const Numbers::Number &x) { return Numbers::Number{x[0] == 0 ? 0 : 2 * prime_ - x[0]}; },
            control_,
            [&](std::size_t row, std::size_t column, const Numbers::Number &x) {
                out.residues[row * out.columns + column] = numbers.close(x)[0];
            });
        split(out);
        return out;
    }

    void split(ResidueMatrix &x) {
        std::vector<DenseMatrix> digits;
        for (int k = 0; k < digits_.count(); ++k)
            digits.push_back(DenseMatrix::unwritten(x.rows, x.columns, false, false));
        parallel_for(x.rows, [&](std::uint64_t i) {
            for (std::size_t at = i * x.columns; at < (i + 1) * x.columns; ++at)
                digits_.split(x.residues[at], [&](int k, double digit) {
                    digits[static_cast<std::size_t>(k)].planes[0][at] = digit;
                });
        });
        x.digits.clear();
        for (DenseMatrix &digit : digits) x.digits.push_back(machine_.placed(std::move(digit)));
    }

    ResidueMatrix times(const ResidueMatrix &a, const ResidueMatrix &b) {
        ResidueMatrix out{a.rows, b.columns, {}, std::vector<std::uint64_t>(a.rows * b.columns, 0)};
        for (int i = 0; i < digits_.count(); ++i)
            for (int j = 0; j < digits_.count(); ++j) {
                const DenseMatrix sums = machine_.on_host(machine_.times(
                    a.digits[static_cast<std::size_t>(i)], b.digits[static_cast<std::size_t>(j)]));
                const std::uint64_t weight =
                    field_.to(field_.to(digits_.weight(i + j))); // twice: what it multiplies is not
                parallel_for(out.rows, [&](std::uint64_t row) {
                    control_.poll();
                    for (std::size_t at = row * out.columns; at < (row + 1) * out.columns; ++at) {
                        const auto sum = static_cast<std::int64_t>(sums.planes[0][at]);
                        const std::uint64_t size = static_cast<std::uint64_t>(sum < 0 ? -sum : sum) % prime_,
                                            term = field_.from(field_.multiply(size, weight));
                        std::uint64_t &to = out.residues[at];
                        to = sum < 0 ? field_.subtract(to, term) : field_.add(to, term);
                    }
                });
            }
        split(out);
        return out;
    }

    std::uint64_t trace(const ResidueMatrix &a, const ResidueMatrix *b) const {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < a.rows; ++i) {
            if (!b) {
                sum = field_.add(sum, a.residues[i * a.columns + i]);
                continue;
            }
            for (std::size_t k = 0; k < a.columns; ++k) {
                const std::uint64_t x = field_.to(a.residues[i * a.columns + k]);
                sum = field_.add(sum, field_.multiply(x, b->residues[k * b->columns + i]));
            }
        }
        return sum;
    }

    DenseMachine &machine_;
    const PeriodBlock &block_;
    const std::vector<Sector> &sectors_;
    const Residues &residues_;
    RunControl &control_;
    std::uint64_t prime_;
    Montgomery field_;
    Digits digits_;
};

} // namespace

std::uint64_t trace_modulo(DenseMachine &machine, const PeriodicPlan &plan, const Residues &residues,
                           std::int64_t m, RunControl &control) {
    const Montgomery field(residues.primes.front());
    std::uint64_t sum = 0;
    for (const PeriodBlock &block : plan.loops) {
        if (block.alike == 0) continue;
        const std::vector<Sector> sectors = sectors_of(block);
        const auto states = static_cast<double>(sectors.front().size());
        constexpr double bytes_of_entry = 8 * 12; // of three matrices, digits and residues
        const Charge charge(&control.memory(), static_cast<std::int64_t>(states * states * bytes_of_entry));
        ResiduePowers powers(machine, block, sectors, residues, control);
        for_each_trace(sectors, m, [&](std::size_t s, std::uint32_t pair) {
            const std::uint64_t trace = powers.trace_of_power(s, m), times = block.alike * pair;
            sum = field.add(sum, field.multiply(field.to(trace), times % field.prime()));
        });
    }
    return sum;
}

DeviceWork residue_squares_work(const PeriodicPlan &plan, std::int64_t m, std::uint64_t prime) {
    constexpr double of_sum = 6e-9; // to be taken modulo the prime
    std::size_t most = 1;
    double entries = 0;
    for (const PeriodBlock &block : plan.loops) {
        most = std::max(most, block.states);
        if (block.alike > 0)
            entries += static_cast<double>(block.states) * static_cast<double>(block.states) /
                       static_cast<double>(sectors_in(block));
    }
    const double digits = Digits(prime, most).count(), times = digits * digits;
    const auto steps = static_cast<double>(products_to(static_cast<std::uint64_t>(m)) + 1);
    const double sums = steps * entries * times * of_sum;
    DeviceWork work = squares_device_work(plan, m, false);
    work.cpu_seconds = work.cpu_seconds * times + sums;
    work.gpu_seconds = work.gpu_seconds * times + sums / plan.options.threads;
    work.gpu_bytes *= digits;
    return work;
}

} // namespace libperm
