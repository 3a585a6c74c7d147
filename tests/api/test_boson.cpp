// Samples of boson sampling against the law, on all outcomes of small experiments, by Pearson's chi-square.
#include "bench/families.hpp"
#include "capi/saved_task.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <perm.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

using perm::families::Random;

namespace {

using Amplitude = std::complex<double>;
using Modes = std::vector<std::int64_t>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

struct Experiment {
    std::int64_t modes;
    Modes photons;
    std::vector<Amplitude> u;

    // A random unitary matrix: random columns made orthonormal.
    Experiment(std::int64_t m, Modes in, Random &random) : modes(m), photons(std::move(in)), u(at(m * m)) {
        for (Amplitude &x : u)
            x = {static_cast<double>(random.integer(-1000, 1000)),
                 static_cast<double>(random.integer(-1000, 1000))};
        for (std::int64_t j = 0; j < m; ++j) {
            for (int again = 0; again < 2; ++again)
                for (std::int64_t k = 0; k < j; ++k) {
                    Amplitude product = 0;
                    for (std::int64_t z = 0; z < m; ++z)
                        product += std::conj(u[at(z * m + k)]) * u[at(z * m + j)];
                    for (std::int64_t z = 0; z < m; ++z) u[at(z * m + j)] -= product * u[at(z * m + k)];
                }
            double size = 0;
            for (std::int64_t z = 0; z < m; ++z) size += std::norm(u[at(z * m + j)]);
            for (std::int64_t z = 0; z < m; ++z) u[at(z * m + j)] /= std::sqrt(size);
        }
    }

    // Layers of beam splitters between neighbours, the modes then called by other names.
    Experiment(std::int64_t m, Modes in, int layers, Random &random)
        : modes(m), photons(std::move(in)), u(at(m * m)) {
        const std::vector<std::int64_t> name = random.permutation(m);
        for (std::int64_t z = 0; z < m; ++z) u[at(z * m + name[at(z)])] = 1;
        for (int layer = 0; layer < layers; ++layer)
            for (std::int64_t z = layer % 2; z + 1 < m; z += 2) {
                const double angle = random.uniform(0.4, 1.2);
                const Amplitude c = std::cos(angle), s = std::polar(std::sin(angle), random.uniform(0, 6));
                for (std::int64_t j = 0; j < m; ++j) {
                    const Amplitude x = u[at(z * m + j)], y = u[at((z + 1) * m + j)];
                    u[at(z * m + j)] = c * x - std::conj(s) * y;
                    u[at((z + 1) * m + j)] = s * x + c * y;
                }
            }
    }

