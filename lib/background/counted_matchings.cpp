#include "lib/background/counted_matchings.hpp"

#include "lib/run/errors.hpp"
#include "lib/run/pieces.hpp"
#include "lib/structure/find_background.hpp"
#include "preprocess/index.hpp"
#include "preprocess/matching.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace libperm {
namespace {

Pattern rows_of_class(const Pattern &a, const std::vector<std::int32_t> &classes, std::int32_t c) {
    Pattern of;
    of.rows = a.rows;
    of.cols = a.cols;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        const auto row = a.row(i);
        if (classes[at(i)] == c) of.col.insert(of.col.end(), row.begin(), row.end());
        of.row_ptr.push_back(std::ssize(of.col));
    }
    return of;
}

std::vector<ClassCounts::Class> classes_of(const Pattern &a, const std::vector<std::int32_t> &classes,
                                           std::size_t count) {
    std::vector<ClassCounts::Class> out;
    for (std::int32_t c = 0; c < static_cast<std::int32_t>(count); ++c)
        out.push_back({static_cast<std::int32_t>(std::count(classes.begin(), classes.end(), c)),
                       maximum_matching(rows_of_class(a, classes, c)).size});
    return out;
}

std::vector<ClassCounts::Class *> all_of(ClassCounts &counts) {
    std::vector<ClassCounts::Class *> classes;
    for (auto *lines : {&counts.rows, &counts.cols})
        for (ClassCounts::Class &c : *lines) classes.push_back(&c);
    return classes;
}

void join(ClassCounts &counts, const Background &b) {
    const std::vector<ClassCounts::Class *> classes = all_of(counts);
    for (std::size_t c = 0; c < classes.size(); ++c) classes[c]->component = c;
    for (std::int32_t i = 0; i < b.beside.rows; ++i)
        for (const std::int32_t j : b.beside.row(i)) {
            const std::size_t of_row = counts.rows[at(b.row_class[at(i)])].component,
                              of_col = counts.cols[at(b.col_class[at(j)])].component;
            if (of_row == of_col) continue;
            for (ClassCounts::Class *c : classes)
                if (c->component == of_col) c->component = of_row;
        }
}

} // namespace

std::size_t ClassCounts::of_entry(const Background &b, std::int32_t i, std::int32_t j) const {
    return rows[at(b.row_class[at(i)])].stride + cols[at(b.col_class[at(j)])].stride;
}

ClassCounts class_counts(const Background &b) {
    ClassCounts counts{classes_of(b.beside, b.row_class, b.base_rows.size()),
                       classes_of(transpose(b.beside).pattern, b.col_class, b.base_cols.size())};
    join(counts, b);
    std::vector<ClassCounts::Class *> classes = all_of(counts);
    const std::size_t components = classes.size();
    for (std::size_t component = 0; component < components; ++component) {
        auto most = classes.end();
        for (auto c = classes.begin(); c != classes.end(); ++c)
            if ((*c)->component == component && (most == classes.end() || (*c)->most > (*most)->most))
                most = c;
        if (most != classes.end()) classes.erase(most);
    }
    double numbers = 1;
    for (const ClassCounts::Class *c : classes) numbers *= c->most + 1.0;
    if (numbers > most_counts) return {};
    for (ClassCounts::Class *c : classes) {
        c->stride = counts.numbers;
        counts.numbers *= at(c->most) + 1;
    }
    return counts;
}

namespace {

using Classes = std::vector<ClassCounts::Class>;

// The fewer classes are variables, so that products have few coefficients.
bool are_columns_variables(const ClassCounts &counts) { return counts.cols.size() <= counts.rows.size(); }

// With the most lines last, whose exponent is not told.
std::vector<std::size_t> order_of_variables(const Classes &classes) {
    std::vector<std::size_t> order(classes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t t) { return classes[t].lines; });
    return order;
}

} // namespace

// The products are gone through form by form, each from its least power on.
struct Rests::Sum {
    const Rests &of;
    const std::function<std::uint64_t(std::size_t)> &weight;
    PolledSteps steps;
    std::array<std::int32_t, 2 * most_classes> taken{}; // of the forms' lines, by component
    std::uint64_t value = 0;

    void add_powers(std::size_t f, Polynomial product, std::size_t count, std::int32_t all) {
        if (f == of.forms_.size()) return add_exponents(0, product, 0, count, all, of.field_.to(1));
        const Form &form = of.forms_[f];
        for (std::int32_t k = form.most; k >= 0; --k) {
            steps.take(8 * std::ssize(product));
            taken[form.component] += k;
            add_powers(f + 1, product, count + at(k) * form.stride, all + k);
            taken[form.component] -= k;
            if (k > 0) of.multiply(product, form);
        }
    }

