#include "lib/minors/boson_sample.hpp"

#include "jit/lanes/minor_sum.hpp"
#include "jit/text/text.hpp"
#include "lib/base/aligned_doubles.hpp"
#include "lib/base/error.hpp"
#include "lib/base/randomness.hpp"
#include "lib/base/system.hpp"
#include "lib/base/threads.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace libperm {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

constexpr double unitary_enough = 1e-6; // that columns' products may be off

// The columns that photons come in by, on a grid on which sums of 40 entries with signs are exact.
class Amplitudes {
  public:
    Amplitudes(const perm_boson &a, const std::vector<std::int64_t> &modes_in)
        : modes_(at(a.modes)), re_(modes_ * modes_in.size()), im_(re_.size()) {
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
    }
    std::size_t modes() const { return modes_; }
    const double *re(std::size_t j) const { return re_.data() + j * modes_; }
    const double *im(std::size_t j) const { return im_.data() + j * modes_; }

  private:
    void require_orthonormal(const std::vector<std::int64_t> &modes_in) const {
        for (std::size_t j = 0; j < modes_in.size(); ++j)
            for (std::size_t k = 0; k <= j; ++k) {
                double x = j == k ? -1 : 0, y = 0;
                for (std::size_t z = 0; z < modes_; ++z) {
                    x += re(j)[z] * re(k)[z] + im(j)[z] * im(k)[z];
                    y += im(j)[z] * re(k)[z] - re(j)[z] * im(k)[z];
                }
                if (std::fabs(x) + std::fabs(y) > unitary_enough)
                    throw Error(
                        PERM_BAD_MATRIX,
                        formatted("columns {} and {} are not those of a unitary matrix: their product is off "
                                  "by {:.2g}",
                                  modes_in[k], modes_in[j], std::fabs(x) + std::fabs(y)));
            }
    }

    std::size_t modes_;
    std::vector<double> re_, im_; // one column after the other
};

// Lines with how often each stands.
struct Kinds {
    std::array<std::size_t, most_photons> line{};
    std::array<int, most_photons> count{};
    int kinds = 0;

    void add(std::size_t one) {
        int k = 0;
        while (k < kinds && line[at(k)] != one) ++k;
        if (k == kinds) {
            line[at(kinds)] = one;
            count[at(kinds++)] = 0;
        }
        ++count[at(k)];
        for (; k > 0 && count[at(k)] > count[at(k) - 1]; --k) { // the most copies first
            std::swap(count[at(k)], count[at(k) - 1]);
            std::swap(line[at(k)], line[at(k) - 1]);
        }
    }
};

class Shot {
  public:
    Shot(const Amplitudes &u, Randomness random) : u_(u), random_(random), weight_(u.modes()) {}

    void run(std::vector<std::size_t> photons, std::int64_t *occupation) {
        for (std::size_t k = photons.size(); k > 1; --k) std::swap(photons[k - 1], photons[random_.below(k)]);
        std::fill_n(occupation, u_.modes(), std::int64_t{0});
        Kinds in, out;
        for (std::size_t k = 0; k < photons.size(); ++k) {
            in.add(photons[k]);
            weigh(in, out);
            const std::size_t mode = drawn();
            out.add(mode);
            ++occupation[mode];
        }
    }

  private:
    // Of the next photon, that it leaves by each mode: |sum over the kinds of those that came, counted, of
    // amplitude times the permanent of the others|^2.
    void weigh(const Kinds &in, const Kinds &out) {
        std::array<double, most_photons> re, im; // NOLINT(*-member-init): as many as there are kinds
        if (out.kinds == 0) {
            re[0] = 1;
            im[0] = 0;
        } else {
            sub_permanents(in, out, re.data(), im.data());
        }
        std::vector<double> x(u_.modes(), 0.0), y(u_.modes(), 0.0);
        for (int j = 0; j < in.kinds; ++j) {
            const double a = re[at(j)] * in.count[at(j)], b = im[at(j)] * in.count[at(j)];
            const double *const u = u_.re(in.line[at(j)]), *const v = u_.im(in.line[at(j)]);
            for (std::size_t z = 0; z < x.size(); ++z) {
                x[z] += a * u[z] - b * v[z];
                y[z] += a * v[z] + b * u[z];
            }
        }
        for (std::size_t z = 0; z < x.size(); ++z) weight_[z] = x[z] * x[z] + y[z] * y[z];
    }

    void sub_permanents(const Kinds &in, const Kinds &out, double *re, double *im) {
        const int stride = (in.kinds + 3) / 4 * 4;
        entries_.assign(at(2 * stride * out.kinds), 0.0);
        double *const imaginary = entries_.data() + stride * out.kinds;
        for (int j = 0; j < out.kinds; ++j)
            for (int i = 0; i < in.kinds; ++i) {
                entries_[at(j * stride + i)] = u_.re(in.line[at(i)])[out.line[at(j)]];
                imaginary[j * stride + i] = u_.im(in.line[at(i)])[out.line[at(j)]];
            }
        GridColumns columns{stride, entries_.data(), imaginary};
        const CountedColumns a{columns, in.kinds, out.kinds, in.count.data(), out.count.data()};
        const std::size_t size = minor_space(a);
        if (size > size_) {
            space_ = aligned_doubles(size);
            size_ = size;
        }
        LineSums sums(in.kinds, 1, true);
        add_minors(a, 0, count_steps(a), space_.get(), sums);
        for (int i = 0; i < in.kinds; ++i) {
            const TermSum sum = sums.sum(i, 0);
            re[i] = sum.re + sum.re_rest;
            im[i] = sum.im + sum.im_rest;
        }
    }

