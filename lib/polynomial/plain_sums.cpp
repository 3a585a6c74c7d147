#include "lib/polynomial/plain_sums.hpp"

#include "jit/text/text.hpp"
#include "lib/base/log.hpp"
#include "lib/base/system.hpp"
#include "lib/polynomial/matching_sums.hpp"
#include "lib/run/pieces.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

constexpr double most_steps = 1e8;

mpz_class power_of(const mpz_class &x, std::int64_t exponent) {
    mpz_class power;
    mpz_pow_ui(power.get_mpz_t(), x.get_mpz_t(), static_cast<unsigned long>(exponent));
    return power;
}

mpq_class power_of(const mpq_class &x, std::int64_t exponent) {
    return {power_of(x.get_num(), exponent), power_of(x.get_den(), exponent)};
}

// Numbers of matchings otherwise than by one exact sum over all of them (by_power_of_two.cpp): by sums over
// subsets of lines, and of nested rows at once.

bool may_serve(const LinearEntries &entries, const Options &options) {
    return !entries.input.pattern.one_sided && !options.names_engine() && options.device != Device::gpu;
}

// The entries, which are whole numbers; none: some are complex.
std::optional<std::vector<mpz_class>> real_entries(const LinearEntries &entries) {
    PolledSteps steps;
    std::vector<mpz_class> values;
    values.reserve(entries.entries());
    for (std::size_t k = 0; k < entries.entries(); ++k) {
        steps.take(16);
        Gaussian x = entries.linear_at(k);
        if (x.im != 0) return {};
        values.push_back(std::move(x.re.get_num()));
    }
    return values;
}

std::vector<Outcome> outcomes_of(std::vector<mpz_class> numbers, const Outcome &like) {
    std::vector<Outcome> all(numbers.size(), like);
    for (std::size_t k = 0; k < all.size(); ++k) set_value(all[k], WideBall{{mpq_class(numbers[k]), 0}, {}});
    return all;
}

class BySubsets final : public PlainSums {
  public:
    BySubsets(const LinearEntries &entries, const Options &options, MatchingSums sums)
        : PlainSums(entries, options, "sums over subsets", sums.serial_seconds(), sums.pieces()),
          sums_(std::move(sums)),
          count_(at(entries.count)) {}

    std::vector<Outcome> coefficients(PieceStore *store) const override {
        std::vector<mpz_class> numbers = sums_.numbers(run(store), count_);
        Outcome like;
        like.engine = engine_for(Goal::matchings);
        like.blocks = like.blocks_computed = 1;
        like.predicted_seconds = seconds();
        like.counts.subsets = sums_.terms();
        return outcomes_of(std::move(numbers), like);
    }

  private:
    void run_shard(const Shard &, PieceStore &store) const override { run(&store); }

    std::vector<mp_limb_t> run(PieceStore *store) const {
        const double share = store ? store->share() : 1, predicted = share * seconds();
        if (predicted > plan_made().options.refuse_seconds)
            throw refused_for_time(
                formatted("the numbers of matchings by sums over {:.3g} subsets are", sums_.terms()),
                predicted, plan_made().options);
        log_decision(formatted("numbers of matchings: sums over {:.3g} subsets of lines, {} predicted",
                               sums_.terms(), readable_seconds(predicted)));
        const Charge held(&call().memory(), sums_.bytes());
        call().begin(share * sums_.terms(), predicted);
        CurrentCall own(1, PieceScope{store, {}});
        return sums_.sums(plan_made().options.threads);
    }

    const MatchingSums sums_;
    const std::size_t count_;
};

class OfNestedRows final : public PlainSums {
  public:
    OfNestedRows(const LinearEntries &entries, const Options &options, std::vector<mpz_class> numbers)
        : PlainSums(entries, options, "none", 0, 1), numbers_(std::move(numbers)) {}

    std::vector<Outcome> coefficients(PieceStore *) const override { return outcomes_of(numbers_, {}); }