    // `left`: lines that the variables from t on have lost.
    void add_exponents(std::size_t t, const Polynomial &product, std::size_t place, std::size_t count,
                       std::int32_t left, std::uint64_t factor) {
        const Variable &x = of.variables_[t];
        const bool is_last = t + 1 == of.variables_.size();
        std::int32_t &of_component = taken[x.component];
        const std::int32_t most = std::min(of_component, x.most);
        for (std::int32_t k = is_last ? left : 0; k <= most; ++k) {
            steps.take(8);
            const std::size_t others = at(x.lines - k), there = place + others * x.step,
                              of_count = count + at(k) * x.stride;
            const std::uint64_t next = of.field_.multiply(factor, of.factorial_[others]);
            if (is_last) {
                value = of.field_.add(value, of.field_.multiply(of.field_.multiply(next, product[there]),
                                                                of.field_.to(weight(of_count))));
                break;
            }
            of_component -= k;
            add_exponents(t + 1, product, there, of_count, left - k, next);
            of_component += k;
        }
    }
};

Rests::Rests(const Montgomery &field, const ClassCounts &counts, const std::vector<std::uint64_t> &classes)
    : field_(field) {
    const bool by_columns = are_columns_variables(counts);
    const Classes &forms = by_columns ? counts.rows : counts.cols,
                  &variables = by_columns ? counts.cols : counts.rows;
    const std::vector<std::size_t> order = order_of_variables(variables);
    std::size_t step = 1;
    for (const std::size_t t : order) {
        const auto &[lines, most, component, stride] = variables[t];
        const bool is_last = variables_.size() + 1 == variables.size();
        variables_.push_back({lines, most, component, stride, is_last ? 0 : step});
        if (!is_last) step *= at(lines) + 1;
    }
    for (std::size_t f = 0; f < forms.size(); ++f) {
        forms_.push_back({forms[f].lines, forms[f].most, forms[f].component, forms[f].stride, {}});
        for (const std::size_t t : order)
            forms_.back().coefficients.push_back(
                classes[by_columns ? f * variables.size() + t : t * forms.size() + f]);
    }
    for (std::size_t place = 0; place < step; ++place) {
        std::uint8_t has = 0;
        for (std::size_t t = 0; t + 1 < variables_.size(); ++t)
            if (place / variables_[t].step % (at(variables_[t].lines) + 1) != 0)
                has = static_cast<std::uint8_t>(has | 1U << t);
        has_.push_back(has);
    }
    std::int32_t n = 0;
    for (const Variable &x : variables_) n += x.lines;
    factorial_.push_back(field.to(1));
    for (std::int32_t k = 1; k <= n; ++k)
        factorial_.push_back(field.multiply(factorial_.back(), field.to(at(k))));
}

void Rests::multiply(Polynomial &a, const Form &by) const {
    for (std::size_t place = a.size(); place-- > 0;) {
        std::uint64_t sum = field_.multiply(a[place], by.coefficients.back());
        for (std::size_t t = 0; t + 1 < variables_.size(); ++t)
            if (has_[place] >> t & 1U)
                sum = field_.add(sum, field_.multiply(a[place - variables_[t].step], by.coefficients[t]));
        a[place] = sum;
    }
}

std::uint64_t Rests::sum(const std::function<std::uint64_t(std::size_t)> &weight) const {
    Polynomial product(has_.size());
    product.front() = field_.to(1);
    Sum sum{*this, weight, PolledSteps()};
    for (const Form &form : forms_)
        for (std::int32_t k = form.most; k < form.lines; ++k) {
            sum.steps.take(8 * std::ssize(product));
            multiply(product, form);
        }
    sum.add_powers(0, std::move(product), 0, 0);
    return sum.value;
}

double coefficients_of_rests(const ClassCounts &counts) {
    const Classes &variables = are_columns_variables(counts) ? counts.cols : counts.rows;
    double product = 1;
    std::int32_t largest = 0;
    for (const ClassCounts::Class &x : variables) {
        product *= x.lines + 1.0;
        largest = std::max(largest, x.lines);
    }
    return product / (largest + 1.0);
}

double products_of_rests(const ClassCounts &counts) {
    const bool by_columns = are_columns_variables(counts);
    double multiplied = 0, powers = 1;
    for (const ClassCounts::Class &form : by_columns ? counts.rows : counts.cols) {
        multiplied += form.lines - form.most + powers * form.most;
        powers *= form.most + 1.0;
    }
    const auto variables = static_cast<double>((by_columns ? counts.cols : counts.rows).size());
    return multiplied * coefficients_of_rests(counts) * variables + 3 * static_cast<double>(counts.numbers);
}

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