    std::size_t drawn() {
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

    const Amplitudes &u_;
    Randomness random_;
    std::vector<double> weight_, entries_;
    AlignedDoubles space_;
    std::size_t size_ = 0;
};

const perm_boson &checked(const perm_boson *a, std::int64_t shots, const std::int64_t *occupations) {
    constexpr std::int64_t most = std::int64_t{1} << 20;
    if (!a) throw Error(PERM_BAD_ARGUMENT, "the experiment is a null pointer");
    if (a->struct_size < sizeof(perm_boson))
        throw Error(PERM_BAD_ARGUMENT, "perm_boson.struct_size is too small: start from PERM_BOSON_INIT");
    if (a->modes < 1 || a->inputs < 1 || a->modes > most || a->inputs > most)
        throw Error(PERM_BAD_MATRIX, formatted("{} x {} amplitudes: there are 1 to {} modes either way",
                                               a->modes, a->inputs, most));
    if (a->photons < 0 || a->photons > most_photons)
        throw Error(PERM_UNSUPPORTED,
                    formatted("{} photons: 0 to {} can be sampled", a->photons, most_photons));
    if (!a->amplitudes || (a->photons > 0 && !a->photon_modes))
        throw Error(PERM_BAD_ARGUMENT, "the amplitudes or the photons' modes are a null pointer");
    for (std::int64_t k = 0; k < a->photons; ++k)
        if (a->photon_modes[k] < 0 || a->photon_modes[k] >= a->inputs)
            throw Error(PERM_BAD_ARGUMENT, formatted("photon {} comes in by mode {}: they are 0..{}", k,
                                                     a->photon_modes[k], a->inputs - 1));
    if (shots < 0 || shots > (std::int64_t{1} << 40))
        throw Error(PERM_BAD_ARGUMENT, formatted("{} shots cannot be taken", shots));
    if (shots > 0 && !occupations)
        throw Error(PERM_BAD_ARGUMENT, "the place for the samples is a null pointer");
    return *a;
}

// On one thread, of photons that never share a mode.
double seconds_of_shot(std::int64_t photons, std::int64_t modes) {
    constexpr double term = 0.8e-9, stage = 2e-6, amplitude = 1e-9;
    const auto n = static_cast<double>(photons);
    return n * stage + n * n * static_cast<double>(modes) * amplitude +
           std::ldexp(n, static_cast<int>(photons) - 1) * term;
}

} // namespace

void sample_bosons(const perm_boson *given, std::int64_t shots, std::uint64_t seed, const Options &options,
                   RunControl &control, std::int64_t *occupations) {
    const perm_boson &a = checked(given, shots, occupations);
    std::vector<std::int64_t> modes_in(a.photon_modes, a.photon_modes + a.photons);
    std::sort(modes_in.begin(), modes_in.end());
    modes_in.erase(std::unique(modes_in.begin(), modes_in.end()), modes_in.end());
    const Amplitudes amplitudes(a, modes_in);
    std::vector<std::size_t> photons;
    for (std::int64_t k = 0; k < a.photons; ++k)
        photons.push_back(static_cast<std::size_t>(
            std::lower_bound(modes_in.begin(), modes_in.end(), a.photon_modes[k]) - modes_in.begin()));

    const double seconds = seconds_of_shot(a.photons, a.modes), all = seconds * static_cast<double>(shots);
    if (all / options.threads > options.refuse_seconds)
        throw Error(
            PERM_REFUSED_TIME,
            formatted("{} samples of {} photons are predicted to take {}, {} is the limit\n  raise the "
                      "limit: time_limit_seconds",
                      shots, a.photons, readable_seconds(all / options.threads),
                      readable_seconds(options.refuse_seconds)));
    control.poll();
    control.begin(static_cast<double>(shots), all / options.threads);
    const auto at_once = static_cast<std::int64_t>(std::clamp(1e-3 / seconds, 1.0, 1000.0));
    const auto run = [&](std::uint64_t piece) {
        const std::int64_t first = static_cast<std::int64_t>(piece) * at_once,
                           last = std::min(first + at_once, shots);
        for (std::int64_t k = first; k < last; ++k)
            Shot(amplitudes, Randomness(seed, static_cast<std::uint64_t>(k)))
                .run(photons, occupations + k * a.modes);
        control.advance(static_cast<double>(last - first));
    };
    const auto pieces = static_cast<std::uint64_t>((shots + at_once - 1) / at_once);
    if (options.threads > 1 && pieces > 1)
        with_threads(options.threads, [&] { parallel_for(pieces, run); });
    else
        for (std::uint64_t piece = 0; piece < pieces; ++piece) run(piece);
}

} // namespace libperm
