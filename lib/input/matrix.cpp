#include "lib/input/matrix.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/input/graph.hpp"
#include "lib/number/scaled.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace libperm {
namespace {

[[noreturn]] void bad_matrix(const std::string &text) { throw Error(PERM_BAD_MATRIX, text); }

template <class Index> std::int64_t load(const void *array, std::int64_t k) {
    return static_cast<std::int64_t>(static_cast<const Index *>(array)[k]);
}

// The caller's pattern, sorted: of n_rows x n_cols.
template <class Index> InputPattern read_as(const perm_csr &a, MemoryAccount *account) {
    PolledSteps steps;
    InputPattern input;
    Pattern &p = input.pattern;
    const std::int64_t n = a.n_rows;
    if (n > 0) {
        if (load<Index>(a.row_ptr, 0) != 0)
            bad_matrix(formatted("row_ptr[0] is {}, it must be 0 (indices are zero-based)",
                                 load<Index>(a.row_ptr, 0)));
        for (std::int64_t i = 0; i < n; ++i)
            if (load<Index>(a.row_ptr, i + 1) < load<Index>(a.row_ptr, i))
                bad_matrix(formatted("row_ptr decreases from {} to {} at row {}", load<Index>(a.row_ptr, i),
                                     load<Index>(a.row_ptr, i + 1), i));
        if (load<Index>(a.row_ptr, n) != a.nnz)
            bad_matrix(formatted("row_ptr ends at {}, but nnz is {}", load<Index>(a.row_ptr, n), a.nnz));
    } else if (a.nnz != 0) {
        bad_matrix(formatted("a matrix of 0 rows cannot have nnz = {}", a.nnz));
    }
    constexpr std::int64_t most = std::int64_t{1} << 56;
    const Charge charge(account, 8 * n + 4 * std::min(a.nnz, most));
    p.rows = static_cast<std::int32_t>(n);
    p.cols = static_cast<std::int32_t>(a.n_cols);
    p.row_ptr.assign(at(n) + 1, 0);
    for (std::int64_t i = 0; i < n; ++i) p.row_ptr[at(i) + 1] = load<Index>(a.row_ptr, i + 1);

    p.col.resize(at(a.nnz));
    bool sorted = true;
    for (std::int64_t i = 0; i < n; ++i) {
        steps.take(1 + p.row_ptr[at(i) + 1] - p.row_ptr[at(i)]);
        for (std::int64_t k = p.row_ptr[at(i)]; k < p.row_ptr[at(i) + 1]; ++k) {
            const std::int64_t j = load<Index>(a.col_idx, k);
            if (j < 0 || j >= a.n_cols)
                bad_matrix(formatted("col_idx[{}] is {} in row {}: columns must lie in 0..{} (zero-based)", k,
                                     j, i, a.n_cols - 1));
            p.col[at(k)] = static_cast<std::int32_t>(j);
            sorted = sorted && (k == p.row_ptr[at(i)] || p.col[at(k) - 1] < p.col[at(k)]);
        }
    }
    if (sorted) return input;

    input.source.resize(at(a.nnz));
    std::iota(input.source.begin(), input.source.end(), std::int64_t{0});
    std::vector<std::int32_t> col(at(a.nnz));
    for (std::int64_t i = 0; i < n; ++i) {
        steps.take(1 + 16 * (p.row_ptr[at(i) + 1] - p.row_ptr[at(i)]));
        const auto begin = input.source.begin() + p.row_ptr[at(i)];
        const auto end = input.source.begin() + p.row_ptr[at(i) + 1];
        std::sort(begin, end, [&p](std::int64_t x, std::int64_t y) { return p.col[at(x)] < p.col[at(y)]; });
        for (std::int64_t k = p.row_ptr[at(i)]; k < p.row_ptr[at(i) + 1]; ++k) {
            col[at(k)] = p.col[at(input.source[at(k)])];
            if (k > p.row_ptr[at(i)] && col[at(k)] == col[at(k) - 1])
                bad_matrix(formatted("duplicate entry: row {} holds column {} twice; add the two up first", i,
                                     col[at(k)]));
        }
    }
    p.col = std::move(col);
    return input;
}

void check_sizes(const perm_csr &a) {
    if (a.n_rows < 0 || a.n_cols < 0 || a.nnz < 0)
        bad_matrix(formatted("negative size: n_rows = {}, n_cols = {}, nnz = {}", a.n_rows, a.n_cols, a.nnz));
    if (std::max(a.n_rows, a.n_cols) > std::numeric_limits<std::int32_t>::max() - 1)
        throw Error(PERM_UNSUPPORTED,
                    formatted("{} lines are more than this version can index", std::max(a.n_rows, a.n_cols)));
    if (a.n_rows > 0 && a.nnz / a.n_rows > a.n_cols)
        bad_matrix(
            formatted("nnz is {}: a {}x{} matrix cannot hold so many entries", a.nnz, a.n_rows, a.n_cols));
    if (a.index_type != PERM_INDEX_I32 && a.index_type != PERM_INDEX_I64)
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("index_type {} is none of PERM_INDEX_I64, PERM_INDEX_I32", a.index_type));
    if (a.value_type < PERM_VALUE_F64 || a.value_type > PERM_VALUE_TEXT)
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("value_type {} is none of the perm_value_type constants", a.value_type));
    if (a.n_rows > 0 && !a.row_ptr) throw Error(PERM_BAD_ARGUMENT, "row_ptr is a null pointer");
    if (a.nnz > 0 && !a.col_idx) throw Error(PERM_BAD_ARGUMENT, "col_idx is a null pointer");
}

