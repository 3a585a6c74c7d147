#include "tests/support/matchings.hpp"

#include <cmath>
#include <map>

using perm::families::Random;

namespace oracle {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::vector<std::int64_t> lines(std::int64_t count, const std::vector<std::int64_t> &times) {
    std::vector<std::int64_t> of;
    for (std::int64_t i = 0; i < count; ++i) of.insert(of.end(), times.empty() ? 1 : at(times[at(i)]), i);
    return of;
}

} // namespace

Gaussian over_matchings(const MatchingMatrix &a) {
    const std::vector<std::int64_t> rows = lines(a.rows(), a.row_times), cols = lines(a.cols, a.col_times);
    const bool is_plain = !a.row_weights && !a.col_weights;
    const auto weight = [](const auto &weights, std::int64_t line, bool plain) {
        return weights ? (*weights)[at(line)] : Gaussian{plain ? 1 : 0, 0};
    };
    std::map<std::uint64_t, Gaussian> sums{{0, {1, 0}}};
    for (const std::int64_t i : rows) {
        std::map<std::uint64_t, Gaussian> next;
        for (const auto &[used, sum] : sums) {
            Gaussian &stays = next[used];
            stays = stays + sum * weight(a.row_weights, i, is_plain && rows.size() > cols.size());
            for (std::size_t j = 0; j < cols.size(); ++j)
                if ((used >> j & 1) == 0) {
                    Gaussian &to = next[used | std::uint64_t{1} << j];
                    to = to + sum * a.entries[at(i)][at(cols[j])];
                }
        }
        sums = std::move(next);
    }
    Gaussian total;
    for (const auto &[used, sum] : sums) {
        Gaussian term = sum;
        for (std::size_t j = 0; j < cols.size(); ++j)
            if ((used >> j & 1) == 0)
                term = term * weight(a.col_weights, cols[j], is_plain && cols.size() > rows.size());
        total = total + term;
    }
    return total;
}

} // namespace oracle

const std::vector<DrawnKind> kinds_of_numbers{
    {"integers", PERM_VALUE_I64,
     [](Random &r) { return real_number(static_cast<double>(r.integer(-9, 9))); }},
    {"doubles", PERM_VALUE_F64, [](Random &r) { return real_number(r.uniform(-1, 1)); }},
    {"positive", PERM_VALUE_F64, [](Random &r) { return real_number(1 - r.uniform()); }},
    {"far apart", PERM_VALUE_F64,
     [](Random &r) { return real_number(r.uniform() * std::exp2(static_cast<double>(r.integer(-60, 60)))); }},
    {"complex", PERM_VALUE_C128,
     [](Random &r) {
         return oracle::Gaussian{mpq_class(r.uniform(-1, 1)), mpq_class(r.uniform(-1, 1))};
     }},
    {"texts", PERM_VALUE_TEXT,
     [](Random &r) {
         mpq_class q(static_cast<long>(r.integer(-9, 9)), static_cast<unsigned long>(r.integer(1, 9)));
         q.canonicalize();
         return oracle::Gaussian{q, 0};
     }},
};

const std::vector<DrawnKind> kinds_of_weights{
    {"positive", PERM_VALUE_F64, [](Random &r) { return real_number(1 - r.uniform()); }},
    {"far apart", PERM_VALUE_F64,
     [](Random &r) {
         return real_number((1 - r.uniform()) * std::exp2(static_cast<double>(r.integer(-700, 300))));
     }},
    {"integers", PERM_VALUE_I64, [](Random &r) { return real_number(static_cast<double>(r.integer(1, 9))); }},
    {"texts", PERM_VALUE_TEXT,
     [](Random &r) {
         mpq_class q(static_cast<long>(r.integer(1, 9)), static_cast<unsigned long>(r.integer(1, 9)));
         q.canonicalize();
         return oracle::Gaussian{q, 0};
     }},
    {"complex without an imaginary part", PERM_VALUE_C128,
     [](Random &r) { return real_number(1 - r.uniform()); }},
};

TypedNumbers::TypedNumbers(const std::vector<oracle::Gaussian> &numbers, std::int32_t type) {
    for (const oracle::Gaussian &x : numbers) {
        doubles_.push_back(x.re.get_d());
        if (type == PERM_VALUE_C128) doubles_.push_back(x.im.get_d());
        integers_.push_back(x.re.get_num().get_si());
        texts_.push_back(x.re.get_str() + (is_real(x) ? "" : " " + x.im.get_str()));
    }
    for (const std::string &text : texts_) pointers_.push_back(text.c_str());
    doubles_.push_back(0), integers_.push_back(0), pointers_.push_back(nullptr); // so that none is null
    data_ = doubles_.data();
    if (type == PERM_VALUE_I64) data_ = integers_.data();
    if (type == PERM_VALUE_TEXT) data_ = pointers_.data();
}

MatchingInput::MatchingInput(const MatchingMatrix &a, perm_value_type type, perm::families::Random &random) {
    std::vector<oracle::Gaussian> values;
    const bool with_zeros = random.chance(0.5);
    for (std::int64_t i = 0; i < a.rows(); ++i) {
        for (std::int64_t k = 0; k < a.cols; ++k) {
            const std::int64_t j = i % 2 == 0 ? k : a.cols - 1 - k; // in any order
            const oracle::Gaussian &x = a.entries[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
            if (is_zero(x) && !with_zeros) continue;
            col_.push_back(j);
            values.push_back(x);
            places_.push_back({i, j});
        }
        row_ptr_.push_back(std::ssize(col_));
    }
    const auto nnz = std::ssize(col_);
    if (a.row_weights)
        for (std::int64_t i = 0; i < a.rows(); ++i) {
            values.push_back((*a.row_weights)[static_cast<std::size_t>(i)]);
            places_.push_back({i, -1});
        }
    if (a.col_weights)
        for (std::int64_t j = 0; j < a.cols; ++j) {
            values.push_back((*a.col_weights)[static_cast<std::size_t>(j)]);
            places_.push_back({-1, j});
        }
    all_ = TypedNumbers(values, type);
    const std::int64_t each = type == PERM_VALUE_C128 ? 16 : 8;
    count_ = std::ssize(values);
    csr_.n_rows = a.rows(), csr_.n_cols = a.cols, csr_.nnz = nnz;
    csr_.row_ptr = row_ptr_.data(), csr_.col_idx = col_.data();
    csr_.value_type = type;
    const char *bytes = static_cast<const char *>(all_.data());
    csr_.values = type == PERM_VALUE_PATTERN ? nullptr : bytes;
    if (a.row_weights) csr_.row_unmatched = bytes + nnz * each;
    if (a.col_weights) csr_.col_unmatched = bytes + (nnz + (a.row_weights ? a.rows() : 0)) * each;
    if (!a.row_times.empty()) csr_.row_multiplicity = a.row_times.data();
    if (!a.col_times.empty()) csr_.col_multiplicity = a.col_times.data();
}
