#include "file_matrix.hpp"

#include "file_number.hpp"

#include <utility>

namespace perm {
namespace {

template <class Value, class IsZero>
void drop_zeros(Csr &a, std::vector<Value> &values, const IsZero &is_zero_value) {
    std::size_t kept = 0, k = 0;
    for (std::size_t row = 1; row < a.row_ptr.size(); ++row) {
        for (; k < static_cast<std::size_t>(a.row_ptr[row]); ++k) {
            if (is_zero_value(values[k])) continue;
            if (kept != k) values[kept] = std::move(values[k]);
            a.col_idx[kept] = a.col_idx[k];
            ++kept;
        }
        a.row_ptr[row] = static_cast<std::int64_t>(kept);
    }
    values.resize(kept);
    a.col_idx.resize(kept);
}

} // namespace

Csr without_zeros(Csr a) {
    const auto is_zero_value = [](const auto &x) { return x == 0.0; };
    if (!a.complex_values.empty())
        drop_zeros(a, a.complex_values, is_zero_value);
    else if (!a.pattern)
        drop_zeros(a, a.values, is_zero_value);
    return a;
}

FileMatrix without_zeros(FileMatrix a) {
    Csr &doubles = a;
    if (a.texts.empty())
        doubles = without_zeros(std::move(doubles));
    else
        drop_zeros(a, a.texts, is_zero_text);
    return a;
}

FileView::FileView(const FileMatrix &a) : csr_(a.view()) {
    if (!a.texts.empty()) {
        for (const std::string &text : a.texts) texts_.push_back(text.c_str());
        csr_.value_type = PERM_VALUE_TEXT;
        csr_.values = texts_.data();
    } else if (a.integers) {
        integers_.assign(a.values.begin(), a.values.end());
        csr_.value_type = PERM_VALUE_I64;
        csr_.values = integers_.data();
    }
}

} // namespace perm