// One value of the caller's, as it is.
class ValueReader {
  public:
    ValueReader(perm_value_type type, const void *values) : type_(type), values_(values) {}

    // Whether the value is a double; else it is `wide`.
    bool read(std::int64_t k, double &real, Gaussian &wide) const {
        switch (type_) {
        case PERM_VALUE_F64:
            real = finite(static_cast<const double *>(values_)[k]);
            return true;
        case PERM_VALUE_C128: {
            const double *parts = static_cast<const double *>(values_) + 2 * k;
            wide = {mpq_class(finite(parts[0])), mpq_class(finite(parts[1]))};
            return false;
        }
        case PERM_VALUE_I64: {
            const std::int64_t x = static_cast<const std::int64_t *>(values_)[k];
            real = static_cast<double>(x);
            constexpr std::int64_t fits = std::int64_t{1} << 53;
            if (-fits <= x && x <= fits) return true;
            wide = {mpq_class(mpz_class(static_cast<long>(x))), 0};
            return false;
        }
        case PERM_VALUE_TEXT: {
            const char *text = static_cast<const char *const *>(values_)[k];
            if (!text) throw std::invalid_argument("a null pointer");
            const auto parsed = parse_number(text);
            if (!parsed)
                throw std::invalid_argument(formatted(
                    "\"{:.40}\", no number such as -12, 0.125, 6e23, 1/3, or two of them for a complex one",
                    text));
            wide = *parsed;
            return false;
        }
        case PERM_VALUE_PATTERN:
            break;
        }
        real = 1;
        return true;
    }

  private:
    static double finite(double x) {
        if (!std::isfinite(x))
            throw std::invalid_argument(
                formatted("{}: every value must be finite", std::isnan(x) ? "NaN" : "infinite"));
        return x;
    }

    perm_value_type type_;
    const void *values_;
};

Gaussian widened(double x) { return {mpq_class(x), 0}; }

} // namespace

const char *difference(const InputPattern &x, const InputPattern &y) {
    const InputPattern &a = as_given(x), &b = as_given(y);
    const auto same_pattern = [](const Pattern &p, const Pattern &q) {
        return p.rows == q.rows && p.cols == q.cols && p.row_ptr == q.row_ptr && p.col == q.col &&
               p.one_sided == q.one_sided;
    };
    if (a.row_weights != b.row_weights || a.col_weights != b.col_weights)
        return "lines that may stay unmatched";
    if (a.pattern.rows != b.pattern.rows || a.pattern.cols != b.pattern.cols) return "rows and columns";
    if (!same_pattern(a.pattern, b.pattern) || a.source != b.source) return "entries";
    if (a.value_type != b.value_type || x.value_type != y.value_type) return "kind of numbers";
    const bool same_counts = same_pattern(x.pattern, y.pattern) && x.source == y.source &&
                             x.free_rows == y.free_rows && x.free_columns == y.free_columns &&
                             x.repeats == y.repeats;
    return same_counts ? nullptr : "multiplicities";
}

namespace {

perm_csr checked(const perm_csr *given) {
    if (!given) throw Error(PERM_BAD_ARGUMENT, "the matrix is a null pointer");
    constexpr std::size_t first_version = offsetof(perm_csr, row_multiplicity);
    const perm_csr a = read_known(*given, first_version, "perm_csr");
    check_sizes(a);
    return a;
}

InputPattern read_as_given(const perm_csr &a, MemoryAccount *account) {
    InputPattern input = a.index_type == PERM_INDEX_I32 ? read_as<std::int32_t>(a, account)
                                                        : read_as<std::int64_t>(a, account);
    input.value_type = static_cast<perm_value_type>(a.value_type);
    input.row_weights = a.row_unmatched != nullptr;
    input.col_weights = a.col_unmatched != nullptr;
    if (!input.source.empty())
        for (std::int64_t k = a.nnz; k < value_count(input); ++k) input.source.push_back(k);
    return input;
}

} // namespace

