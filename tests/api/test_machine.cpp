// Plans for machines that are not here: what they choose, what they predict, and where they stop.
#include "bench/families.hpp"
#include "lib/base/error.hpp"
#include "lib/input/machine.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace perm::families;
using Json = nlohmann::ordered_json;

namespace {

// docs/machines/NAME.json.
Json documented(const std::string &name) {
    std::ifstream file(std::filesystem::path(PERM_TEST_SOURCE_DIR) / "../docs/machines" / (name + ".json"));
    return Json::parse(file);
}

// An H200, so many times.
Json with_gpus(std::size_t count) {
    Json machine = documented("h200");
    machine["gpus"] = Json(count, machine["gpus"][0]);
    return machine;
}

// A plan for a machine, and what it says of itself.
struct PlanFor {
    std::string machine;
    perm::Plan plan;
    std::string text;
    nlohmann::json json;

    PlanFor(const perm::Csr &a, const Json &of, perm_opts opts = PERM_OPTS_INIT)
        : machine(of.dump()), plan(a, with(opts, machine)), text(plan.explain()), json(explained(plan)) {}

    static perm_opts with(perm_opts opts, const std::string &text) {
        opts.machine = text.c_str();
        return opts;
    }

    double seconds() const { return json.at("predicted_seconds").get<double>(); }
};

perm_opts on_device(const char *device, const char *engine = "auto") {
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = device;
    opts.engine = engine;
    return opts;
}

perm::Csr random_square(std::int64_t n, double density) {
    Random random(run::seed(401));
    return build(n, n, [&](std::int64_t i, std::int64_t j) {
        return i == j || random.chance(density) ? random.uniform(0.1, 1) : 0;
    });
}

bool contains(const std::string &text, const std::string &part) { return text.find(part) != text.npos; }

// Why a plan with this machine is refused.
std::string refusal_of(const std::string &machine, const char *device = "auto") {
    perm_opts opts = on_device(device);
    opts.machine = machine.c_str();
    const perm::Csr a = constant(3, 1);
    const perm_csr csr = a.view();
    perm_plan *plan = nullptr;
    CAPTURE(machine);
    CHECK(perm_plan_create(&csr, &opts, &plan) == PERM_BAD_OPTION);
    CHECK(plan == nullptr);
    return perm_last_error();
}

} // namespace

// ---------------------------------------------------------------- what is planned

TEST_CASE("machine: a matrix of 45 rows goes to the GPU of the machine that is told of" *
          doctest::skip(run::sanitized)) {
    const PlanFor h200(random_square(45, 0.3), documented("h200"));
    CHECK(h200.json.at("engine") == "tree");
    CHECK(h200.json.at("device") == "gpu");
    CHECK(h200.json.at("refused") == false);
    CHECK(h200.json.at("machine") == "x86-64, 16 cores, 137 GB, NVIDIA H200");
    CHECK(h200.text.starts_with("for: x86-64, 16 cores, 137 GB, NVIDIA H200\nn = 45, "));
}

TEST_CASE("machine: a plan follows from the machine, and the same plan from the same one" *
          doctest::skip(run::sanitized)) {
    const perm::Csr a = random_square(36, 0.3);
    const PlanFor h200(a, documented("h200")), again(a, documented("h200"));
    CHECK(again.text == h200.text);
    CHECK(again.json == h200.json);
    Json slow = documented("h200");
    slow["gpus"][0]["multiprocessors"] = 1;
    CHECK(PlanFor(a, slow, on_device("gpu", "hybrid")).seconds() >
          2 * PlanFor(a, documented("h200"), on_device("gpu", "hybrid")).seconds()); // it compiles as long
    Json none = documented("h200");
    none["gpus"] = Json::array();
    const PlanFor cpu(a, none);
    CHECK(cpu.json.at("device") == "cpu");
    CHECK(cpu.json.at("machine") == "x86-64, 16 cores, 137 GB, no GPU");
}

TEST_CASE("machine: a wide frontier is planned by the GPU's bandwidth and memory") {
    if (run::sanitized) return run::skip("a search of a minute there; it is sanitized elsewhere");
    const perm::Csr a = grid(30, 30);
    const perm_opts frontier = on_device("gpu", "frontier"); // another engine is for what is planar
    const PlanFor h100(a, documented("h100"), frontier), h200(a, documented("h200"), frontier);
    CHECK(h200.json.at("form") == "dense");
    CHECK(h200.json.at("device") == "gpu");
    CHECK_FALSE(h200.json.contains("slices"));
    CHECK(h200.seconds() < h100.seconds());

    Json small = documented("h200");
    small["gpus"][0]["memory_bytes"] = std::int64_t{1} << 30;
    const PlanFor sliced(a, small, frontier);
    CHECK(sliced.json.at("slices") > 1);
    CHECK(sliced.json.at("predicted_bytes") < 0x1p30);
    CHECK(sliced.seconds() > h200.seconds());
}

