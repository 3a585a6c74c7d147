// Plans in words, and kernels as text: what does not compute, and is to stay all the same. Of one thread, for
// the times that are told are those of so many.
#include "bench/record/record.hpp"

#include <fmt/format.h>

using perm::families::Entries;

namespace {

std::string explained(const perm_plan *plan, perm_format format) {
    return perm::read_text([&](char *buffer, std::size_t capacity, std::size_t *needed) {
        return perm_plan_explain(plan, format, buffer, capacity, needed);
    });
}

// Without its comments, which name NVRTC, the target and files.
std::string source_of(const Sample &sample, const perm_opts &opts) {
    const PlanOf plan = plan_of(sample, opts);
    const std::string text = perm::read_text([&](char *buffer, std::size_t capacity, std::size_t *needed) {
        return perm_plan_source(plan.get(), "sm_90", buffer, capacity, needed);
    });
    return code_of(text);
}

void record_words(Recorder &to, const std::string &name, const Sample &sample, perm_opts opts) {
    struct Format {
        perm_format format;
        const char *name;
    };
    opts.threads = 1;
    const std::string line = "explain:" + name;
    for (const Format &f : {Format{PERM_FORMAT_TEXT, "text"}, Format{PERM_FORMAT_JSON, "json"},
                            Format{PERM_FORMAT_PICTURE, "picture"}})
        to.attempt_text(fmt::format("{}/{}", line, f.name),
                        [&] { return explained(plan_of(sample, opts).get(), f.format); });
}

void record_source(Recorder &to, const Sample &sample, const char *engine, const char *precision,
                   const char *chunks) {
    perm_opts opts = to.options(engine, precision);
    opts.device = "gpu";
    opts.threads = 1;
    opts.chunks = chunks;
    if (engine != std::string("auto")) opts.without = "all";
    to.attempt_text(fmt::format("source:{}/{}/{}/{}", sample.name, engine, precision, chunks),
                    [&] { return source_of(sample, opts); });
}

std::vector<Sample> for_sources() {
    using namespace perm::families;
    return {samples::real("er12", erdos_renyi(12, 0.6, Entries::real, 81)),
            samples::real("er17_nonneg", erdos_renyi(17, 0.3, Entries::nonnegative, 82)),
            samples::real("dense10", constant(10, 0.5)),
            samples::complex("er9c", erdos_renyi(9, 0.7, Entries::real, 83)),
            samples::real("band30", banded(30, 2, 1, Entries::real, 84)),
            samples::whole("whole20", erdos_renyi(20, 0.25, Entries::integers, 85)),
            samples::pattern("grid6x6", grid(6, 6)),
            samples::real("repeated16", repeated_lines(16, 6, 6, Entries::nonnegative, 86)),
            samples::real("one1x1", from_dense({{2}})),
            samples::real("er70", banded(70, 2, 2, Entries::real, 87))};
}

} // namespace

void record_explained(Recorder &to) {
    for (const Sample &sample : samples::of_shapes()) record_words(to, sample.name, sample, to.options());
    for (const Sample &sample : for_sources())
        for (const char *engine : {"auto", "ryser", "frontier", "tree", "dense", "hybrid"})
            for (const char *device : {"cpu", "gpu", "auto"}) {
                perm_opts opts = to.options(engine);
                opts.device = device;
                if (engine != std::string("auto")) opts.without = "all";
                if (device == std::string("gpu")) opts.gpus = 4;
                record_words(to, fmt::format("{}/{}/{}", sample.name, engine, device), sample, opts);
            }
}

void record_sources(Recorder &to) {
    for (const Sample &sample : for_sources())
        for (const char *engine : {"auto", "frontier", "tree", "shared", "dense", "purereg", "hybrid"}) {
            for (const char *precision : {"auto", "double", "kahan", "dq", "dd", "exact"})
                record_source(to, sample, engine, precision, "ceg");
            record_source(to, sample, engine, "double", "equal");
        }
}
