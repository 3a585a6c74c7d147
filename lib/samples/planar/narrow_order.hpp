// The lines of a block, rows or columns, in an order in which few lines of the other side are open at a time.
#pragma once

#include "preprocess/limits.hpp"
#include "preprocess/pattern.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// What crosses it is called a column, also where lines are columns.
struct OrderedLine {
    struct Entry {
        std::int32_t column;
        std::int64_t entry; // of the pattern
    };
    std::vector<Entry> entries;
    std::vector<std::int32_t> opens, closes; // columns whose first, whose last line it is
    std::int32_t left = 0, used = 0;         // behind it, of the open columns

    double numbers() const { return static_cast<double>(left) * used; }
};

struct NarrowOrder {
    std::vector<OrderedLine> lines;
    double products_back = 0; // of numbers, on the way back along all lines
    double products_shot = 0; // and of a shot, as expected

    double most_numbers() const; // behind a line
};

// Of a square pattern that has a perfect matching; it follows from the pattern alone.
NarrowOrder narrow_order(const Pattern &a);

} // namespace libperm
