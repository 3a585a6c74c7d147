#include "preprocess/partitioning.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {

double resident_threads(int registers) {
    constexpr int most_registers = 255, unit = 8, warp = 32;
    constexpr int parts = 4, registers_of_part = 65536 / parts, most_threads = 2048;
    const int wanted = registers + registers_beside_x;
    if (wanted > most_registers) return 0;
    const int given = (wanted + unit - 1) / unit * unit;
    return std::min(registers_of_part / (given * warp) * warp * parts, most_threads);
}

Partition partition(const Pattern &at, const PartitionOptions &options) {
    const std::int32_t n = at.cols;
    Partition best;
    best.score.reserve(static_cast<std::size_t>(at.rows));
    double best_score = 0;
    std::int32_t rows = 0; // touched by the columns so far
    for (std::int32_t j = 0; j < at.rows; ++j) {
        const auto column = at.row(j);
        if (!column.empty()) rows = std::max(rows, column.back() + 1);
        const int registers = 2 * rows;                  // x is double, a register has 32 bits
        const double beyond = std::ldexp(1.0, -(j + 1)); // share of the steps that flip a later column
        const double cost = registers * (1 - beyond) + (n - rows) * beyond * options.global_to_register;
        const double score = options.threads(registers) / cost;
        best.score.push_back(score);
        // A column that needs no further row is taken even when that lowers the score to beat (line 14).
        if (score > best_score || rows == best.k) {
            best_score = score;
            best.k = rows;
            best.c = j + 1;
        }
    }
    return best;
}

} // namespace libperm
