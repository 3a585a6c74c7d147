#include "lib/samples/boson/boson_shot.hpp"

#include "jit/lanes/left_out_sums.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace libperm {
namespace {

constexpr double unitary_enough = 1e-6; // that columns' products may be off

constexpr double weighing_seconds = 1e-9; // of a mode and a column

constexpr double infinite = std::numeric_limits<double>::infinity();

template <class Work> void for_each(std::uint64_t photons, const Work &work) {
    for (; photons != 0; photons &= photons - 1) work(static_cast<std::size_t>(std::countr_zero(photons)));
}
constexpr std::uint64_t bit(std::size_t k) { return std::uint64_t{1} << k; }

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

void OccupiedModes::add(std::size_t one) {
    int k = 0;
    while (k < kinds && mode[at(k)] != one) ++k;
    if (k == kinds) {
        mode[at(kinds)] = one;
        count[at(kinds++)] = 0;
    }
    ++count[at(k)];
    for (; k > 0 && count[at(k)] > count[at(k) - 1]; --k) {
        std::swap(count[at(k)], count[at(k) - 1]);
        std::swap(mode[at(k)], mode[at(k) - 1]);
    }
}

BosonShot::BosonShot(const Amplitudes &u, MemoryAccount &account)
    : u_(u), met_(u.columns()), narrow_(account), x_(u.modes()), y_(u.modes()), weight_(u.modes()) {}

void BosonShot::begin(Randomness random, std::vector<std::size_t> &photons) {
    random_ = random;
    for (std::size_t k = photons.size(); k > 1; --k) std::swap(photons[k - 1], photons[random_.below(k)]);
    std::fill(met_.begin(), met_.end(), Photons{0});
    newest_ = 0;
}

void BosonShot::run(Randomness random, std::vector<std::size_t> photons, std::int64_t *occupation) {
    begin(random, photons);
    std::fill_n(occupation, u_.modes(), std::int64_t{0});
    for (const std::size_t column : photons) {
        in_[newest_] = column;
        const Block all = block();
        const Road road = road_of(all);
        if (road.seconds == infinite) throw_too_wide(photons.size());
        road.narrow ? run_narrow() : sum_minors();
        weigh();
        const std::size_t mode = drawn();
        leave(all, mode);
        ++occupation[mode];
    }
}

double BosonShot::seconds(Randomness random, std::vector<std::size_t> photons) {
    begin(random, photons);
    double seconds = 0;
    for (const std::size_t column : photons) {
        in_[newest_] = column;
        const Block all = block();
        shares_.assign({{column, 1, 1.0}});
        seconds += weighing_seconds * static_cast<double>(u_.modes() * u_.columns()) + road_of(all).seconds;
        weigh();
        leave(all, drawn());
    }
    return seconds;
}

// Photons that left are matched to those that came, by modes that these reach; from the newest, who has no
// partner, alternating paths lead to all without whom the others could be matched (Dulmage and Mendelsohn).
// Only their minors are not 0, and those of the whole but for a common factor.
BosonShot::Block BosonShot::block() {
    Block block{bit(newest_), 0};
    for (Photons fresh = block.came; fresh != 0;) {
        const auto c = static_cast<std::size_t>(std::countr_zero(fresh));
        fresh &= fresh - 1;
        const Photons found = met_[in_[c]] & ~block.left;
        block.left |= found;
        for_each(found, [&](std::size_t r) {
            found_by_[r] = c;
            block.came |= bit(partner_[r]);
            fresh |= bit(partner_[r]);
        });
    }
    return block;
}

// The newest leaves by a mode that one of the block reaches; its path to the one without a partner changes
// partners.
void BosonShot::leave(const Block &block, std::size_t mode) {
    std::size_t c = newest_, r = newest_;
    if (!u_.reaches(in_[c], mode))
        for_each(block.came, [&](std::size_t k) { c = u_.reaches(in_[k], mode) ? k : c; });
    for (;; c = found_by_[r]) {
        partner_[r] = c;
        std::swap(taken_[c], r);
        if (c == newest_) break;
    }
    out_[newest_] = mode;
    for (const std::uint32_t j : u_.columns_of(mode)) met_[j] |= bit(newest_);
    ++newest_;
}

// The choice follows from the pattern alone.
BosonShot::Road BosonShot::road_of(const Block &block) {
    came_ = left_ = {};
    for_each(block.came, [&](std::size_t c) { came_.add(in_[c]); });
    for_each(block.left, [&](std::size_t r) { left_.add(out_[r]); });
    const double summed = summed_seconds();
    order(block);
    const double narrow = narrow_seconds();
    return {std::min(summed, narrow), narrow < summed};
}

double BosonShot::summed_seconds() const {
    constexpr double most_overhead = 3e-6, overhead = 4e-8, term = 0.2e-9;
    int photons = 1;
    double terms = 1;
    for (std::size_t k = 0; k < at(left_.kinds); ++k) {
        photons += left_.count[k];
        terms *= left_.count[k] + 1;
    }
    if (at(photons) > most_summed_photons) return infinite;
    return std::min(most_overhead, overhead * photons * photons) + term * terms * came_.kinds;
}

double BosonShot::narrow_seconds() const {
    constexpr double column = 1e-7, multiplication = 0.7e-9, most_states = 0x1p28;
    if (!(narrow_.states() <= most_states)) return infinite;
    return column * static_cast<double>(ordered_.size()) + multiplication * narrow_.multiplications();
}

// The columns of the block in the amplitudes' order, a row for each photon that left.
void BosonShot::order(const Block &block) {
    ordered_.clear();
    for_each(block.came, [&](std::size_t c) { ordered_.push_back(in_[c]); });
    std::sort(ordered_.begin(), ordered_.end(),
              [&](std::size_t j, std::size_t k) { return u_.place(j) < u_.place(k); });
    matrix_.clear();
    for (const std::size_t j : ordered_) {
        for_each(met_[j] & block.left, [&](std::size_t r) {
            matrix_.rows.push_back(static_cast<std::uint8_t>(std::popcount(block.left & (bit(r) - 1))));
            matrix_.entries.emplace_back(u_.re(j)[out_[r]], u_.im(j)[out_[r]]);
        });
        matrix_.ends.push_back(matrix_.rows.size());
    }
    narrow_.look(matrix_);
}

void BosonShot::run_narrow() {
    minors_.assign(ordered_.size(), Value());
    narrow_.run(minors_);
    double most = 0;
    for (const Value &minor : minors_)
        most = std::max({most, std::fabs(minor.real()), std::fabs(minor.imag())});
    const double scale = most > 0 ? std::ldexp(1.0, -std::ilogb(most)) : 1; // of many photons each is small
    shares_.clear();
    for (std::size_t k = 0; k < ordered_.size(); ++k)
        if (k > 0 && ordered_[k] == ordered_[k - 1])
            ++shares_.back().copies;
        else
            shares_.push_back({ordered_[k], 1, scale * minors_[k]});
}

void BosonShot::sum_minors() {
    const OccupiedModes &in = came_, &out = left_;
    shares_.clear();
    if (out.kinds == 0) return shares_.push_back({in.mode[0], in.count[0], 1.0});
    const int stride = (in.kinds + 3) / 4 * 4;
    summed_.assign(at(2 * stride * out.kinds), 0.0);
    double *const imaginary = summed_.data() + stride * out.kinds;
    for (int j = 0; j < out.kinds; ++j)
        for (int i = 0; i < in.kinds; ++i) {
            summed_[at(j * stride + i)] = u_.re(in.mode[at(i)])[out.mode[at(j)]];
            imaginary[j * stride + i] = u_.im(in.mode[at(i)])[out.mode[at(j)]];
        }
    GridColumns columns{stride, summed_.data(), imaginary};
    const CountedColumns a{columns, in.kinds, out.kinds, in.count.data(), out.count.data()};
    const std::size_t size = minor_space(a);
    if (size > space_size_) {
        space_ = aligned_doubles(size);
        space_size_ = size;
    }
    LineSums sums(in.kinds, 1, true);
    constexpr std::uint64_t between_polls = 1 << 14; // steps: some milliseconds
    const std::uint64_t steps = count_steps(a);
    for (std::uint64_t first = 0; first < steps; first += between_polls) {
        if (first > 0) poll();
        add_minors(a, first, std::min(first + between_polls, steps), space_.get(), sums);
    }
    for (int i = 0; i < in.kinds; ++i) {
        const TermSum sum = sums.sum(i, 0);
        shares_.push_back({in.mode[at(i)], in.count[at(i)], {sum.re + sum.re_rest, sum.im + sum.im_rest}});
    }
}

// The weight of each mode for the next photon to leave by: |sum over the kinds of those that came, counted,
// of amplitude times the permanent of the others|^2.
void BosonShot::weigh() {
    std::fill(x_.begin(), x_.end(), 0.0);
    std::fill(y_.begin(), y_.end(), 0.0);
    for (const Share &share : shares_) {
        const double a = share.minor.real() * share.copies, b = share.minor.imag() * share.copies;
        const double *const u = u_.re(share.column), *const v = u_.im(share.column);
        const Amplitudes::Range reached = u_.reached(share.column);
        for (std::size_t z = reached.first; z < reached.end; ++z) {
            x_[z] += a * u[z] - b * v[z];
            y_[z] += a * v[z] + b * u[z];
        }
    }
    for (std::size_t z = 0; z < x_.size(); ++z) weight_[z] = x_[z] * x_[z] + y_[z] * y_[z];
}

std::size_t BosonShot::drawn() {
    double all = 0;
    for (const double w : weight_) all += w;
    double left = random_.uniform() * all;
    std::size_t last = 0;
    for (std::size_t z = 0; z < weight_.size(); ++z) {
        if (weight_[z] == 0) continue;
        last = z;
        left -= weight_[z];
        if (left < 0) break;
    }
    return last;
}

void throw_too_wide(std::size_t photons) {
    throw Error(
        PERM_UNSUPPORTED,
        formatted("{} photons: 0 to {} can be sampled, to {} where few of them reach the same modes, as "
                  "in a shallow circuit",
                  photons, most_summed_photons, most_photons));
}

} // namespace libperm
