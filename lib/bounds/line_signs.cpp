#include "lib/bounds/line_signs.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <vector>

namespace libperm {

// Signs whose products are those of the entries are looked for along a search of the lines.
int sign_by_lines(const Block &block) {
    const Pattern &a = block.pattern;
    const Transposed t = transpose(a);
    const auto n = at(a.rows);
    std::vector<int> sign(2 * n, 0); // 0: not met
    std::vector<std::size_t> waiting;
    for (std::size_t root = 0; root < n; ++root) {
        if (sign[root] != 0) continue;
        sign[root] = 1;
        waiting.push_back(root);
        while (!waiting.empty()) {
            const std::size_t line = waiting.back();
            waiting.pop_back();
            const bool is_row = line < n;
            const Pattern &of = is_row ? a : t.pattern;
            const auto number = static_cast<std::int32_t>(is_row ? line : line - n);
            std::int64_t k = of.row_begin(number);
            for (const std::int32_t j : of.row(number)) {
                const Tracked &x = block.values[at(is_row ? k : t.source[at(k)])];
                ++k;
                if (x.magnitude == 0) continue;
                if (range_of(x).first == 0) return 0; // and nobody knows its sign
                const int wanted = x.value < 0 ? -sign[line] : sign[line];
                int &other = sign[is_row ? n + at(j) : at(j)];
                if (other == 0) {
                    other = wanted;
                    waiting.push_back(is_row ? n + at(j) : at(j));
                } else if (other != wanted) {
                    return 0;
                }
            }
        }
    }
    return std::count(sign.begin(), sign.end(), -1) % 2 == 0 ? 1 : -1;
}

} // namespace libperm
