#include "lib/background/rests.hpp"

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

} // namespace libperm
