#include "kept_matrix.hpp"

namespace perm {
namespace {

template <class T> std::vector<T> vector_of(const void *first, std::int64_t count) {
    const T *begin = static_cast<const T *>(first);
    return begin ? std::vector<T>(begin, begin + count) : std::vector<T>();
}

} // namespace

KeptPattern pattern_of(const perm_csr &a) {
    KeptPattern pattern;
    pattern.n_cols = a.n_cols;
    if (a.row_ptr) pattern.row_ptr = vector_of<std::int64_t>(a.row_ptr, a.n_rows + 1);
    pattern.col_idx = vector_of<std::int64_t>(a.col_idx, a.nnz);
    pattern.row_multiplicity = vector_of<std::int64_t>(a.row_multiplicity, a.n_rows);
    pattern.col_multiplicity = vector_of<std::int64_t>(a.col_multiplicity, a.n_cols);
    pattern.value_type = a.value_type;
    return pattern;
}

perm_csr KeptPattern::csr() const {
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = std::ssize(row_ptr) - 1;
    a.n_cols = n_cols;
    a.nnz = nnz();
    a.row_ptr = row_ptr.data();
    a.col_idx = col_idx.data();
    a.index_type = PERM_INDEX_I64;
    a.value_type = value_type;
    if (!row_multiplicity.empty()) a.row_multiplicity = row_multiplicity.data();
    if (!col_multiplicity.empty()) a.col_multiplicity = col_multiplicity.data();
    return a;
}

bool KeptPattern::is_sound() const {
    const auto are = [](const std::vector<std::int64_t> &counts, std::int64_t lines) {
        return counts.empty() || std::ssize(counts) == lines;
    };
    return !row_ptr.empty() && n_cols >= 0 && are(row_multiplicity, std::ssize(row_ptr) - 1) &&
           are(col_multiplicity, n_cols) && PERM_VALUE_F64 <= value_type && value_type <= PERM_VALUE_TEXT;
}

bool KeptValues::are_of(const KeptPattern &a) const {
    const auto count = static_cast<std::size_t>(a.nnz());
    const std::int32_t type = a.value_type;
    const std::size_t per_entry = type == PERM_VALUE_C128 ? 2 : type == PERM_VALUE_F64 ? 1 : 0;
    return doubles.size() == per_entry * count && integers.size() == (type == PERM_VALUE_I64 ? count : 0) &&
           texts.size() == (type == PERM_VALUE_TEXT ? count : 0);
}

KeptValues values_of(const perm_csr &a) {
    KeptValues values;
    switch (a.value_type) {
    case PERM_VALUE_F64:
        values.doubles = vector_of<double>(a.values, a.nnz);
        break;
    case PERM_VALUE_C128:
        values.doubles = vector_of<double>(a.values, 2 * a.nnz);
        break;
    case PERM_VALUE_I64:
        values.integers = vector_of<std::int64_t>(a.values, a.nnz);
        break;
    case PERM_VALUE_TEXT:
        for (const char *text : vector_of<const char *>(a.values, a.nnz)) values.texts.emplace_back(text);
        break;
    default: // of a pattern there are none
        break;
    }
    return values;
}

ValuesView::ValuesView(const KeptValues &values, std::int32_t value_type) {
    for (const std::string &text : values.texts) texts_.push_back(text.c_str());
    if (value_type == PERM_VALUE_TEXT) data_ = texts_.data();
    if (value_type == PERM_VALUE_I64) data_ = values.integers.data();
    if (value_type == PERM_VALUE_F64 || value_type == PERM_VALUE_C128) data_ = values.doubles.data();
}

} // namespace perm
