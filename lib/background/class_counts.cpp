#include "lib/background/class_counts.hpp"

#include "preprocess/index.hpp"
#include "preprocess/matching.hpp"

#include <algorithm>

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

} // namespace

std::size_t ClassCounts::of_entry(const Background &b, std::int32_t i, std::int32_t j) const {
    return rows[at(b.row_class[at(i)])].stride + cols[at(b.col_class[at(j)])].stride;
}

ClassCounts class_counts(const Background &b) {
    ClassCounts counts{classes_of(b.beside, b.row_class, b.base_rows.size()),
                       classes_of(transpose(b.beside).pattern, b.col_class, b.base_cols.size())};
    std::vector<ClassCounts::Class *> classes;
    for (auto *lines : {&counts.rows, &counts.cols})
        for (ClassCounts::Class &c : *lines) classes.push_back(&c);
    classes.erase(std::ranges::max_element(classes, {}, &ClassCounts::Class::most));
    double numbers = 1;
    for (const ClassCounts::Class *c : classes) numbers *= c->most + 1.0;
    if (numbers > most_counts) return {};
    for (ClassCounts::Class *c : classes) {
        c->stride = counts.numbers;
        counts.numbers *= at(c->most) + 1;
    }
    return counts;
}

} // namespace libperm
