#include "bench/record/matrices.hpp"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <utility>

using namespace perm::families;

namespace {

Sample on_pattern_of(const std::string &name, const perm::Csr &a, perm_value_type type) {
    Sample s;
    s.name = name;
    s.n_rows = a.n_rows;
    s.n_cols = a.n_cols;
    s.row_ptr = a.row_ptr;
    s.col_idx = a.col_idx;
    s.type = type;
    return s;
}

std::string written(double x, samples::Written how, Random &random) {
    const std::int64_t sign = x < 0 ? -1 : 1;
    const auto decimal = [&] { return fmt::format("{:.4f}", random.uniform(-1, 1)); };
    switch (how) {
    case samples::Written::integers:
        return fmt::format("{}{:015d}{:015d}", sign * random.integer(1, 9),
                           random.integer(0, 999999999999999), random.integer(0, 999999999999999));
    case samples::Written::decimals:
        return fmt::format("{:.3f}", x);
    case samples::Written::fractions:
        return fmt::format("{}/{}", sign * random.integer(1, 40), random.integer(1, 40));
    case samples::Written::far_apart:
        return fmt::format("{:.6f}e{}", x, random.integer(-400, 400));
    default:
        return decimal() + " " + decimal();
    }
}

} // namespace

GivenSample::GivenSample(const Sample &sample) : sample_(sample) {
    for (const std::string &text : sample.texts) texts_.push_back(text.c_str());
}

const void *GivenSample::values() const {
    switch (sample_.type) {
    case PERM_VALUE_I64:
        return sample_.integers.data();
    case PERM_VALUE_PATTERN:
        return nullptr;
    case PERM_VALUE_TEXT:
        return texts_.data();
    default:
        return sample_.doubles.data();
    }
}

perm_csr GivenSample::csr() const {
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = sample_.n_rows;
    a.n_cols = sample_.n_cols;
    a.nnz = std::ssize(sample_.col_idx);
    a.row_ptr = sample_.row_ptr.data();
    a.col_idx = sample_.col_idx.data();
    a.values = values();
    a.value_type = sample_.type;
    if (!sample_.row_times.empty()) a.row_multiplicity = sample_.row_times.data();
    if (!sample_.col_times.empty()) a.col_multiplicity = sample_.col_times.data();
    const std::int64_t parts = sample_.type == PERM_VALUE_C128 ? 2 : 1;
    const double *weights = sample_.doubles.data() + parts * a.nnz;
    if (sample_.unmatched_rows) a.row_unmatched = std::exchange(weights, weights + parts * a.n_rows);
    if (sample_.unmatched_cols) a.col_unmatched = weights;
    return a;
}

namespace samples {

Sample real(const std::string &name, const perm::Csr &a) {
    Sample s = on_pattern_of(name, a, PERM_VALUE_F64);
    s.doubles = a.values;
    return s;
}

Sample complex(const std::string &name, const perm::Csr &a) {
    Sample s = on_pattern_of(name, a, PERM_VALUE_C128);
    Random random(a.values.size());
    for (const double x : a.values) s.doubles.insert(s.doubles.end(), {x, random.uniform(-1, 1)});
    return s;
}

Sample whole(const std::string &name, const perm::Csr &a) {
    Sample s = on_pattern_of(name, a, PERM_VALUE_I64);
    for (const double x : a.values) s.integers.push_back(std::llround(x));
    return s;
}

Sample pattern(const std::string &name, const perm::Csr &a) {
    return on_pattern_of(name, a, PERM_VALUE_PATTERN);
}

Sample text(const std::string &name, const perm::Csr &a, Written how) {
    Sample s = on_pattern_of(name, a, PERM_VALUE_TEXT);
    Random random(a.values.size() + 1);
    for (const double x : a.values) s.texts.push_back(written(x, how, random));
    return s;
}

Sample unmatched(Sample sample, bool rows, bool cols) {
    sample.unmatched_rows = rows;
    sample.unmatched_cols = cols;
    Random random(sample.doubles.size());
    const std::int64_t parts = sample.type == PERM_VALUE_C128 ? 2 : 1,
                       lines = (rows ? sample.n_rows : 0) + (cols ? sample.n_cols : 0);
    for (std::int64_t k = 0; k < parts * lines; ++k) sample.doubles.push_back(random.uniform(0.1, 1));
    return sample;
}

Sample repeated(Sample sample, std::vector<std::int64_t> row_times, std::vector<std::int64_t> col_times) {
    sample.row_times = std::move(row_times);
    sample.col_times = std::move(col_times);
    return sample;
}

} // namespace samples