  private:
    void run_shard(const Shard &, PieceStore &) const override {}

    const std::vector<mpz_class> numbers_;
};

// The numbers of matchings for k = 0 to count - 1 where rows are nested, each in the next, and each has one
// number for all of its entries: a Ferrers board (Goldman, Joichi and White, Rook theory I, 1975). k - 1
// rooks of the rows before stand in columns of this one, which leave it b_i - k + 1. None where it is no such
// board.
std::optional<std::vector<mpz_class>> ferrers_numbers(const Pattern &a, const std::vector<mpz_class> &values,
                                                      const LineCounts &row_count,
                                                      const LineCounts &column_count, std::size_t count) {
    if (static_cast<double>(row_count.sum()) * static_cast<double>(count) > most_steps) return {};
    PolledSteps steps;
    std::vector<std::int32_t> rows;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        steps.take();
        if (row_count[i] > 0 && !a.row(i).empty()) rows.push_back(i);
    }
    std::sort(rows.begin(), rows.end(),
              [&](std::int32_t i, std::int32_t j) { return a.row(i).size() < a.row(j).size(); });
    std::vector<bool> taken(at(a.cols));
    std::size_t before = 0; // columns
    std::int64_t places = 0;
    std::vector<mpz_class> numbers(count);
    numbers[0] = 1;
    for (const std::int32_t i : rows) {
        const mpz_class &x = values[at(a.row_begin(i))];
        std::size_t shared = 0;
        std::int64_t k = a.row_begin(i);
        for (const std::int32_t j : a.row(i)) {
            steps.take(4);
            if (values[at(k++)] != x) return {};
            shared += taken[at(j)];
            if (!taken[at(j)]) places += column_count[j];
            taken[at(j)] = true;
        }
        if (shared != before) return {};
        before = a.row(i).size();
        for (std::int64_t time = 0; time < row_count[i]; ++time)
            for (std::size_t rooks = count - 1; rooks > 0; --rooks) {
                if (numbers[rooks - 1] == 0) continue;
                steps.take(static_cast<std::int64_t>(16 + mpz_size(numbers[rooks - 1].get_mpz_t())));
                numbers[rooks] += numbers[rooks - 1] * x * (places - static_cast<std::int64_t>(rooks) + 1);
            }
    }
    return numbers;
}

} // namespace

PlainSums::PlainSums(const LinearEntries &entries, const Options &options, std::string way,
                     double serial_seconds, std::uint64_t pieces)
    : way_(std::move(way)), serial_seconds_(serial_seconds), pieces_(pieces) {
    plan_.input = entries.input;
    plan_.options = options;
}

ShardCount PlainSums::shards() const { return shards_of(serial_seconds_, static_cast<double>(pieces_)); }

KeptAbout PlainSums::about() const { return {plan_.n(), plan_.input.pattern.nnz(), way_, serial_seconds_}; }

