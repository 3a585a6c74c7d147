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

} // namespace libperm