InputPattern read_rectangle(const perm_csr *given, MemoryAccount *account) {
    const perm_csr a = checked(given);
    if (a.row_multiplicity || a.col_multiplicity) bad_matrix("its lines have multiplicities: write them out");
    if (a.row_unmatched || a.col_unmatched)
        throw Error(PERM_UNSUPPORTED, "of a matrix of equal cells no line may stay unmatched");
    if (a.n_rows > a.n_cols)
        bad_matrix(
            formatted("the matrix has {} rows and {} columns: more rows than columns", a.n_rows, a.n_cols));
    return read_as_given(a, account);
}

std::optional<InputPattern> read_as_two_sided_graph(const perm_csr *given, MemoryAccount *account) {
    const perm_csr a = checked(given);
    constexpr std::int64_t least_lines = 16; // of fewer, either way takes microseconds
    constexpr double fullest = 0.25;
    if (!a.row_unmatched || !a.col_unmatched || a.n_rows + a.n_cols < least_lines ||
        static_cast<double>(a.nnz) > fullest * static_cast<double>(a.n_rows) * static_cast<double>(a.n_cols))
        return {};
    return as_two_sided_graph(read_as_given(a, account), LineCounts(a.row_multiplicity, a.n_rows, "row"),
                              LineCounts(a.col_multiplicity, a.n_cols, "col"), account);
}

InputPattern read_free(const perm_csr *given, MatrixFunction function, MemoryAccount *account) {
    perm_csr a = checked(given);
    if (a.row_unmatched || a.col_unmatched)
        throw Error(PERM_BAD_ARGUMENT,
                    "row_unmatched and col_unmatched must be NULL here: every line may stay unmatched");
    a.row_unmatched = &a; // any place: what stands there is not read
    if (function == MatrixFunction::permanent) a.col_unmatched = &a;
    return read_pattern(&a, function, account);
}

InputPattern read_once(const perm_csr *given, MemoryAccount *account) {
    const perm_csr a = checked(given);
    InputPattern input = read_as_given(a, account);
    LineCounts(a.row_multiplicity, a.n_rows, "row"); // which are checked
    LineCounts(a.col_multiplicity, a.n_cols, "col");
    return input;
}

InputPattern read_pattern(const perm_csr *given, MemoryAccount *account) {
    const perm_csr a = checked(given);
    InputPattern input = read_as_given(a, account);
    const LineCounts row_count(a.row_multiplicity, a.n_rows, "row");
    const LineCounts column_count(a.col_multiplicity, a.n_cols, "col");
    const bool repeats = a.row_multiplicity || a.col_multiplicity;
    if (row_count.sum() == column_count.sum() && !repeats && !input.row_weights && !input.col_weights)
        return input;
    input = written_out(std::move(input), row_count, column_count, account);
    input.multiplied = repeats;
    input.repeats = repeats || std::max(input.free_rows, input.free_columns) > 1;
    return input;
}

InputPattern read_pattern(const perm_csr *given, MatrixFunction function, MemoryAccount *account) {
    if (function == MatrixFunction::permanent) return read_pattern(given, account);
    const perm_csr a = checked(given);
    const bool are_same = !a.col_multiplicity ||
                          (a.row_multiplicity && a.n_rows == a.n_cols &&
                           std::equal(a.row_multiplicity, a.row_multiplicity + a.n_rows, a.col_multiplicity));
    if (!are_same)
        throw Error(PERM_BAD_ARGUMENT,
                    "rows and columns are the same lines of a hafnian: give their multiplicities "
                    "in row_multiplicity alone, or the same ones in both");
    InputPattern input = read_as_given(a, account);
    return as_graph(std::move(input), LineCounts(a.row_multiplicity, a.n_rows, "row"),
                    function == MatrixFunction::loop_hafnian, account);
}

Values spread(const Values &written, const std::vector<std::int64_t> &source) {
    Values out;
    PolledSteps steps;
    written.wide.empty() ? out.real.reserve(source.size()) : out.wide.reserve(source.size());
    for (const std::int64_t k : source) {
        steps.take(written.wide.empty() ? 1 : 64);
        if (written.wide.empty())
            out.real.push_back(k < 0 ? 1 : written.real[at(k)]);
        else
            out.wide.push_back(k < 0 ? widened(1) : written.wide[at(k)]);
    }
    return out;
}