TEST_CASE("machine: the GPUs that device names are its own") {
    const perm::Csr a = random_square(40, 0.3);
    const auto seconds = [&](const char *device) {
        return PlanFor(a, with_gpus(2), on_device(device, "hybrid")).seconds();
    };
    const double one = seconds("gpu"), two = seconds("gpu:0,1");
    CHECK(two < one);
    CHECK(two > one / 2);
    CHECK(seconds("gpu:all") == two);
    CHECK(seconds("gpu:1") == one);
    CHECK(PlanFor(a, with_gpus(2)).json.at("machine") == "x86-64, 16 cores, 137 GB, 2 x NVIDIA H200");

    CHECK(contains(refusal_of(with_gpus(2).dump(), "gpu:3"), "device names GPU 3, the machine has 2"));
    CHECK(contains(refusal_of(with_gpus(2).dump(), "gpu:0,2"), "device names GPU 2, the machine has 2"));
    CHECK(contains(refusal_of(with_gpus(0).dump(), "gpu:0"), "device names GPU 0, the machine has none"));
    const PlanFor lacking(a, with_gpus(0), on_device("gpu"));
    CHECK(lacking.json.at("refused") == true);
    CHECK(contains(lacking.text, "needs a GPU: the machine that is planned for has none"));
    CHECK_FALSE(contains(lacking.text, "does without one"));
}

TEST_CASE("machine: threads and memory are its own") {
    const perm::Csr a = constant(4, 1);
    const auto threads = [&](std::int32_t asked) {
        perm_opts opts = PERM_OPTS_INIT;
        opts.threads = asked;
        return PlanFor(a, documented("h100"), opts).json.at("threads").get<int>();
    };
    CHECK(threads(0) == 16);
    CHECK(threads(3) == 3);
    CHECK(threads(99) == 16);
    perm_opts opts = PERM_OPTS_INIT;
    CHECK(PlanFor(a, documented("h100"), opts).json.at("memory_limit_bytes") == (std::int64_t{96} << 30));
    opts.memory_limit_bytes = 12345;
    CHECK(PlanFor(a, documented("h100"), opts).json.at("memory_limit_bytes") == 12345);
}

TEST_CASE("machine: its GPU is the target of a kernel's source") {
    const PlanFor plan(random_square(20, 0.4), documented("h200"), on_device("gpu", "hybrid"));
    CHECK(contains(plan.plan.source(), "// Target: sm_90. "));
}

// ---------------------------------------------------------------- where such plans go

TEST_CASE("machine: a plan for another is refused here, and carried there") {
    const perm::Csr a = random_square(12, 0.5);
    const PlanFor elsewhere(a, documented("h200"));
    const void *values = a.values.data();
    std::vector<double> gradient(a.values.size());
    const perm_csr csr = a.view();
    const perm_opts opts = PlanFor::with(PERM_OPTS_INIT, elsewhere.machine);
    perm_plan *plan = nullptr;
    REQUIRE(perm_plan_create(&csr, &opts, &plan) == PERM_OK);
    perm::Result r = perm::compute(a); // what failures clear
    const auto check_refused = [&](perm_status status, const char *what_to_do) {
        CHECK(status == PERM_BAD_OPTION);
        CHECK(contains(perm_last_error(), "another machine (x86-64, 16 cores, 137 GB, NVIDIA H200)"));
        CHECK(contains(perm_last_error(), what_to_do));
    };
    check_refused(perm_compute(&csr, &opts, r.raw()), "leave out the option machine");
    CHECK(cleared(*r.raw()));
    check_refused(perm_plan_execute(plan, values, r.raw()), "load it there");
    check_refused(perm_plan_execute_batch(plan, values, 0, 1, r.raw()), "load it there");
    check_refused(perm_plan_gradient(plan, values, gradient.data(), nullptr, r.raw()), "load it there");
    perm_task *task = nullptr;
    check_refused(perm_task_plan(plan, values, &task), "load it there");
    perm_plan_destroy(plan);

    const std::string saved = elsewhere.plan.save();
    CHECK(saved == perm::Plan(a).save()); // too small for any machine to matter
    check_same_answer(*perm::Plan::load(saved).execute(values).raw(), *perm::Plan(a).execute(values).raw());
    const perm::Plan explained_there = perm::Plan::load(saved, opts);
    CHECK(explained_there.explain() == elsewhere.text);
    CHECK_THROWS_AS(explained_there.execute(values), perm::Error);
}