    bool reaches(std::int64_t z) const {
        return std::any_of(photons.begin(), photons.end(),
                           [&](std::int64_t j) { return u[at(z * modes + j)] != 0.0; });
    }
    perm_boson view() const {
        perm_boson a = PERM_BOSON_INIT;
        a.modes = a.inputs = modes;
        a.amplitudes = u.data();
        a.photons = static_cast<std::int64_t>(photons.size());
        a.photon_modes = photons.data();
        return a;
    }
    Amplitude permanent(Modes out) const { // of at most 5 photons
        std::sort(out.begin(), out.end());
        std::vector<std::size_t> order(out.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        Amplitude sum = 0;
        do {
            Amplitude product = 1;
            for (std::size_t k = 0; k < out.size(); ++k) product *= u[at(out[k] * modes + photons[order[k]])];
            sum += product;
        } while (std::next_permutation(order.begin(), order.end()));
        return sum;
    }
    static double copies(const Modes &modes_of_photons) {
        double product = 1;
        for (std::size_t k = 0, same = 0; k < modes_of_photons.size(); ++k) {
            same = k > 0 && modes_of_photons[k] == modes_of_photons[k - 1] ? same + 1 : 1;
            product *= static_cast<double>(same);
        }
        return product;
    }
    // Of every outcome, by how many photons leave by each mode.
    std::map<Modes, double> law() const {
        std::map<Modes, double> all;
        Modes in = photons, out(photons.size(), 0);
        std::sort(in.begin(), in.end());
        for (;;) { // nondecreasing lists of modes
            Modes occupation(at(modes), 0);
            for (const std::int64_t z : out) ++occupation[at(z)];
            all[occupation] = std::norm(permanent(out)) / (copies(in) * copies(out));
            std::size_t k = out.size();
            while (k > 0 && out[k - 1] == modes - 1) --k;
            if (k == 0) return all;
            std::fill(out.begin() + static_cast<std::ptrdiff_t>(k) - 1, out.end(), out[k - 1] + 1);
        }
    }
};

std::vector<std::int64_t> drawn(const Experiment &e, std::int64_t shots, std::uint64_t seed,
                                int threads = 0) {
    std::vector<std::int64_t> samples(at(shots * e.modes), -1);
    perm_opts opts = PERM_OPTS_INIT;
    opts.threads = threads;
    const perm_boson view = e.view();
    REQUIRE(perm_sample_photons(&view, &opts, shots, seed, samples.data()) == PERM_OK);
    return samples;
}

void check_law(const Experiment &e, std::int64_t shots, std::uint64_t seed) {
    const std::map<Modes, double> law = e.law();
    double all = 0;
    for (const auto &[outcome, p] : law) all += p;
    REQUIRE(all == doctest::Approx(1).epsilon(1e-9));
    std::map<Modes, double> seen;
    const auto samples = drawn(e, shots, seed);
    for (std::int64_t k = 0; k < shots; ++k) {
        const auto from = samples.begin() + k * e.modes;
        const Modes outcome(from, from + e.modes);
        REQUIRE(law.count(outcome) == 1);
        ++seen[outcome];
    }
    double square = 0, cells = 0, rare = 0, rare_seen = 0;
    for (const auto &[outcome, p] : law) {
        const double expected = p * static_cast<double>(shots);
        if (expected < 8) { // together
            rare += expected;
            rare_seen += seen[outcome];
            continue;
        }
        square += (seen[outcome] - expected) * (seen[outcome] - expected) / expected;
        ++cells;
    }
    if (rare >= 8) {
        square += (rare_seen - rare) * (rare_seen - rare) / rare;
        ++cells;
    }
    const double freedom = cells - 1;
    CAPTURE(e.photons.size());
    CHECK(freedom >= 2);
    CHECK(square < freedom + 5.5 * std::sqrt(2 * freedom) + 12); // less than 10^-6 by chance
}

} // namespace

TEST_CASE("samples follow the law, also of photons that come in together") {
    Random random(run::seed(2411));
    const std::vector<std::pair<std::int64_t, Modes>> experiments{
        {3, {1}},       {3, {0, 2}},       {3, {1, 1}},       {4, {3, 0, 1}}, {3, {0, 0, 2}},
        {3, {2, 2, 2}}, {5, {0, 1, 2, 3}}, {4, {0, 0, 3, 3}}, {3, {0, 1, 2}}, {4, {0, 1, 1, 2, 2}},
    };
    for (const auto &[modes, photons] : experiments)
        check_law(Experiment(modes, photons, random), run::cases(30000), run::seed(2412 + photons.size()));
}

TEST_CASE("samples of shallow circuits follow the law") {
    Random random(run::seed(2441));
    const std::vector<std::tuple<std::int64_t, int, Modes>> experiments{
        {6, 1, {0, 1, 2, 4}},    {6, 2, {0, 2, 3, 5}},    {6, 2, {0, 1, 2, 3, 4}}, {6, 3, {1, 1, 2, 4}},
        {7, 2, {0, 2, 2, 5, 6}}, {8, 2, {0, 2, 4, 6}},    {5, 2, {1, 1, 3}},       {6, 4, {0, 2, 4}},
        {6, 3, {0, 2, 3, 5, 5}}, {5, 2, {0, 1, 2, 3, 4}},
    };
    for (const auto &[modes, layers, photons] : experiments)
        check_law(Experiment(modes, photons, layers, random), run::cases(30000), run::seed(2442 + modes));
}

TEST_CASE("sixty photons in a shallow circuit leave by modes that they reach") {
    Random random(run::seed(2451));
    Modes photons;
    for (std::int64_t j = 0; j < 60; ++j) photons.push_back(2 * j);
    const Experiment e(120, photons, 5, random);
    const auto samples = drawn(e, 20, 7, 1);
    CHECK(samples == drawn(e, 20, 7, 2));
    for (std::int64_t k = 0; k < 20; ++k) {
        std::int64_t all = 0;
        for (std::int64_t z = 0; z < 120; ++z) {
            const std::int64_t here = samples[at(k * 120 + z)];
            all += here;
            CHECK((here == 0 || e.reaches(z)));
        }
        CHECK(all == 60);
    }
}

TEST_CASE("the same seed draws the same samples, for any number of threads") {
    Random random(run::seed(2421));
    const Experiment e(8, {0, 1, 2, 3, 5, 5}, random);
    const auto samples = drawn(e, 5000, 7, 1);
    CHECK(samples == drawn(e, 5000, 7, 2));
    CHECK(samples != drawn(e, 5000, 8, 2));
    for (std::size_t k = 0; k < 5000; ++k)
        CHECK(std::accumulate(samples.begin() + static_cast<std::ptrdiff_t>(8 * k),
                              samples.begin() + static_cast<std::ptrdiff_t>(8 * k + 8),
                              std::int64_t{0}) == 6);
    const Experiment none(4, {}, random);
    CHECK(drawn(none, 2, 1) == std::vector<std::int64_t>(8, 0));
}

TEST_CASE("by whichever function they are drawn, the same seed gives the same samples") {
    Random random(run::seed(2433));
    const Experiment e(5, {0, 2, 2}, random);
    const auto samples = drawn(e, 40, 9);
    CHECK(perm::sample_photons(e.view(), 40, 9) == samples);
}

// Some 0.2 s of eight photons.
TEST_CASE("as a task: shards in any order, saved, and from a checkpoint, the samples of one call") {
    Random random(run::seed(2461));
    const Experiment e(12, {0, 1, 2, 3, 4, 4, 5, 7}, random);
    const std::int64_t shots = run::sanitized ? 6000 : 20000;
    const auto samples = drawn(e, shots, 9);
    const TemporaryFolder folder;
    const std::string file = folder / "kept";
    perm_opts opts = PERM_OPTS_INIT;
    opts.checkpoint = file.c_str();
    const perm_boson view = e.view();
    const std::string bytes = perm::Task::photons(view, shots, 9).save();
    const perm::Task task = perm::Task::load(bytes);
    CHECK(task.save() == bytes);
    CHECK(task.run_samples() == samples);
    REQUIRE(task.shards() > 2);
    std::vector<std::string> partials;
    for (const std::int64_t k : random.permutation(task.shards())) partials.push_back(task.run_shard(k));
    CHECK(task.combine_samples(partials) == samples);
    partials.pop_back();
    CHECK_THROWS_AS(task.combine_samples(partials), perm::Error);
    CHECK_THROWS_AS(perm::Task::photons(view, shots, 8).combine_samples(partials), perm::Error);
    CHECK(perm::sample_photons(view, shots, 9, opts) == samples);
    CHECK(perm::sample_photons(view, shots, 9, opts) == samples); // as they were kept
    CHECK_THROWS_AS(perm::sample_photons(view, shots, 8, opts), perm::Error);
    CHECK(task.explain().find("photons") != std::string::npos);
    // Where another kind's numbers stand in it.
    capi::TaskSource forged{std::string_view(bytes)};
    const double numbers[] = {1, 0, 0, 1};
    perm_dense dense = PERM_DENSE_INIT;
    dense.n_rows = dense.n_cols = 2;
    dense.values = numbers;
    forged.dense = capi::GivenDense(dense);
    CHECK_THROWS_AS(perm::Task::load(forged.bytes()), perm::Error);
    forged = capi::TaskSource(std::string_view(bytes));
    forged.photons.back() = 12;
    CHECK_THROWS_AS(perm::Task::load(forged.bytes()), perm::Error);
}

TEST_CASE("experiments at fault are told as such") {
    Random random(run::seed(2431));
    const Experiment e(3, {0, 1}, random);
    std::vector<std::int64_t> out(300);
    const auto says = [](const char *what) {
        return std::string(perm_last_error()).find(what) != std::string::npos;
    };
    perm_boson a = e.view();
    CHECK(perm_sample_photons(&a, nullptr, 1, 1, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_sample_photons(nullptr, nullptr, 1, 1, out.data()) == PERM_BAD_ARGUMENT);
    CHECK(perm_sample_photons(&a, nullptr, -1, 1, out.data()) == PERM_BAD_ARGUMENT);
    const Modes outside{0, 3};
    a.photon_modes = outside.data();
    CHECK(perm_sample_photons(&a, nullptr, 1, 1, out.data()) == PERM_BAD_ARGUMENT);
    CHECK(says("photon 1 comes in by mode 3"));
    std::vector<Amplitude> other = e.u;
    other[0] += 0.1;
    a = e.view();
    a.amplitudes = other.data();
    CHECK(perm_sample_photons(&a, nullptr, 1, 1, out.data()) == PERM_BAD_MATRIX);
    CHECK(says("unitary"));
    other[0] = std::numeric_limits<double>::quiet_NaN();
    CHECK(perm_sample_photons(&a, nullptr, 1, 1, out.data()) == PERM_BAD_MATRIX);
    const Modes many(65, 0);
    a = e.view();
    a.photon_modes = many.data();
    for (a.photons = 64; a.photons <= 65; ++a.photons) {
        CHECK(perm_sample_photons(&a, nullptr, 1, 1, out.data()) == PERM_UNSUPPORTED);
        CHECK(says("shallow circuit"));
    }
    perm_opts opts = PERM_OPTS_INIT;
    opts.cancel = [](void *) { return 1; };
    a = e.view();
    CHECK(perm_sample_photons(&a, &opts, 100, 1, out.data()) == PERM_CANCELLED);
}
