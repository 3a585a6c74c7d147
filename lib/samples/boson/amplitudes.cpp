#include "lib/samples/boson/amplitudes.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace libperm {
namespace {

constexpr double unitary_enough = 1e-6; // that columns' products may be off

} // namespace

Amplitudes::Amplitudes(const perm_boson &a, const std::vector<std::int64_t> &modes_in)
    : modes_(at(a.modes)), re_(modes_ * modes_in.size()), im_(re_.size()), reached_(modes_in.size()) {
    const auto *u = static_cast<const double *>(a.amplitudes);
    for (std::size_t j = 0; j < modes_in.size(); ++j)
        for (std::size_t z = 0; z < modes_; ++z) {
            const double *const entry = u + 2 * (z * at(a.inputs) + at(modes_in[j]));
            for (int part = 0; part < 2; ++part) {
                if (!(std::fabs(entry[part]) <= 1 + unitary_enough))
                    throw Error(PERM_BAD_MATRIX,
                                formatted("the amplitude ({}, {}) is {}: not one of a unitary matrix", z,
                                          modes_in[j], entry[part]));
                (part == 0 ? re_ : im_)[j * modes_ + z] = (entry[part] + 0x1.8p5) - 0x1.8p5;
            }
        }
    require_orthonormal(modes_in);
    find_reached();
    find_order();
}

void Amplitudes::require_orthonormal(const std::vector<std::int64_t> &modes_in) const {
    for (std::size_t j = 0; j < modes_in.size(); ++j)
        for (std::size_t k = 0; k <= j; ++k) {
            double x = j == k ? -1 : 0, y = 0;
            for (std::size_t z = 0; z < modes_; ++z) {
                x += re(j)[z] * re(k)[z] + im(j)[z] * im(k)[z];
                y += im(j)[z] * re(k)[z] - re(j)[z] * im(k)[z];
            }
            const double off = std::fabs(x) + std::fabs(y);
            if (off > unitary_enough && j == k)
                throw Error(
                    PERM_BAD_MATRIX,
                    formatted("column {} has squared norm {:.6g}, and those of a unitary matrix have 1: "
                              "where modes absorb, give the lost photons modes of their own",
                              modes_in[j], x + 1));
            if (off > unitary_enough)
                throw Error(
                    PERM_BAD_MATRIX,
                    formatted("columns {} and {} are not those of a unitary matrix: their product is off "
                              "by {:.2g}",
                              modes_in[k], modes_in[j], off));
        }
}

void Amplitudes::find_reached() {
    first_.assign(modes_ + 1, 0);
    for (std::size_t z = 0; z < modes_; ++z) {
        for (std::size_t j = 0; j < columns(); ++j) {
            if (!reaches(j, z)) continue;
            column_.push_back(static_cast<std::uint32_t>(j));
            if (reached_[j].end == 0) reached_[j].first = z;
            reached_[j].end = z + 1;
        }
        first_[z + 1] = column_.size();
    }
}

// The order has all columns, those that are met last at the end.
std::vector<std::size_t> Amplitudes::breadth_first(std::size_t from) const {
    std::vector<std::size_t> order;
    std::vector<bool> mode_met(modes_, false), met(columns(), false);
    const auto meet = [&](std::size_t j) {
        if (!met[j]) order.push_back(j);
        met[j] = true;
    };
    for (std::size_t k = 0; order.size() < columns(); ++k) {
        meet((from + k) % columns());
        for (std::size_t next = order.size() - 1; next < order.size(); ++next)
            for (std::size_t z = reached_[order[next]].first; z < reached_[order[next]].end; ++z) {
                if (mode_met[z] || !reaches(order[next], z)) continue;
                mode_met[z] = true;
                for (const std::uint32_t j : columns_of(z)) meet(j);
            }
    }
    return order;
}

// How many modes are met and to be met again, on average, as a measure of what states there are.
double Amplitudes::width(const std::vector<std::size_t> &order) const {
    std::vector<std::size_t> place(columns());
    for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = k;
    double sum = 0;
    for (std::size_t z = 0; z < modes_; ++z) {
        std::size_t first = columns(), last = 0;
        for (const std::uint32_t j : columns_of(z)) {
            first = std::min(first, place[j]);
            last = std::max(last, place[j]);
        }
        if (first < last) sum += static_cast<double>(last - first);
    }
    return sum;
}

void Amplitudes::find_order() {
    place_.resize(columns());
    std::vector<std::size_t> best(columns());
    std::iota(best.begin(), best.end(), std::size_t{0});
    if (columns() > 0 && column_.size() < modes_ * columns()) { // from an end, as Cuthill and McKee begin
        const std::vector<std::size_t> other = breadth_first(breadth_first(0).back());
        if (width(other) < width(best)) best = other;
    }
    for (std::size_t k = 0; k < best.size(); ++k) place_[best[k]] = k;
}

} // namespace libperm
