#include "capi/saved_task.hpp"

#include "lib/base/error.hpp"
#include "lib/input/matrix.hpp"
#include "lib/run/call.hpp"
#include "lib/run/task_parts.hpp"
#include "lib/saved/bytes.hpp"

#include <cstddef>
#include <limits>

namespace capi {
namespace {

template <class T> std::vector<T> vector_of(const void *first, std::int64_t count) {
    const T *begin = static_cast<const T *>(first);
    return begin ? std::vector<T>(begin, begin + count) : std::vector<T>();
}

std::vector<std::int64_t> indexes(const void *first, std::int64_t count, std::int32_t type) {
    if (type != PERM_INDEX_I32) return vector_of<std::int64_t>(first, count);
    const std::vector<std::int32_t> narrow = vector_of<std::int32_t>(first, count);
    return {narrow.begin(), narrow.end()};
}

const std::int64_t *data_or_null(const std::vector<std::int64_t> &numbers) {
    return numbers.empty() ? nullptr : numbers.data();
}

GivenMatrix part_of(const perm_csr *given) {
    if (!given) return {};
    const perm_csr a = libperm::read_known(*given, offsetof(perm_csr, row_multiplicity), "perm_csr");
    return {a, a.values, a.nnz};
}

} // namespace

GivenNumbers::GivenNumbers(const void *values, std::int64_t count, std::int32_t type) {
    if (type == PERM_VALUE_F64) doubles_ = vector_of<double>(values, count);
    if (type == PERM_VALUE_C128) doubles_ = vector_of<double>(values, 2 * count);
    if (type == PERM_VALUE_I64) integers_ = vector_of<std::int64_t>(values, count);
    if (type == PERM_VALUE_TEXT)
        for (const char *text : vector_of<const char *>(values, count)) texts_.emplace_back(text);
    point();
}

void GivenNumbers::point() {
    pointers_.clear();
    for (const std::string &text : texts_) pointers_.push_back(text.c_str());
}

const void *GivenNumbers::data() const {
    if (!pointers_.empty()) return pointers_.data();
    if (!integers_.empty()) return integers_.data();
    return doubles_.data();
}

bool GivenNumbers::are(std::int64_t count, std::int32_t type) const {
    const auto all = static_cast<std::size_t>(count);
    return doubles_.size() == (type == PERM_VALUE_C128  ? 2
                               : type == PERM_VALUE_F64 ? 1
                                                        : 0) *
                                  all &&
           integers_.size() == (type == PERM_VALUE_I64 ? all : 0) &&
           texts_.size() == (type == PERM_VALUE_TEXT ? all : 0);
}

GivenMatrix::GivenMatrix(const perm_csr &a, const void *values, std::int64_t count)
    : n_cols_(a.n_cols),
      row_ptr_(a.row_ptr ? indexes(a.row_ptr, a.n_rows + 1, a.index_type) : std::vector<std::int64_t>{0}),
      col_idx_(indexes(a.col_idx, a.nnz, a.index_type)),
      row_multiplicity_(vector_of<std::int64_t>(a.row_multiplicity, a.n_rows)),
      col_multiplicity_(vector_of<std::int64_t>(a.col_multiplicity, a.n_cols)),
      value_type_(a.value_type),
      row_weights_(a.row_unmatched != nullptr),
      col_weights_(a.col_unmatched != nullptr),
      values_(values, count, a.value_type) {}

perm_csr GivenMatrix::csr() const {
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = n_rows();
    a.n_cols = n_cols_;
    a.nnz = std::ssize(col_idx_);
    a.row_ptr = row_ptr_.data();
    a.col_idx = col_idx_.data();
    a.index_type = PERM_INDEX_I64;
    a.value_type = value_type_;
    a.row_multiplicity = data_or_null(row_multiplicity_);
    a.col_multiplicity = data_or_null(col_multiplicity_);
    const bool is_pattern = value_type_ == PERM_VALUE_PATTERN; // whose weights are 1, and not read
    const std::size_t size = is_pattern ? 0 : libperm::size_of(static_cast<perm_value_type>(value_type_));
    const void *const numbers = is_pattern ? nullptr : values_.data(); // null, too, where there are none
    const auto *bytes = numbers ? static_cast<const char *>(numbers) : reinterpret_cast<const char *>(this);
    const auto behind = [&](std::int64_t count) { return bytes + size * static_cast<std::size_t>(count); };
    if (!is_pattern) a.values = bytes;
    if (row_weights_) a.row_unmatched = behind(a.nnz);
    if (col_weights_) a.col_unmatched = behind(a.nnz + (row_weights_ ? a.n_rows : 0));
    return a;
}

GivenDense::GivenDense(const perm_dense &a)
    : n_rows_(a.n_rows),
      n_cols_(a.n_cols),
      count_(a.count),
      value_type_(a.value_type),
      row_multiplicity_(vector_of<std::int64_t>(a.row_multiplicity, a.n_rows)),
      col_multiplicity_(vector_of<std::int64_t>(a.col_multiplicity, a.n_cols)),
      values_(a.values, a.count * a.n_rows * a.n_cols, a.value_type) {}

perm_dense GivenDense::dense() const {
    perm_dense a = PERM_DENSE_INIT;
    a.n_rows = n_rows_;
    a.n_cols = n_cols_;
    a.count = count_;
    a.values = values_.data();
    a.value_type = value_type_;
    a.row_multiplicity = data_or_null(row_multiplicity_);
    a.col_multiplicity = data_or_null(col_multiplicity_);
    return a;
}

bool GivenDense::is_sound() const {
    constexpr std::int64_t most = std::int64_t{1} << 40; // as perm_dense has it at most
    const auto are = [](const std::vector<std::int64_t> &counts, std::int64_t lines) {
        return counts.empty() || std::ssize(counts) == lines;
    };
    const auto in_range = [](std::int64_t lines) { return 0 <= lines && lines <= std::int64_t{1} << 20; };
    if (!in_range(n_rows_) || !in_range(n_cols_) || count_ < 0 || count_ > most) return false;
    const std::int64_t each = n_rows_ * n_cols_;
    return (each == 0 || count_ <= most / each) && are(row_multiplicity_, n_rows_) &&
           are(col_multiplicity_, n_cols_) && values_.are(count_ * each, value_type_);
}

bool GivenMatrix::is_sound() const {
    const auto are = [](const std::vector<std::int64_t> &counts, std::int64_t lines) {
        return counts.empty() || std::ssize(counts) == lines;
    };
    if (row_ptr_.empty() || n_cols_ < 0 || n_cols_ > std::numeric_limits<std::int32_t>::max()) return false;
    const std::int64_t count =
        std::ssize(col_idx_) + (row_weights_ ? n_rows() : 0) + (col_weights_ ? n_cols_ : 0);
    return are(row_multiplicity_, n_rows()) && are(col_multiplicity_, n_cols_) &&
           PERM_VALUE_F64 <= value_type_ && value_type_ <= PERM_VALUE_TEXT && values_.are(count, value_type_);
}

GivenPeriodic::GivenPeriodic(const perm_periodic &a)
    : cell_(part_of(a.cell)),
      head_(part_of(a.head)),
      tail_(part_of(a.tail)),
      has_head_(a.head != nullptr),
      has_tail_(a.tail != nullptr),
      joined_(a.joined != 0) {}

namespace {

constexpr libperm::Seal seal{"PERMPLAN",
                             9,
                             "the saved task",
                             "perm_task_save, perm_plan_save or perm plan",
                             "finish with that version, or make it anew with this one and save it again",
                             "PERMTASK PERMPLNF"};

std::string text_of(const char *text) { return text ? text : ""; }
const char *text_or_null(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }

} // namespace

TaskSource::TaskSource(std::string_view bytes) : TaskSource(libperm::content_of<TaskSource>(seal, bytes)) {}

TaskSource::TaskSource(const libperm::Plan &of) : kind(libperm::TaskIdentity::plan) {
    const libperm::CurrentCall current(of.options);
    plan = libperm::bytes_of(libperm::plan_in_blocks(of));
}

std::string TaskSource::bytes() const { return libperm::sealed(seal, libperm::written(*this)); }

void TaskSource::take(const perm_opts *opts) {
    if (!opts) return;
    const perm_opts known = libperm::read_known(*opts, offsetof(perm_opts, without), "perm_opts");
    engine = text_of(known.engine);
    precision = text_of(known.precision);
    without = text_of(known.without);
    decompose = text_of(known.decompose);
    chunks = text_of(known.chunks);
    function = text_of(known.function);
    tolerance = known.tolerance;
    seed = known.seed;
}

void TaskSource::take(const perm_estimate_opts *wanted) {
    if (!wanted) return;
    epsilon = wanted->epsilon;
    delta = wanted->delta;
    estimate_seed = wanted->seed;
    samples = wanted->samples;
    method = text_of(wanted->method);
}

perm_opts TaskSource::options(const perm_opts *caller) const {
    perm_opts opts = PERM_OPTS_INIT;
    if (caller) opts = libperm::read_known(*caller, offsetof(perm_opts, without), "perm_opts");
    opts.engine = text_or_null(engine);
    opts.precision = text_or_null(precision);
    opts.without = text_or_null(without);
    opts.decompose = text_or_null(decompose);
    opts.chunks = text_or_null(chunks);
    opts.function = text_or_null(function);
    opts.tolerance = tolerance;
    opts.seed = seed;
    return opts;
}

perm_estimate_opts TaskSource::wanted() const {
    perm_estimate_opts wanted = PERM_ESTIMATE_OPTS_INIT;
    wanted.epsilon = epsilon;
    wanted.delta = delta;
    wanted.seed = estimate_seed;
    wanted.samples = samples;
    wanted.method = text_or_null(method);
    return wanted;
}

} // namespace capi
