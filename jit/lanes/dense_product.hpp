// Products of dense matrices of doubles on a CPU, or of twice as many digits: panel by panel, in vectors.
//
// Each number of the product is summed in one order: over chunks of the inner index, in a chunk from 0 on by
// fma, the chunks' sums then added up. So the bits are the same on every processor, and however the work is
// shared. By chunks a sum of n products has dense_chunk + n / dense_chunk roundings on a term's way, not n.
#pragma once

#include <cstddef>

namespace libperm {

constexpr std::size_t dense_chunk = 256;
constexpr std::size_t panel_rows = 8, panel_columns = 24; // of the left matrix, of the right one

// Of so many rows (columns) in panels, the last filled up with zeros.
constexpr std::size_t panels_of(std::size_t lines, std::size_t panel) { return (lines + panel - 1) / panel; }

// What lies as panels: for each of them, by the inner index, its lines side by side.
void pack_rows(const double *a, std::size_t rows, std::size_t inner, std::size_t panel, double *packed);
void pack_columns(const double *b, std::size_t columns, std::size_t inner, std::size_t panel, double *packed);

// c += a b, of one panel of each and of a part of the inner index: dense_chunk of it, or what is left at its
// end.
struct DensePanels {
    const double *a, *b; // packed
    std::size_t inner;
    double *c;
    std::size_t stride, rows, columns; // of c, from one row to the next; rows and columns of the panels
};
void add_panel_product(const DensePanels &panels);

// The same with a, b and c in two parts (number::DD): all sums go on where they are.
struct DenseDdPanels {
    DensePanels hi;
    const double *a_lo, *b_lo;
    double *c_lo;
};
void add_panel_product(const DenseDdPanels &panels);

} // namespace libperm