std::size_t size_of(perm_value_type type) {
    static_assert(sizeof(double) == sizeof(std::int64_t));
    if (type == PERM_VALUE_C128) return 2 * sizeof(double);
    return type == PERM_VALUE_TEXT ? sizeof(const char *) : sizeof(double);
}

std::string place_of(const InputPattern &given, std::int64_t value) {
    const Pattern &a = given.pattern;
    const std::int64_t line = value - a.nnz(), rows = given.row_weights ? a.rows : 0;
    if (line < 0) {
        const auto after = std::upper_bound(a.row_ptr.begin(), a.row_ptr.end(), value);
        return formatted("the value at row {}, column {}", after - a.row_ptr.begin() - 1, a.col[at(value)]);
    }
    return line < rows ? formatted("the weight of leaving row {} unmatched", line)
                       : formatted("the weight of leaving column {} unmatched", line - rows);
}

void check_stride(const InputPattern &input, std::int64_t stride, std::int64_t count) {
    if (count < 0) throw Error(PERM_BAD_ARGUMENT, "count is negative");
    const std::int64_t given = values_given(input);
    if (count > 0 && stride != 0 && stride < given)
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("stride is {}, but a matrix has {} values: the next one's begin after these, "
                              "or with stride 0 it is the same",
                              stride, given));
}

GivenValues::GivenValues(const InputPattern &input, const perm_csr &a) : data_(a.values) {
    const InputPattern &given = as_given(input);
    if (given.value_type == PERM_VALUE_PATTERN || (!given.row_weights && !given.col_weights)) return;
    if (given.pattern.nnz() > 0 && !a.values) return; // which is told of
    const std::size_t each = size_of(given.value_type);
    joined_.resize(at(value_count(given)) * each);
    std::byte *to = joined_.data();
    const auto append = [&](const void *from, std::int64_t count) {
        if (count > 0) std::memcpy(to, from, at(count) * each);
        to += at(count) * each;
    };
    append(a.values, given.pattern.nnz());
    if (given.row_weights) append(a.row_unmatched, given.pattern.rows);
    if (given.col_weights) append(a.col_unmatched, given.pattern.cols);
    data_ = joined_.data();
}

Values read_values(const InputPattern &input, const void *values, MemoryAccount *account) {
    const std::size_t count = at(value_count(input));
    constexpr std::size_t of_exact = sizeof(Gaussian) + 3 * 32; // with short digits
    const bool exact = input.value_type == PERM_VALUE_C128 || input.value_type == PERM_VALUE_TEXT;
    const Charge charge(account, static_cast<std::int64_t>((exact ? of_exact : sizeof(double)) * count));
    if (input.value_type == PERM_VALUE_PATTERN) {
        if (values) throw Error(PERM_BAD_ARGUMENT, "a pattern matrix has no values: pass NULL");
        return {std::vector<double>(count, 1.0), {}};
    }
    if (input.written) {
        const Values written = read_values(*input.written, values, account);
        const bool is_of_two_sides = input.written->col_weights; // the matrix, of which the graph is one
        if (input.pattern.one_sided && !is_of_two_sides) require_symmetric(*input.written, written);
        return spread(written, input.source);
    }
    if (count > 0 && !values)
        throw Error(PERM_BAD_ARGUMENT,
                    "values is a null pointer; use PERM_VALUE_PATTERN if every entry is 1");
    Values out;
    out.real.reserve(count);
    const ValueReader reader(input.value_type, values);
    PolledSteps steps;
    for (std::size_t k = 0; k < count; ++k) {
        steps.take(out.wide.empty() ? 2 : 32);
        double real = 1;
        Gaussian wide;
        try {
            const bool is_real = reader.read(
                input.source.empty() ? static_cast<std::int64_t>(k) : input.source[k], real, wide);
            if (!is_real && out.wide.empty()) { // the first: all of them from now on
                out.wide.reserve(count);
                for (const double x : out.real) out.wide.push_back(widened(x));
                out.real.clear();
            }
            if (!is_real)
                out.wide.push_back(std::move(wide));
            else if (out.wide.empty())
                out.real.push_back(real);
            else
                out.wide.push_back(widened(real));
        } catch (const std::invalid_argument &error) {
            bad_matrix(place_of(input, static_cast<std::int64_t>(k)) + " is " + error.what());
        }
    }
    return out;
}

