// Bounds, and what is drawn: estimates, whole and in shards; matchings; photons.
#include "bench/record/record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <complex>

using namespace perm::families;

namespace {

// What the reductions leave of a matrix to be sampled is more than a third of a second's work.
std::vector<Sample> estimated() {
    return {samples::real("dense60", erdos_renyi(60, 1, Entries::nonnegative, 121)),
            samples::pattern("sparse60", erdos_renyi(60, 0.25, Entries::ones, 122)),
            samples::real("opposite50", scale(erdos_renyi(50, 0.6, Entries::nonnegative, 123),
                                              std::vector<double>(50, -1), std::vector<double>(50, 1))),
            samples::whole("two_blocks", block_sum(erdos_renyi(40, 0.8, Entries::counts, 124),
                                                   erdos_renyi(45, 0.7, Entries::counts, 125))),
            samples::real("signed34", erdos_renyi(34, 1, Entries::real, 126)),
            samples::complex("complex34", erdos_renyi(34, 1, Entries::real, 127)),
            samples::real("quick12", erdos_renyi(12, 0.5, Entries::nonnegative, 128)),
            samples::real("none", from_dense({{1, 2}, {0, 0}}))};
}

std::string estimate_text(const perm_estimated &e) {
    return fmt::format(
        "re={} im={} mantissa={},{} exp2={} lower={},{} upper={},{} error={},{} epsilon={} delta={} "
        "exact={} additive={} samples={} accepted={} method={} blocks={},{}",
        bits_of(e.re), bits_of(e.im), bits_of(e.mantissa_re), bits_of(e.mantissa_im), e.exp2,
        bits_of(e.lower_mantissa), e.lower_exp2, bits_of(e.upper_mantissa), e.upper_exp2,
        bits_of(e.error_mantissa), e.error_exp2, bits_of(e.epsilon), bits_of(e.delta), e.exact, e.additive,
        e.samples, e.accepted, e.method, e.blocks, e.blocks_exact);
}

void record_estimates(Recorder &to, const Sample &sample) {
    perm_opts opts = to.options();
    opts.without = "merge";
    const GivenSample given(sample);
    for (const char *method : {"auto", "nesting", "rejection", "glynn"})
        for (const std::uint64_t seed : {0, 5}) {
            perm_estimate_opts wanted = PERM_ESTIMATE_OPTS_INIT;
            wanted.epsilon = 0.3;
            wanted.delta = 0.2;
            wanted.seed = seed;
            wanted.method = method;
            const std::string name = fmt::format("estimate/{}/{}/{}", sample.name, method, seed);
            to.attempt(name, [&] { return estimate_text(perm::estimate(given.csr(), wanted, opts)); });
            if (seed == 0) continue;
            to.attempt(name + "/shards", [&] {
                const perm::Task task = perm::Task::estimate(given.csr(), wanted, opts);
                std::vector<std::string> partials;
                for (std::int64_t k = task.shards(); k-- > 0;) partials.push_back(task.run_shard(k));
                return fmt::format("count={} {}", partials.size(),
                                   estimate_text(task.combine_estimate(partials)));
            });
            wanted.samples = 100;
            to.attempt(name + "/limited",
                       [&] { return estimate_text(perm::estimate(given.csr(), wanted, opts)); });
        }
}

void record_bounds(Recorder &to, const Sample &sample) {
    to.attempt(fmt::format("bounds/{}", sample.name), [&] {
        const perm_interval x = perm::bounds(GivenSample(sample).csr(), to.options());
        return fmt::format("lower={},{} upper={},{} methods={},{} exact={} of_magnitude={} blocks={},{}",
                           bits_of(x.lower_mantissa), x.lower_exp2, bits_of(x.upper_mantissa), x.upper_exp2,
                           x.lower_method, x.upper_method, x.exact, x.of_magnitude, x.blocks, x.blocks_exact);
    });
}

std::vector<Sample> sampled() {
    const Sample some9 = samples::real("some9", erdos_renyi(9, 0.5, Entries::nonnegative, 131));
    return {some9,
            samples::unmatched(samples::real("unmatched9", erdos_renyi(9, 0.5, Entries::nonnegative, 132)),
                               true, true),
            samples::pattern("grid6x6", grid(6, 6)),
            samples::whole("blocks4x5", block_triangular(4, 5, 0.5, Entries::counts, 133)),
            samples::pattern("hypercube5", hypercube(5)),
            samples::pattern("ones50", constant(50, 1)),
            samples::real("dense40", erdos_renyi(40, 1, Entries::nonnegative, 134)),
            samples::real("signed5", erdos_renyi(5, 1, Entries::real, 135)),
            samples::real("none", from_dense({{1, 2}, {0, 0}}))};
}

void record_samples(Recorder &to, const Sample &sample) {
    const GivenSample given(sample);
    for (const std::int64_t shots : {1, 200})
        for (const std::uint64_t seed : {0, 9})
            to.attempt(fmt::format("sample/{}/{}/{}", sample.name, shots, seed), [&] {
                return "columns=" + numbers_text(perm::sample(given.csr(), shots, seed, to.options()));
            });
    to.attempt(fmt::format("sample/{}/drawn", sample.name), [&] {
        perm::Sampler sampler(given.csr(), 200, 9, to.options());
        std::vector<std::int64_t> columns = sampler.draw(70);
        for (const std::int64_t x : sampler.draw(130)) columns.push_back(x);
        return "columns=" + numbers_text(columns);
    });
}

// Columns of a random unitary matrix, row by row: made orthonormal twice, one after the other.
std::vector<std::complex<double>> interferometer(std::int64_t modes, std::int64_t inputs,
                                                 std::uint64_t seed) {
    Random random(seed);
    const auto m = static_cast<std::size_t>(modes), n = static_cast<std::size_t>(inputs);
    std::vector<std::complex<double>> u(m * n);
    for (auto &x : u) x = {random.uniform(-1, 1), random.uniform(-1, 1)};
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = 0; k < 2 * j + 1; ++k) { // the others, twice; then itself
            const std::size_t other = k == 2 * j ? j : k % j;
            std::complex<double> product = 0;
            for (std::size_t z = 0; z < m; ++z) product += std::conj(u[z * n + other]) * u[z * n + j];
            for (std::size_t z = 0; z < m; ++z)
                u[z * n + j] = other == j ? u[z * n + j] / std::sqrt(product.real())
                                          : u[z * n + j] - product * u[z * n + other];
        }
    return u;
}

