#include "lib/polynomial/ferrers_numbers.hpp"

#include "preprocess/index.hpp"

#include <algorithm>

namespace libperm {
namespace {

constexpr double most_steps = 1e8;

} // namespace

std::optional<std::vector<mpz_class>> ferrers_numbers(const Pattern &a, const std::vector<mpz_class> &values,
                                                      const LineCounts &row_count,
                                                      const LineCounts &column_count, std::size_t count,
                                                      const Poll &poll) {
    if (static_cast<double>(row_count.sum()) * static_cast<double>(count) > most_steps) return {};
    PolledSteps steps(poll);
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

} // namespace libperm
