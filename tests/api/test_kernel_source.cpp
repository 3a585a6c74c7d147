// The kernel of a plan as text, and the folder of compiled kernels, by the C API; neither needs a GPU.
#include "bench/families.hpp"
#include "jit/compile/disk_cache.hpp"
#include "jit/compile/nvrtc.hpp"
#include "lib/run/gpu_device.hpp"
#include "tests/support/check.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <unistd.h>
#include <vector>

using namespace perm::families;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::vector<const char *> engines{"tree", "hybrid", "purereg", "dense", "shared"};

bool walks_equally(const char *engine) { return std::string(engine) != "tree"; }

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

std::string first_line(const std::string &text) { return text.substr(0, text.find('\n')); }
std::string without_first_line(const std::string &text) { return text.substr(text.find('\n') + 1); }

bool gpu_here() { return libperm::first_gpu().gpu != nullptr; }

perm::Csr sample() { return erdos_renyi(12, 0.6, Entries::real, run::seed(140)); }

perm::Plan plan_for(const perm::Csr &a, const char *engine, const char *chunks = nullptr) {
    perm_opts opts = with_engine(engine);
    opts.chunks = chunks;
    return perm::Plan(a, opts);
}

struct Failed {
    perm_status status = PERM_OK;
    std::string text;
};
template <class Body> Failed failure_of(const Body &body) {
    try {
        body();
    } catch (const perm::Error &error) {
        return {error.status(), error.what()};
    }
    return {};
}

const std::string some_hash(32, 'a');

void write_file(const std::string &path, const std::string &text) { std::ofstream(path) << text; }

json described(const std::string &folder) {
    return json::parse(perm::cache_describe(folder.c_str(), PERM_FORMAT_JSON));
}

} // namespace

// ---------------------------------------------------------------- the kernel as text

TEST_CASE("source: every engine of the GPU has a kernel, with or without a GPU") {
    const perm::Csr a = sample();
    for (const char *engine : engines)
        for (const char *chunks : {"ceg", "equal"}) {
            if (chunks == std::string("equal") && !walks_equally(engine)) continue;
            CAPTURE(engine);
            CAPTURE(chunks);
            const std::string text = plan_for(a, engine, chunks).source();
            CHECK(contains(text, std::string("engine ") + engine));
            CHECK(contains(text, std::string("chunks ") + chunks));
            CHECK(contains(text, "extern \"C\" __global__"));
            CHECK(contains(text, "n 12\n"));
            CHECK(text.back() == '\n');
        }
    perm_opts any = with_engine("auto");
    any.device = "gpu";
    CHECK(contains(perm::Plan(a, any).source(), "extern \"C\" __global__"));
}

TEST_CASE("source: the same pattern has the same text, whatever the values") {
    perm::Csr a = sample();
    for (const char *engine : engines) {
        CAPTURE(engine);
        for (double &value : a.values) value = 0.8675309;
        const perm::Plan plan = plan_for(a, engine);
        const std::string text = plan.source();
        CHECK(plan.source() == text);
        CHECK_FALSE(contains(text, "0.867"));
        CHECK_FALSE(contains(text, "8675309"));
        for (std::size_t k = 0; k < a.values.size(); ++k) a.values[k] = 1 + static_cast<double>(k) / 7;
        CHECK(plan_for(a, engine).source() == text);
    }
}

TEST_CASE("source: the target is in the first line, and only there") {
    const perm::Plan plan = plan_for(sample(), "hybrid");
    const std::string ninety = plan.source("sm_90");
    CHECK(contains(first_line(ninety), "// Target: sm_90. NVRTC: "));
    CHECK(contains(first_line(ninety), " Flags: --gpu-architecture=sm_90 "));
    CHECK(contains(first_line(ninety), "-fmad=false"));
    CHECK_FALSE(contains(without_first_line(ninety), "sm_90"));
    for (const char *arch : {"sm_75", "sm_120", "compute_90"}) {
        const std::string text = plan.source(arch);
        CHECK(contains(first_line(text), std::string("--gpu-architecture=") + arch));
        CHECK(without_first_line(text) == without_first_line(ninety));
    }
    CHECK(without_first_line(plan.source()) == without_first_line(ninety));
}

