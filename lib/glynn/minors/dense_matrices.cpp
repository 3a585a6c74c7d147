#include "lib/glynn/minors/dense_matrices.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/input/dense.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace libperm {

DenseSide::DenseSide(std::int64_t lines, const std::int64_t *multiplicity, const char *what)
    : is_counted(multiplicity != nullptr) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    for (std::int64_t i = 0; i < lines; ++i) {
        const std::int64_t copies = multiplicity ? multiplicity[i] : 1;
        if (copies < 0 || copies > most)
            throw Error(PERM_BAD_MATRIX,
                        formatted("{}_multiplicity[{}] is {}: it must lie in 0..{}", what, i, copies, most));
        total += copies;
        if (copies == 0) continue;
        count.push_back(static_cast<int>(std::min<std::int64_t>(copies, 1 << 30)));
        line.push_back(i);
    }
}

void DenseSide::sort() {
    std::vector<std::size_t> order(count.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [this](std::size_t x, std::size_t y) { return count[x] > count[y]; });
    DenseSide sorted = *this;
    for (std::size_t k = 0; k < order.size(); ++k) {
        sorted.count[k] = count[order[k]];
        sorted.line[k] = line[order[k]];
    }
    *this = std::move(sorted);
}

void DenseSide::write_out() {
    std::vector<std::int64_t> lines;
    for (std::size_t k = 0; k < count.size(); ++k) lines.insert(lines.end(), at(count[k]), line[k]);
    line = std::move(lines);
    count.assign(line.size(), 1);
}

DenseMatrices::DenseMatrices(const perm_dense *a)
    : a_(require_dense(a)), is_complex_(a->value_type == PERM_VALUE_C128) {
    require_values();
}

void DenseMatrices::read(std::int64_t m, const DenseSide &down, const DenseSide &across, bool is_transposed,
                         GridMatrix &lines) const {
    const std::int64_t first = m * entries();
    for (int i = 0; i < down.kinds(); ++i)
        for (int j = 0; j < across.kinds(); ++j) {
            const std::int64_t x = down.line[at(i)], y = across.line[at(j)],
                               k = first + (is_transposed ? y * a_.n_cols + x : x * a_.n_cols + y);
            if (is_complex_) {
                lines.set(i, j, real(2 * k), real(2 * k + 1));
            } else if (a_.value_type == PERM_VALUE_I64) {
                lines.set(i, j, integer(k));
                if (std::fabs(integer(k)) >= 0x1p53) lines.tell_rounded(); // 2^53 + 1 is 2^53
            } else {
                lines.set(i, j, real(k));
            }
        }
}

std::string DenseMatrices::digest() const {
    const auto counts = [](const std::int64_t *multiplicity, std::int64_t lines) {
        return multiplicity ? std::vector(multiplicity, multiplicity + lines) : std::vector<std::int64_t>();
    };
    const std::size_t bytes = at(a_.count * entries()) * bytes_of_value(a_);
    std::string all = written(std::vector<std::int64_t>{a_.n_rows, a_.n_cols, a_.count, a_.value_type}) +
                      written(counts(a_.row_multiplicity, a_.n_rows)) +
                      written(counts(a_.col_multiplicity, a_.n_cols));
    if (bytes > 0) all.append(static_cast<const char *>(a_.values), bytes);
    return digest_of_bytes(all);
}

void DenseMatrices::require_values() const {
    const std::int64_t numbers = a_.count * entries();
    if (numbers > 0 && !a_.values) throw Error(PERM_BAD_ARGUMENT, "the values are a null pointer");
    if (a_.value_type == PERM_VALUE_I64) return;
    const std::int64_t per = static_cast<std::int64_t>(parts());
    for (std::int64_t k = 0; k < numbers * per; ++k)
        if (!std::isfinite(real(k)))
            throw Error(PERM_BAD_MATRIX, formatted("entry {} is {}", place(k / per),
                                                   std::isnan(real(k)) ? "not a number" : "infinite"));
}

std::string DenseMatrices::place(std::int64_t k) const {
    const std::int64_t in = k % entries();
    const std::string entry = formatted("({}, {})", in / a_.n_cols, in % a_.n_cols);
    return a_.count == 1 ? entry : formatted("{} of matrix {}", entry, k / entries());
}

} // namespace libperm