void record_photons(Recorder &to, std::int64_t modes, const std::vector<std::int64_t> &photons) {
    const std::int64_t inputs = 5;
    const auto amplitudes = interferometer(modes, inputs, 141);
    perm_boson a = PERM_BOSON_INIT;
    a.modes = modes;
    a.inputs = inputs;
    a.amplitudes = amplitudes.data();
    a.photons = std::ssize(photons);
    a.photon_modes = photons.data();
    for (const std::int64_t shots : {1, 60})
        for (const std::uint64_t seed : {0, 9})
            to.attempt(fmt::format("photons/{}in{}/{}/{}", photons.size(), modes, shots, seed), [&] {
                return "occupations=" + numbers_text(perm::sample_photons(a, shots, seed, to.options()));
            });
}

} // namespace

void record_drawn(Recorder &to) {
    for (const Sample &sample : samples::of_shapes()) record_bounds(to, sample);
    for (const Sample &sample : estimated()) {
        record_bounds(to, sample);
        record_estimates(to, sample);
    }
    for (const Sample &sample : sampled()) record_samples(to, sample);
    record_photons(to, 9, {});
    record_photons(to, 9, {0, 1, 2, 3, 4});
    record_photons(to, 20, {4, 4, 4, 1, 0, 2, 2, 2, 2, 3});
    record_photons(to, 5, std::vector<std::int64_t>(20, 2));
}