TEST_CASE("source: with no target named it is the GPU's, else the newest of NVRTC") {
    const std::string line = first_line(plan_for(sample(), "purereg").source());
    CAPTURE(line);
    const auto &nvrtc = libperm::nvrtc_status();
    CHECK(contains(line, "NVRTC: " + (nvrtc.found ? nvrtc.version : "none") + "."));
    if (!nvrtc.found) {
        CHECK(contains(line, gpu_here() ? "Target: sm_" : "Target: none"));
        run::skip(nvrtc.why_not);
    } else if (gpu_here()) {
        const int capability = libperm::first_gpu().gpu->properties().compute_capability;
        CHECK(contains(line, "Target: " + libperm::target_for(capability) + "."));
    } else {
        CHECK(contains(line, "Target: sm_" + std::to_string(nvrtc.architectures.back()) + "."));
    }
}

TEST_CASE("source: what is printed compiles as its first line says" * doctest::skip(run::sanitized)) {
    const auto &nvrtc = libperm::nvrtc_status();
    if (!nvrtc.found) return run::skip(nvrtc.why_not);
    for (const char *engine : engines) {
        CAPTURE(engine);
        const std::string text = plan_for(sample(), engine).source();
        const std::string line = first_line(text), flags_word = "Flags: ";
        std::vector<std::string> flags;
        std::istringstream words(line.substr(line.find(flags_word) + flags_word.size()));
        for (std::string word; words >> word;) flags.push_back(word);
        REQUIRE(flags.size() > 1);
        const std::string architecture = "--gpu-architecture=";
        REQUIRE(flags.front().rfind(architecture, 0) == 0);
        const std::string target = flags.front().substr(architecture.size());
        flags.erase(flags.begin());
        CHECK_FALSE(libperm::compile(text, target, flags).image.empty());
    }
}

TEST_CASE("source: a target of another form is refused") {
    const perm::Plan plan = plan_for(sample(), "hybrid");
    for (const char *arch : {"", "sm", "sm_", "sm_9", "sm_9000", "sm_9x", "sm90", "SM_90", "compute_",
                             "ptx_90", "90", " sm_90", "sm_90 ", "sm_90\n", "sm_-1", "sm_90 -O0"}) {
        CAPTURE(arch);
        const Failed failed = failure_of([&] { plan.source(arch); });
        CHECK(failed.status == PERM_BAD_OPTION);
        CHECK(contains(failed.text, std::string("\"") + arch + "\""));
        CHECK(contains(failed.text, "sm_NN"));
        CHECK(contains(failed.text, "compute_NN"));
    }
}

TEST_CASE("source: a plan without a kernel says whom to ask for") {
    const std::string hint = "engine tree, hybrid, purereg, dense or shared";
    for (const char *engine : {"ryser", "frontier"}) {
        const Failed failed = failure_of([&] { plan_for(sample(), engine).source(); });
        CHECK(failed.status == PERM_UNSUPPORTED);
        CHECK(contains(failed.text, std::string("engine ") + engine));
        CHECK(contains(failed.text, "ask for " + hint));
    }
    const Failed none = failure_of([] { perm::Plan(tridiagonal(30, 1, 2, 3)).source(); });
    CHECK(none.status == PERM_UNSUPPORTED);
    CHECK(contains(none.text, "reductions"));
    CHECK(contains(none.text, hint));

    const Failed large = failure_of([] { plan_for(constant(130, 1), "purereg").source(); });
    CHECK(large.status == PERM_UNSUPPORTED);
    CHECK(contains(large.text, "engine purereg"));
    CHECK(contains(large.text, "n = 130"));
}

