// What a checkpoint's file may be, and who else may have it: threads of one plan, devices and links in its
// place, and contents that were sealed and never written.
#include "bench/families.hpp"
#include "capi/saved_task.hpp"
#include "lib/base/archive.hpp"
#include "lib/run/tasks.hpp"
#include "tests/support/at_once.hpp"
#include "tests/support/check.hpp"
#include "tests/support/checkpointed.hpp"
#include "tests/support/run.hpp"
#include "tests/support/sealed_bytes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/whole_file.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include <filesystem>
#include <limits>

using namespace perm::families;
using whole_file::read;
using whole_file::write;
namespace fs = std::filesystem;

namespace {

perm_opts with(perm_opts opts, const std::string &file) {
    opts.checkpoint = file.c_str();
    opts.checkpoint_seconds = 1e-6; // at every piece
    return opts;
}

perm_status compute(const LargeCase &c, const std::string &file) {
    perm::Result unwanted;
    const perm_opts opts = with(c.opts, file);
    return perm_compute(&c.csr, &opts, unwanted.raw());
}

std::string error() { return perm_last_error(); }
bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

LargeCase case_of(std::int64_t n, std::uint64_t seed) {
    LargeCase c = large_case(erdos_renyi(n, 1, Entries::real, seed));
    c.opts = in_precision("ryser", "double");
    c.opts.threads = 2;
    return c;
}

// The fields of a checkpoint, as lib/run/tasks.hpp has them in its file.
struct Fields {
    std::string kind;
    std::vector<std::string> digests;
    std::string plan;
    libperm::KeptAbout about;
    double fraction = 0, seconds = 0, run_began = 0;
    std::uint8_t answered = 0;
    template <class Archive> void serialize(Archive &ar) {
        ar(kind, digests, plan, about, fraction, seconds, run_began, answered);
    }
};

template <class Change> std::string changed(const std::string &bytes, const Change &change) {
    constexpr libperm::Seal seal{"PERMKEPT", 4, "the checkpoint", "", ""};
    std::string_view payload = libperm::unsealed(seal, bytes);
    auto fields = libperm::read_payload<Fields>(seal, payload);
    change(fields);
    return libperm::sealed(seal, libperm::written(fields) + std::string(payload)); // the pieces follow
}

} // namespace

TEST_CASE("one plan with a checkpoint, executed by several threads") {
    const LargeCase c = case_of(17, run::seed(9501));
    perm::Result truth = perm::compute(c.csr, c.opts);
    for (int round = 0; round < (run::sanitized ? 2 : 10); ++round) {
        const MemoryFolder folder;
        const std::string file = folder / "kept";
        const perm::Plan plan(c.csr, with(c.opts, file));
        std::vector<perm::Result> results(8);
        at_once(results.size(), [&](std::size_t t) { results[t] = plan.execute(c.csr.values); });
        for (perm::Result &result : results) check_same_answer(*truth.raw(), *result.raw());
        const auto status = nlohmann::json::parse(perm::checkpoint_describe(file, PERM_FORMAT_JSON));
        CHECK(status.at("finished") == true);
        CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 2); // and the one before
    }
}

TEST_CASE("several plans of one matrix with one checkpoint, made and executed at once") {
    const LargeCase c = case_of(16, run::seed(9502));
    perm::Result truth = perm::compute(c.csr, c.opts);
    const MemoryFolder folder;
    const std::string file = folder / "kept";
    at_once(6, [&](std::size_t) {
        for (int k = 0; k < 4; ++k) {
            perm::Result result = perm::compute(c.csr, with(c.opts, file));
            if (bits_of(*result.raw()) != bits_of(*truth.raw())) throw std::runtime_error("other bits");
        }
    });
    CHECK(compute(c, file) == PERM_OK);
}