std::optional<mpq_class> ferrers_sum(const InputPattern &given, const Values &values,
                                     const LineCounts &row_count, const LineCounts &column_count) {
    const Pattern &a = given.pattern;
    if (!given.row_weights || !given.col_weights) return {};
    const auto entries = at(a.nnz());
    const std::size_t of_rows = entries, of_columns = entries + at(a.rows), all = of_columns + at(a.cols);
    const auto is_same = [&](std::size_t x, std::size_t y) {
        return values.wide.empty() ? values.real[x] == values.real[y] : values.wide[x] == values.wide[y];
    };
    for (std::size_t k = of_rows + 1; k < all; ++k)
        if (k != of_columns && !is_same(k, k - 1)) return {};
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_begin(i) + 1; k < a.row_begin(i + 1); ++k)
            if (!is_same(at(k), at(k - 1))) return {};
    if (std::any_of(values.wide.begin(), values.wide.end(), [](const Gaussian &x) { return !is_real(x); }))
        return {};
    const auto number = [&](std::size_t k) {
        return values.wide.empty() ? mpq_class(values.real[k]) : values.wide[k].re;
    };
    mpz_class denominator = 1;
    for (std::int32_t i = 0; i < a.rows; ++i)
        if (!a.row(i).empty()) denominator = lcm(denominator, number(at(a.row_begin(i))).get_den());
    const std::int64_t rows = row_count.sum(), columns = column_count.sum(), most = std::min(rows, columns);
    constexpr std::int64_t of_number = 48;
    Charge charge(&call().memory(), of_number * a.nnz());
    std::vector<mpz_class> whole(entries);
    double bits = 0; // of a number of matchings
    for (std::int32_t i = 0; i < a.rows; ++i) {
        if (a.row(i).empty()) continue;
        const mpq_class x = number(at(a.row_begin(i))) * denominator;
        std::fill(whole.begin() + a.row_begin(i), whole.begin() + a.row_begin(i + 1), x.get_num());
        const auto of_entry = static_cast<double>(mpz_sizeinbase(x.get_num_mpz_t(), 2));
        bits += static_cast<double>(row_count[i]) * (of_entry + std::log2(static_cast<double>(columns) + 1));
    }
    charge.grow(static_cast<std::int64_t>(std::min(0x1p60, bits / 8 * static_cast<double>(most + 1))));
    const auto numbers = ferrers_numbers(a, whole, row_count, column_count, at(most + 1));
    if (!numbers) return {};
    // With m_k D^k numbers, and q = p / d the product of both weights: sum m_k q^(most - k), by Horner's
    // rule.
    const mpq_class row = number(of_rows), column = number(of_columns);
    mpq_class q = row * column;
    const mpz_class p = q.get_num() * denominator, &d = q.get_den();
    mpz_class sum = 0, power = 1;
    for (const mpz_class &m : *numbers) {
        poll();
        sum = sum * p + m * power;
        power *= d;
    }
    mpq_class value(sum, power_of(mpz_class(d * denominator), most));
    value.canonicalize();
    return value * power_of(row, rows - most) * power_of(column, columns - most);
}

std::unique_ptr<Substitution> by_subsets(const LinearEntries &entries, const Options &options) {
    if (!may_serve(entries, options)) return nullptr;
    const Pattern &a = as_given(entries.input).pattern;
    const Charge charge(&call().memory(), a.nnz() * 64);
    auto values = real_entries(entries);
    if (!values) return nullptr;
    PolledSteps steps;
    const LineCounts rows = entries.row_count(), columns = entries.column_count();
    const double bits = entries.coefficient_size().bits;
    std::optional<MatchingSums> over_rows = MatchingSums::of(a, *values, rows, columns, bits);
    const Transposed turned = transpose(a);
    std::vector<mpz_class> in_columns;
    in_columns.reserve(turned.source.size());
    for (const std::int64_t k : turned.source) {
        steps.take(16);
        in_columns.push_back(std::move((*values)[at(k)]));
    }
    std::optional<MatchingSums> over_columns =
        MatchingSums::of(turned.pattern, in_columns, columns, rows, bits);
    const bool takes_rows =
        over_rows && (!over_columns || over_rows->serial_seconds() < over_columns->serial_seconds());
    std::optional<MatchingSums> &sums = takes_rows ? over_rows : over_columns;
    if (!sums) return nullptr;
    return std::make_unique<BySubsets>(entries, options, *std::move(sums));
}

std::unique_ptr<Substitution> of_nested_rows(const LinearEntries &entries, const Options &options) {
    if (!may_serve(entries, options)) return nullptr;
    const Pattern &a = as_given(entries.input).pattern;
    const Charge charge(&call().memory(), a.nnz() * 32);
    const auto values = real_entries(entries);
    if (!values) return nullptr;
    auto numbers =
        ferrers_numbers(a, *values, entries.row_count(), entries.column_count(), at(entries.count));
    if (!numbers) return nullptr;
    return std::make_unique<OfNestedRows>(entries, options, *std::move(numbers));
}

} // namespace libperm