TEST_CASE("source: engine tree walks whole segments, of at most 64 rows, on a CPU too") {
    const Failed equal = failure_of([] { plan_for(sample(), "tree", "equal"); });
    CHECK(equal.status == PERM_BAD_OPTION);
    CHECK(contains(equal.text, "tree"));
    const Failed large = failure_of([] { plan_for(tridiagonal(65, 1, 2, 3), "tree").source(); });
    CHECK(large.status == PERM_UNSUPPORTED);
    CHECK(contains(large.text, "engine tree"));
    CHECK(contains(large.text, "64"));
    perm_opts on_cpu = with_engine("tree");
    on_cpu.device = "cpu";
    CHECK(without_first_line(perm::Plan(sample(), on_cpu).source("sm_90")) ==
          without_first_line(plan_for(sample(), "tree").source("sm_90")));
}

TEST_CASE("source: tree's kernels compile where segments are longer than a word counts") {
    const auto &nvrtc = libperm::nvrtc_status();
    if (!nvrtc.found) return run::skip(nvrtc.why_not);
    const std::string target = "sm_" + std::to_string(nvrtc.architectures.back());
    for (const std::int64_t n : {44, 64}) {
        const std::string text = plan_for(tridiagonal(n, 1, 2, 3), "tree").source(target.c_str());
        CHECK_FALSE(libperm::compile(text, target, {"--std=c++17", "-fmad=false"}).image.empty());
    }
}

TEST_CASE("source: a plan that its limits refuse has one too") {
    const perm::Csr a = erdos_renyi(52, 0.6, Entries::real, run::seed(141));
    perm_opts opts = with_engine("purereg");
    opts.time_limit_seconds = 60;
    const perm::Plan plan(a, opts);
    CHECK(contains(plan.source("sm_90"), "engine purereg"));
    perm::Result r;
    CHECK(failure_of([&] { r = plan.execute(a.values.data()); }).status / 100 == 2);
}