namespace {

template <class Value, class IsZero>
void drop(Pattern &pattern, std::vector<Value> &values, const IsZero &is_zero_value) {
    if (std::find_if(values.begin(), values.end(), is_zero_value) == values.end()) return;
    std::size_t kept = 0;
    std::int64_t k = 0;
    for (std::int32_t i = 0; i < pattern.rows; ++i) {
        const std::int64_t end = pattern.row_ptr[at(i) + 1];
        for (; k < end; ++k)
            if (!is_zero_value(values[at(k)])) {
                if (kept != at(k)) values[kept] = std::move(values[at(k)]);
                pattern.col[kept++] = pattern.col[at(k)];
            }
        pattern.row_ptr[at(i) + 1] = static_cast<std::int64_t>(kept);
    }
    pattern.col.resize(kept);
    values.resize(kept);
}

} // namespace

void simplify(InputPattern &input, Values &values) {
    if (input.value_type == PERM_VALUE_C128 &&
        std::all_of(values.wide.begin(), values.wide.end(), [](const Gaussian &x) { return is_real(x); })) {
        for (const Gaussian &x : values.wide) values.real.push_back(x.re.get_d()); // it was one
        values.wide.clear();
        input.value_type = PERM_VALUE_F64;
    }
    input.source.clear(); // it has done its work
    input.written.reset();
    drop(input.pattern, values.real, [](double x) { return x == 0; });
    drop(input.pattern, values.wide, [](const Gaussian &x) { return is_zero(x); });
}

bool some_negative(const Values &values) {
    return std::any_of(values.real.begin(), values.real.end(), [](double x) { return x < 0; }) ||
           std::any_of(values.wide.begin(), values.wide.end(),
                       [](const Gaussian &x) { return x.re < 0 || !is_real(x); });
}

bool some_long(const Values &values) {
    constexpr int most = 24;
    const auto is_long = [](const mpq_class &x) {
        const mpz_class &z = x.get_num();
        return z != 0 && mpz_sizeinbase(z.get_mpz_t(), 2) - mpz_scan1(z.get_mpz_t(), 0) > most;
    };
    return std::any_of(values.real.begin(), values.real.end(),
                       [](double x) { return static_cast<double>(static_cast<float>(x)) != x; }) ||
           std::any_of(values.wide.begin(), values.wide.end(),
                       [&](const Gaussian &x) { return is_long(x.re) || is_long(x.im); });
}

bool some_complex(const Values &values) {
    return std::any_of(values.wide.begin(), values.wide.end(), [](const Gaussian &x) { return !is_real(x); });
}

std::int64_t bytes_of(const Values &values) {
    std::int64_t bytes = static_cast<std::int64_t>(values.real.size() * sizeof(double));
    for (const Gaussian &x : values.wide) bytes += number_bytes(x);
    return bytes;
}

std::string digest_of(const Values &values) {
    std::string bytes(reinterpret_cast<const char *>(values.real.data()),
                      values.real.size() * sizeof(double));
    for (const Gaussian &x : values.wide) bytes += x.re.get_str(62) + ' ' + x.im.get_str(62) + '\n';
    return digest_of_bytes(bytes);
}

const perm_dense &require_dense(const perm_dense *a) {
    if (!a) throw Error(PERM_BAD_ARGUMENT, "the matrix is a null pointer");
    if (a->struct_size < sizeof(perm_dense))
        throw Error(PERM_BAD_ARGUMENT, "perm_dense.struct_size is too small: start from PERM_DENSE_INIT");
    constexpr std::int64_t most = std::int64_t{1} << 20;
    if (a->n_rows < 0 || a->n_cols < 0 || a->n_rows > most || a->n_cols > most)
        throw Error(PERM_BAD_MATRIX, formatted("a dense matrix has 0 to {} rows and columns, not {} x {}",
                                               most, a->n_rows, a->n_cols));
    if (a->count < 0 || a->count > std::int64_t{1} << 40)
        throw Error(PERM_BAD_ARGUMENT, formatted("there are {} matrices to be read", a->count));
    if (a->value_type != PERM_VALUE_F64 && a->value_type != PERM_VALUE_C128 &&
        a->value_type != PERM_VALUE_I64)
        throw Error(PERM_BAD_ARGUMENT, formatted("value_type {} is not one of a dense matrix: use "
                                                 "PERM_VALUE_F64, PERM_VALUE_C128 or PERM_VALUE_I64",
                                                 a->value_type));
    if (a->reserved != 0) throw Error(PERM_BAD_ARGUMENT, "perm_dense.reserved must be 0");
    return *a;
}

} // namespace libperm
