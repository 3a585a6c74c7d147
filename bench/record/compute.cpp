// The one call: engines, precisions, shapes, options.
#include "bench/record/record.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

using perm::families::Entries;

namespace {

constexpr const char *precisions[] = {"auto", "double", "kahan", "dq", "dd", "exact", "mpfr:100"};

void record_without(Recorder &to, const Sample &sample) {
    for (const char *without : {"matching", "dm", "d1", "d2", "fm", "merge", "scaling", "all", "all,scaling",
                                "d1,d2", "dm,fm", "matching,merge"}) {
        perm_opts opts = to.options();
        opts.without = without;
        to.compute(fmt::format("without/{}/{}", sample.name, without), sample, opts);
        opts.precision = "dd";
        to.compute(fmt::format("without/{}/{}/dd", sample.name, without), sample, opts);
    }
}

void record_decompositions(Recorder &to, const Sample &sample) {
    for (const char *decompose : {"auto", "paper"})
        for (const char *without : {"", "dm", "d2,fm", "merge"}) {
            perm_opts opts = to.options();
            opts.decompose = decompose;
            opts.without = without;
            to.compute(fmt::format("decompose/{}/{}/{}", sample.name, decompose, without), sample, opts);
        }
}

void record_tolerances(Recorder &to, const Sample &sample) {
    for (const double tolerance : {1.0, 1e-3, 1e-14, 1e-17, 1e-30}) {
        perm_opts opts = to.options();
        opts.tolerance = tolerance;
        to.compute(fmt::format("tolerance/{}/{:g}", sample.name, tolerance), sample, opts);
    }
}

void record_seeds(Recorder &to, const Sample &sample) {
    for (const std::uint64_t seed : {1, 2, 77})
        for (const char *engine : {"frontier", "tree"}) {
            perm_opts opts = to.options(engine);
            opts.seed = seed;
            to.compute(fmt::format("seeds/{}/{}/{}", sample.name, engine, seed), sample, opts);
        }
}

constexpr std::int64_t limits[] = {1000000, 200000, 60000, 25000, 6000};

// Limits decide between the frontier's forms, and cut its tables into slices.
void record_memory(Recorder &to, const Sample &sample) {
    for (const char *precision : {"double", "dd", "exact"})
        for (const std::int64_t limit : limits) {
            perm_opts opts = to.options("frontier", precision);
            opts.without = "all";
            opts.memory_limit_bytes = limit;
            to.compute(fmt::format("memory/{}/{}/{}", sample.name, precision, limit), sample, opts);
        }
}

// The working memory grows with the threads, so it stands in lines of its own, of one thread.
void record_bytes(Recorder &to, const Sample &sample, const char *engine, std::int64_t limit) {
    for (const char *precision : {"double", "dd", "exact"})
        to.attempt(fmt::format("bytes:{}/{}/{}/{}", sample.name, engine, precision, limit), [&] {
            perm_opts opts = to.options(engine, precision);
            opts.without = "all";
            opts.threads = 1;
            opts.memory_limit_bytes = limit;
            return fmt::format("bytes={}", perm::compute(GivenSample(sample).csr(), opts)->peak_bytes);
        });
}

void record_threads(Recorder &to, const Sample &sample, const char *engine, const char *precision) {
    for (const std::int32_t threads : {1, 2}) {
        perm_opts opts = to.options(engine, precision);
        opts.without = "all";
        opts.threads = threads;
        to.compute(fmt::format("threads/{}/{}/{}/{}", sample.name, engine, precision, threads), sample, opts);
    }
}

std::vector<Sample> for_slices() {
    using perm::families::erdos_renyi;
    return {samples::real("slices16", erdos_renyi(16, 0.4, Entries::real, 61)),
            samples::real("slices17_nonneg", erdos_renyi(17, 0.35, Entries::nonnegative, 62)),
            samples::complex("slices14c", erdos_renyi(14, 0.4, Entries::real, 63)),
            samples::whole("slices16_whole", erdos_renyi(16, 0.4, Entries::integers, 64))};
}

std::vector<Sample> for_threads() {
    using perm::families::erdos_renyi;
    return {samples::real("er16", erdos_renyi(16, 0.5, Entries::real, 65)),
            samples::real("er17_nonneg", erdos_renyi(17, 0.4, Entries::nonnegative, 66)),
            samples::complex("er14c", erdos_renyi(14, 0.6, Entries::real, 67)),
            samples::whole("er15_whole", erdos_renyi(15, 0.5, Entries::integers, 68))};
}

// The first call writes the file, the second goes on from it.
void record_checkpoints(Recorder &to, const Sample &sample, const char *engine) {
    namespace fs = std::filesystem;
    std::string folder = fs::temp_directory_path() / "perm_record_XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot make the folder " + folder);
    const std::string file = folder + "/kept";
    for (const char *turn : {"first", "second"}) {
        perm_opts opts = to.options(engine);
        opts.without = "all";
        opts.checkpoint = file.c_str();
        to.compute(fmt::format("checkpoint/{}/{}/{}", sample.name, engine, turn), sample, opts);
    }
    fs::remove_all(folder);
}

} // namespace

void record_engines(Recorder &to) {
    for (const Sample &sample : samples::for_engines())
        for (const char *engine : {"auto", "ryser", "frontier", "tree"})
            for (const char *precision : precisions) {
                perm_opts opts = to.options(engine, precision);
                if (engine != std::string("auto")) opts.without = "all";
                to.compute(fmt::format("engines/{}/{}/{}", sample.name, engine, precision), sample, opts);
            }
}

void record_shapes(Recorder &to) {
    for (const Sample &sample : samples::of_shapes())
        for (const char *precision : {"auto", "dd", "exact"})
            to.compute(fmt::format("shapes/{}/{}", sample.name, precision), sample,
                       to.options("auto", precision));
}

void record_options(Recorder &to) {
    for (const Sample &sample : samples::for_passes()) {
        record_without(to, sample);
        record_decompositions(to, sample);
        record_tolerances(to, sample);
        record_seeds(to, sample);
    }
    for (const Sample &sample : for_slices()) {
        record_memory(to, sample);
        for (const std::int64_t limit : limits) record_bytes(to, sample, "frontier", limit);
        for (const char *engine : {"auto", "ryser", "tree"})
            record_bytes(to, sample, engine, std::int64_t{1} << 30);
    }
    for (const Sample &sample : for_threads()) {
        for (const char *engine : {"ryser", "frontier", "tree"})
            for (const char *precision : {"double", "dd", "exact"})
                record_threads(to, sample, engine, precision);
        for (const char *engine : {"ryser", "tree"}) record_checkpoints(to, sample, engine);
    }
}
