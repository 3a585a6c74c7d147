// Dense matrices, alone and many at once: permanents, sub-permanents, gradients.
#include "bench/record/record.hpp"

#include <fmt/format.h>

#include <cmath>

using perm::families::Random;

namespace {

struct Shape {
    const char *name;
    std::int64_t n_rows, n_cols, count;
    std::vector<std::int64_t> row_times{}, col_times{}; // none: all 1
};

const std::vector<Shape> squares{{"n1", 1, 1, 3},
                                 {"n2", 2, 2, 9},
                                 {"n5", 5, 5, 7},
                                 {"n8", 8, 8, 5},
                                 {"n13", 13, 13, 2},
                                 {"n16", 16, 16, 1},
                                 {"times", 4, 5, 3, {2, 3, 1, 2}, {1, 1, 2, 3, 1}},
                                 {"times_many", 3, 3, 2, {4, 5, 6}, {5, 5, 5}},
                                 {"times_none", 3, 4, 2, {2, 0, 2}, {1, 1, 0, 2}}};
const std::vector<Shape> unequal{{"n1x0", 1, 0, 2},
                                 {"n4x5", 4, 5, 5},
                                 {"n8x7", 8, 7, 4},
                                 {"n12x13", 12, 13, 2},
                                 {"n16x15", 16, 15, 1},
                                 {"times", 4, 4, 3, {2, 3, 1, 2}, {1, 2, 3, 1}},
                                 {"times_none", 3, 3, 2, {2, 0, 3}, {1, 1, 2}}};

// Matrices of one shape with values of any kind, as perm.h takes them for as long as this stays.
class Dense {
  public:
    enum class Kind { real, nonnegative, far_apart, complex, whole };

    Dense(const Shape &shape, Kind kind) : shape_(shape), kind_(kind) {
        const std::int64_t parts = kind == Kind::complex ? 2 : 1,
                           count = shape.n_rows * shape.n_cols * shape.count * parts;
        Random random(static_cast<std::uint64_t>(count) + 17);
        for (std::int64_t k = 0; k < count; ++k) {
            const double x = random.uniform(kind == Kind::nonnegative ? 0 : -1, 1);
            if (kind == Kind::whole)
                integers_.push_back(std::llround(20 * x));
            else
                doubles_.push_back(kind == Kind::far_apart ? std::ldexp(x, k % 2 == 0 ? 60 : -60) : x);
        }
    }

    perm_dense view() const {
        perm_dense a = PERM_DENSE_INIT;
        a.n_rows = shape_.n_rows;
        a.n_cols = shape_.n_cols;
        a.count = shape_.count;
        a.value_type = kind_ == Kind::complex ? PERM_VALUE_C128
                       : kind_ == Kind::whole ? PERM_VALUE_I64
                                              : PERM_VALUE_F64;
        if (kind_ == Kind::whole)
            a.values = integers_.data();
        else
            a.values = doubles_.data();
        if (!shape_.row_times.empty()) a.row_multiplicity = shape_.row_times.data();
        if (!shape_.col_times.empty()) a.col_multiplicity = shape_.col_times.data();
        return a;
    }
    // Room for so many numbers of each matrix.
    std::vector<double> room(std::int64_t numbers) const {
        return std::vector<double>(static_cast<std::size_t>(numbers * shape_.count) *
                                   (kind_ == Kind::complex ? 2 : 1));
    }
    std::vector<double> bounds(std::int64_t numbers) const {
        return std::vector<double>(static_cast<std::size_t>(numbers * shape_.count));
    }
    std::int64_t entries() const { return shape_.n_rows * shape_.n_cols; }

  private:
    const Shape &shape_;
    Kind kind_;
    std::vector<double> doubles_;
    std::vector<std::int64_t> integers_;
};

constexpr std::pair<const char *, Dense::Kind> kinds[]{{"real", Dense::Kind::real},
                                                       {"nonnegative", Dense::Kind::nonnegative},
                                                       {"far_apart", Dense::Kind::far_apart},
                                                       {"complex", Dense::Kind::complex},
                                                       {"whole", Dense::Kind::whole}};

std::string permanents_of(const Dense &of, const perm_opts &opts) {
    const perm_dense a = of.view();
    std::vector<double> permanents = of.room(1), bounds = of.bounds(1);
    perm::check(perm_permanents(&a, &opts, permanents.data(), bounds.data()));
    return fmt::format("permanents={} bounds={}", numbers_text(permanents), numbers_text(bounds));
}

std::string sub_permanents_of(const Dense &of, const perm_opts &opts) {
    const perm_dense a = of.view();
    std::int64_t rows = 0, cols = 0;
    for (std::int64_t i = 0; i < a.n_rows; ++i) rows += a.row_multiplicity ? a.row_multiplicity[i] : 1;
    for (std::int64_t j = 0; j < a.n_cols; ++j) cols += a.col_multiplicity ? a.col_multiplicity[j] : 1;
    const std::int64_t longer = rows > cols ? a.n_rows : a.n_cols;
    std::vector<double> minors = of.room(longer), bounds = of.bounds(longer);
    perm::check(perm_sub_permanents(&a, &opts, minors.data(), bounds.data()));
    return fmt::format("sub_permanents={} bounds={}", numbers_text(minors), numbers_text(bounds));
}

std::string gradients_of(const Dense &of, const perm_opts &opts) {
    const perm_dense a = of.view();
    std::vector<double> gradients = of.room(of.entries()), bounds = of.bounds(of.entries()),
                        permanents = of.room(1), permanent_bounds = of.bounds(1);
    perm::check(perm_gradients(&a, &opts, gradients.data(), bounds.data(), permanents.data(),
                               permanent_bounds.data()));
    return fmt::format("gradients={} bounds={} permanents={} bounds={}", numbers_text(gradients),
                       numbers_text(bounds), numbers_text(permanents), numbers_text(permanent_bounds));
}

} // namespace

void record_dense(Recorder &to) {
    for (const auto &[kind_name, kind] : kinds) {
        for (const Shape &shape : squares) {
            const Dense matrices(shape, kind);
            const std::string name = fmt::format("dense/{}/{}", kind_name, shape.name);
            to.attempt(name + "/gradients", [&] { return gradients_of(matrices, to.options()); });
            for (const char *precision : {"auto", "double", "dd", "exact"})
                to.attempt(fmt::format("{}/permanents/{}", name, precision),
                           [&] { return permanents_of(matrices, to.options("auto", precision)); });
        }
        for (const Shape &shape : unequal) {
            const Dense matrices(shape, kind);
            to.attempt(fmt::format("dense/{}/{}/sub_permanents", kind_name, shape.name),
                       [&] { return sub_permanents_of(matrices, to.options()); });
        }
    }
}