TEST_CASE("machine: this one, as it tells of itself, is planned for as without") {
    const Json here = Json::parse(perm::info(PERM_FORMAT_MACHINE));
    for (const perm::Csr &a : {constant(4, 1), random_square(30, 0.4), grid(12, 12)})
        for (const char *device : {"auto", "cpu"}) {
            const PlanFor told(a, here, on_device(device));
            const perm::Plan own(a, on_device(device));
            const std::string heading = told.text.substr(0, told.text.find('\n') + 1);
            CHECK(told.text == heading + own.explain());
            nlohmann::json json = told.json;
            json.erase("machine");
            CHECK(json == explained(own));
        }
}

TEST_CASE("machine: what is written is read again") {
    for (const char *name : {"h100", "h200"}) {
        const Json written = documented(name);
        const libperm::Machine machine = libperm::read_machine(written.dump());
        CHECK(machine.gpus.at(0).compute_capability == 90);
        CHECK(machine.gpus.at(0).memory_bandwidth == written["gpus"][0]["memory_bandwidth"]);
        CHECK(Json::parse(libperm::machine_json(machine).written()) == written);
    }
}

// ---------------------------------------------------------------- what is no machine

TEST_CASE("machine: JSON that tells of none is refused by its key") {
    for (const char *text : {"", "{", "nonsense", "{\"cores\": 1e999}", "\xff", "{} {}"})
        CHECK(contains(refusal_of(text), "machine: it is not JSON: "));
    CHECK(contains(refusal_of(std::string(100000, '[') + std::string(100000, ']')), "nested more than"));
    for (const char *text : {"[]", "null", "16", "\"h200\""})
        CHECK(contains(refusal_of(text), "it must be an object with the keys processor, gpus, cores"));

    const Json good = documented("h200");
    const auto check_refused = [](const Json &machine, const std::string &word) {
        const std::string text = refusal_of(machine.dump());
        CAPTURE(text);
        CHECK(contains(text, word));
        CHECK(contains(text, "perm info --machine"));
    };
    const auto check_keys = [&](const Json &object, const std::string &path, const auto &within) {
        for (const auto &[key, value] : object.items()) {
            Json changed = good;
            within(changed).erase(key);
            check_refused(changed, "\"" + path + key + "\" is missing");
            for (const Json &bad : {Json(nullptr), Json(true), Json(Json::object()), Json(-1),
                                    Json("two\nlines"), Json(1e30)}) {
                changed = good;
                within(changed)[key] = bad;
                check_refused(changed, "\"" + path + key + "\" must ");
            }
        }
        Json changed = good;
        within(changed)["colour"] = "green";
        check_refused(changed, "unknown key \"" + path + "colour\"");
    };
    check_keys(good, "", [](Json &machine) -> Json & { return machine; });
    check_keys(good["gpus"][0], "gpus[0].", [](Json &machine) -> Json & { return machine["gpus"][0]; });

    Json changed = good;
    changed["gpus"].push_back(7);
    check_refused(changed, "gpus[1] must be an object with the keys name, compute_capability");
    for (const Json &cores : {Json(0), Json(4097), Json(1.5), Json(std::uint64_t{1} << 63), Json("16")}) {
        changed = good;
        changed["cores"] = cores;
        check_refused(changed, "\"cores\" must be a whole number from 1 to 4096");
    }
    changed = good;
    changed["gpus"][0]["name"] = "";
    check_refused(changed, "\"gpus[0].name\" must not be empty");
    changed = good;
    changed["cores"] = 1.6e1; // whole, however it is written
    CHECK(PlanFor(constant(3, 1), changed).json.at("threads") == 16);
}

TEST_CASE("machine: callers who know of none") {
    perm_opts opts = PERM_OPTS_INIT;
    opts.struct_size = offsetof(perm_opts, machine);
    opts.machine = "memory beyond the caller's struct";
    CHECK(status_of(constant(3, 1).view(), opts) == PERM_OK);
    opts.struct_size = sizeof opts;
    CHECK(status_of(constant(3, 1).view(), opts) == PERM_BAD_OPTION);
}