TEST_CASE("source: the buffer is treated as that of explain") {
    const perm::Csr a = sample();
    const perm_csr view = a.view();
    const perm_opts opts = with_engine("hybrid");
    perm_plan *plan = nullptr;
    REQUIRE(perm_plan_create(&view, &opts, &plan) == PERM_OK);
    std::size_t needed = 0, again = 0;
    REQUIRE(perm_plan_source(plan, "sm_90", nullptr, 0, &needed) == PERM_OK);
    std::vector<char> buffer(needed + 1, '#');
    CHECK(perm_plan_source(plan, "sm_90", buffer.data(), needed - 1, &again) == PERM_BAD_ARGUMENT);
    CHECK(again == needed);
    CHECK(buffer[needed - 1] == '#');
    CHECK(perm_plan_source(plan, "sm_90", buffer.data(), needed, &again) == PERM_OK);
    CHECK(std::string(buffer.data()).size() + 1 == needed);
    CHECK(buffer[needed] == '#');
    CHECK(perm_plan_source(plan, "sm_90", nullptr, 10, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_plan_source(nullptr, "sm_90", nullptr, 0, &needed) == PERM_BAD_ARGUMENT);
    perm_plan_destroy(plan);
}

// ---------------------------------------------------------------- a GPU that is not there

TEST_CASE("device gpu without a GPU makes a plan, and executing it says what is missing") {
    if (gpu_here()) return run::skip("this machine has a GPU");
    const perm::Csr a = sample();
    const std::string why_not = libperm::first_gpu().why_not;
    CHECK_FALSE(why_not.empty());
    for (const char *engine : {"auto", "tree", "hybrid", "purereg", "dense", "shared"}) {
        CAPTURE(engine);
        perm_opts opts = with_engine(engine);
        opts.device = "gpu";
        const perm::Plan plan(a, opts);
        CHECK(contains(plan.explain(), why_not));
        const json explained = json::parse(plan.explain(PERM_FORMAT_JSON));
        CHECK(explained.at("refused") == true);
        CHECK(explained.at("device") == "gpu");
        perm::Result r;
        const Failed failed = failure_of([&] { r = plan.execute(a.values.data()); });
        CHECK(failed.status == PERM_UNSUPPORTED);
        CHECK(contains(failed.text, why_not));
        CHECK(failure_of([&] { r = perm::compute(a, opts); }).status == PERM_UNSUPPORTED);
    }
}

TEST_CASE("device auto without a GPU computes on the CPU") {
    if (gpu_here()) return run::skip("this machine has a GPU");
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = "auto";
    perm::Result r = perm::compute(sample(), opts);
    CHECK(std::string(r->device) == "cpu");
    CHECK(r->kernels_compiled == 0);
    CHECK(r->seconds_compile == 0);
}

// ---------------------------------------------------------------- the folder of compiled kernels

TEST_CASE("cache: kernels are listed, the last used first, and cleared") {
    const TemporaryFolder folder;
    const libperm::CacheSettings settings{folder.path(), 1 << 20, {}};
    const std::string key =
        "generator 0\nengine hybrid\nchunks ceg\nn 40\ncolumn 0: 1 2\ntarget sm_90\nNVRTC 13.0\n";
    libperm::cache_store(settings, key, std::string(1000, 'x'));
    libperm::cache_store(settings, "engine dense\nn 7\ntarget compute_90\n", "payload");
    fs::path older;
    for (const auto &file : fs::directory_iterator(folder.path()))
        if (fs::file_size(file) > 1000) older = file;
    fs::last_write_time(older, fs::file_time_type::clock::now() - std::chrono::hours(48));

    const json j = described(folder.path());
    CAPTURE(j.dump(1));
    CHECK(j.at("folder") == folder.path());
    CHECK_FALSE(j.contains("why_not"));
    const json &kernels = j.at("kernels");
    REQUIRE(kernels.size() == 2);
    CHECK(kernels[0].at("engine") == "dense");
    CHECK(kernels[0].at("n") == 7);
    CHECK(kernels[0].at("target") == "compute_90");
    CHECK(kernels[1].at("engine") == "hybrid");
    CHECK(kernels[1].at("n") == 40);
    CHECK(kernels[1].at("target") == "sm_90");
    CHECK(kernels[1].at("file") == older.filename().string());
    CHECK(kernels[1].at("bytes") == fs::file_size(older));
    CHECK(kernels[0].at("used_unix").get<std::int64_t>() - kernels[1].at("used_unix").get<std::int64_t>() >
          47 * 3600);
    CHECK(j.at("bytes").get<std::int64_t>() ==
          kernels[0].at("bytes").get<std::int64_t>() + kernels[1].at("bytes").get<std::int64_t>());

    const std::string text = perm::cache_describe(folder.path().c_str());
    CAPTURE(text);
    CHECK(contains(first_line(text), folder.path() + ": 2 kernels, "));
    CHECK(std::ranges::count(text, '\n') == 3);
    for (const char *word : {"hybrid", "n = 40", "sm_90", "dense", "n = 7", "compute_90"})
        CHECK(contains(text, word));

    CHECK(perm::cache_clear(folder.path().c_str()) == 2);
    CHECK(described(folder.path()).at("kernels").empty());
    CHECK(perm::cache_clear(folder.path().c_str()) == 0);
}

TEST_CASE("cache: what is no kernel is not listed, and what is not ours is not removed") {
    const TemporaryFolder folder;
    write_file(folder / "notes.txt", "mine");
    write_file(folder / "notes.cubin", "mine");
    write_file(folder / (some_hash + ".cubin"), std::string(100, 'x'));
    write_file(folder / (some_hash + ".cubin.host.1.0.0123456789abcdef.tmp"), "half");
    fs::create_directory(folder / (std::string(32, 'b') + ".cubin"));
    CHECK(described(folder.path()).at("kernels").empty());
    CHECK(perm::cache_clear(folder.path().c_str()) == 2);
    for (const std::string &name :
         {std::string("notes.txt"), std::string("notes.cubin"), std::string(32, 'b') + ".cubin"})
        CHECK(fs::exists(folder / name));
}

TEST_CASE("cache: a folder that is empty, missing, none or not a folder") {
    const TemporaryFolder folder;
    for (const std::string &path : {folder.path(), folder / "missing", folder / "missing/deeper"}) {
        CHECK(described(path).at("kernels").empty());
        CHECK_FALSE(described(path).contains("why_not"));
        CHECK(perm::cache_describe(path.c_str()) == path + ": no kernels\n");
        CHECK(perm::cache_clear(path.c_str()) == 0);
    }
    CHECK_FALSE(fs::exists(folder / "missing")); // it was only asked about
    CHECK(perm::cache_describe("") == "none are kept on disk\n");
    CHECK(described("").at("folder") == "");
    CHECK(perm::cache_clear("") == 0);

    write_file(folder / "file", "");
    const std::string file = folder / "file";
    CHECK(contains(perm::cache_describe(file.c_str()), "cannot be used"));
    CHECK_FALSE(described(file).at("why_not").get<std::string>().empty());
    std::int64_t removed = -1;
    CHECK(perm_cache_clear(file.c_str(), &removed) == PERM_BAD_OPTION);
    CHECK(removed == 0);
    CHECK(contains(perm_last_error(), file));
    CHECK(perm_cache_clear(folder.path().c_str(), nullptr) == PERM_OK);
    CHECK(described(folder / "\xff").at("kernels").empty()); // JSON is UTF-8 all the same
}

TEST_CASE("cache: a folder that others can write to is not trusted, but can be cleared") {
    const TemporaryFolder folder;
    libperm::cache_store({folder.path(), 1 << 20, {}}, "engine dense\nn 7\n", "payload");
    fs::permissions(folder.path(), fs::perms::all);
    CHECK(contains(described(folder.path()).at("why_not").get<std::string>(), "chmod"));
    CHECK(described(folder.path()).at("kernels").empty());
    CHECK(perm::cache_clear(folder.path().c_str()) == 1);
}

TEST_CASE("cache: no folder named is the default of perm_opts") {
    const json j = json::parse(perm::cache_describe(nullptr, PERM_FORMAT_JSON));
    CHECK(j.at("folder") == libperm::default_cache_folder());
    CHECK(json::parse(perm::info(PERM_FORMAT_JSON)).at("kernel_cache").at("folder") == j.at("folder"));
}

// ---------------------------------------------------------------- info

TEST_CASE("info: what there is of GPUs, their driver and NVRTC, or why there is not") {
    const json j = json::parse(perm::info(PERM_FORMAT_JSON));
    CAPTURE(j.dump(1));
    for (const char *name :
         {"version", "compiler", "engines", "devices", "processor", "cores", "memory_bytes", "libraries"})
        CHECK(j.contains(name));
    for (const char *engine : {"ryser", "frontier", "hybrid", "purereg", "dense", "shared"})
        CHECK(std::ranges::count(j.at("engines"), engine) == 1);
    CHECK(j.at("devices")[0] == "cpu");

    const auto &driver = libperm::driver_status();
    const auto &nvrtc = libperm::nvrtc_status();
    for (const auto &[name, found] : {std::pair{"driver", driver.found}, std::pair{"nvrtc", nvrtc.found}}) {
        CHECK(j.at(name).at("found") == found);
        CHECK(j.at(name).contains("why_not") != found);
        if (found) CHECK_FALSE(j.at(name).at("path").get<std::string>().empty());
    }
    CHECK(j.at("nvrtc").at("architectures").get<std::vector<int>>() == nvrtc.architectures);
    CHECK(j.at("gpus").size() == static_cast<std::size_t>(driver.found ? driver.gpus : 0));
    for (const json &gpu : j.at("gpus")) {
        if (gpu.contains("why_not")) continue;
        CHECK(contains(gpu.at("compute_capability").get<std::string>(), "."));
        for (const char *number : {"multiprocessors", "fp64_lanes", "memory_bytes"})
            CHECK(gpu.at(number).get<std::int64_t>() > 0);
    }
    const std::string text = perm::info();
    CAPTURE(text);
    for (const char *word : {"\ndriver ", "\nNVRTC ", "\nkernels ", "\nengines ", "\ndevices ", "hybrid"})
        CHECK(contains(text, word));
    if (!driver.found) CHECK(contains(text, driver.why_not));
    if (!nvrtc.found) CHECK(contains(text, nvrtc.why_not));
}