TEST_CASE("devices, pipes and folders for a checkpoint: refused before the work, and left alone") {
    const LargeCase c = case_of(9, run::seed(9503));
    const MemoryFolder folder;
    const auto check_refused = [&](const std::string &file) {
        CAPTURE(file);
        CHECK(compute(c, file) == PERM_BAD_OPTION);
        CHECK(contains(error(), file));
        CHECK(contains(error(), "name another file"));
        CHECK(!contains(error(), "remove"));
        CHECK(perm_checkpoint_describe(file.c_str(), PERM_FORMAT_TEXT, nullptr, 0, nullptr) ==
              PERM_BAD_OPTION);
    };
    for (const char *device : {"/dev/zero", "/dev/full", "/dev/null"}) {
        const std::string file = folder / fs::path(device).filename();
        fs::create_symlink(device, file);
        check_refused(file);
        CHECK(fs::is_symlink(file));
    }
    const std::string pipe = folder / "pipe", inner = folder / "folder";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    check_refused(pipe);
    CHECK(fs::is_fifo(pipe));
    fs::create_directory(inner);
    check_refused(inner);
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 5);
}

TEST_CASE("what has to be removed to begin anew is named, the one before as well") {
    const LargeCase c = case_of(9, run::seed(9504)), other = case_of(8, run::seed(9504));
    const MemoryFolder folder;
    const std::string file = folder / "kept", previous = file + ".previous";
    REQUIRE(compute(c, file) == PERM_OK);
    REQUIRE(fs::exists(previous)); // from the call's beginning
    CHECK(compute(other, file) == PERM_BAD_OPTION);
    CHECK(contains(error(), "remove this one and " + previous));
    write(file, "torn");
    write(previous, "torn too");
    CHECK(compute(c, file) == PERM_BAD_OPTION);
    CHECK(contains(error(), "remove this one and " + previous));
    fs::remove(previous);
    CHECK(compute(c, file) == PERM_BAD_OPTION);
    CHECK(contains(error(), "or remove this one to begin anew"));
    fs::remove(file);
    CHECK(compute(c, file) == PERM_OK);
}

TEST_CASE("the plan of another matrix in a checkpoint, sealed") {
    const LargeCase c = case_of(9, run::seed(9505));
    const auto plan_of = [](std::int64_t n, double density) {
        const perm::Plan plan(erdos_renyi(n, density, Entries::real, 5), in_precision("ryser", "double"));
        return capi::TaskSource(std::string_view(plan.save())).plan;
    };
    const MemoryFolder folder;
    const std::string file = folder / "kept";
    REQUIRE(compute(c, file) == PERM_OK);
    const std::string sound = read(file);
    fs::remove(file + ".previous");
    const std::string none = "no plan";
    for (const std::string &plan : {plan_of(40, 1), plan_of(9, 0.8), plan_of(0, 1), none}) {
        write(file, changed(sound, [&](Fields &fields) { fields.plan = plan; }));
        CHECK(compute(c, file) != PERM_OK);
        CHECK(contains(error(), plan == none ? "the saved plan is damaged" : "another matrix"));
        const perm::Plan own(c.csr, c.opts); // and where the plan is not made from it
        const perm_opts opts = with(c.opts, file);
        const std::string bytes = own.save();
        perm::Result unwanted;
        CHECK_THROWS_AS(unwanted = perm::Plan::load(bytes, opts).execute(c.csr.values), perm::Error);
    }
}

TEST_CASE("numbers that no checkpoint holds") {
    const LargeCase c = case_of(9, run::seed(9506));
    const MemoryFolder folder;
    const std::string file = folder / "kept";
    REQUIRE(compute(c, file) == PERM_OK);
    const std::string sound = read(file);
    fs::remove(file + ".previous");
    const double nan = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();
    const auto check_damaged = [&](const auto &change) {
        write(file, changed(sound, change));
        CHECK(compute(c, file) == PERM_BAD_OPTION);
        CHECK(contains(error(), "damaged"));
        CHECK(perm_checkpoint_describe(file.c_str(), PERM_FORMAT_JSON, nullptr, 0, nullptr) ==
              PERM_BAD_OPTION);
    };
    for (const double x : {-1.0, 1.5, inf, nan}) check_damaged([&](Fields &f) { f.fraction = x; });
    for (const double x : {-1.0, inf, nan}) check_damaged([&](Fields &f) { f.seconds = x; });
    for (const double x : {-1.0, 1e9, nan}) check_damaged([&](Fields &f) { f.run_began = x; });
    check_damaged([](Fields &f) { f.answered = 2; });
    write(file, changed(sound, [](Fields &) {}));
    CHECK(compute(c, file) == PERM_OK);
}
