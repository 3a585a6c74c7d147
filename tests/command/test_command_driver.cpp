// The perm command with a driver that sees GPUs (tests/support/fake_driver.c, named by PERM_CUDA_DRIVER) and
// may not open them: what was planned by what a GPU says it can do is planned again without it.
#include "tests/support/command.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <cstdlib>

namespace {

using namespace command;
using nlohmann::json;

// Seconds on a GPU, hours on a processor.
constexpr int order = 36;

struct FailingCall {
    explicit FailingCall(const char *call_and_code) { setenv("FAKE_DRIVER_FAIL", call_and_code, 1); }
    ~FailingCall() { unsetenv("FAKE_DRIVER_FAIL"); }
    FailingCall(const FailingCall &) = delete;
    FailingCall &operator=(const FailingCall &) = delete;
};

bool sees_gpus(const Folder &folder) {
    const json info = run(folder, {"info", "--json"}).object();
    if (info.at("driver").at("found") == true && info.at("nvrtc").at("found") == true) return true;
    MESSAGE("SKIPPED: no fake driver, or no NVRTC");
    return false;
}

} // namespace

TEST_CASE("a GPU that can be opened is planned for") {
    const Folder folder;
    if (!sees_gpus(folder)) return;
    const std::string file = folder.write("dense.mtx", dense_matrix(order));
    const json plan = run(folder, {"explain", "--json", file}).object();
    CHECK(plan.at("device") == "gpu");
    CHECK(plan.at("refused") == false);
}

TEST_CASE("one that can be opened when it is asked for again is used") {
    const Folder folder;
    if (!sees_gpus(folder)) return;
    const std::string file = folder.write("dense.mtx", dense_matrix(order));
    for (const std::string times : {"1", "2"}) {
        CAPTURE(times);
        const FailingCall failing(("cuDevicePrimaryCtxRetain:2:" + times).c_str());
        const json answer = run(folder, {"compute", file, "--cache", "", "--json"}).object();
        CHECK(contains(answer.at("error").at("text"), "cuModule")); // the fake one knows another kernel
    }
}

TEST_CASE("one that cannot be opened is planned without") {
    const Folder folder;
    if (!sees_gpus(folder)) return;
    const std::string file = folder.write("dense.mtx", dense_matrix(order));
    for (const char *failure : {"cuDevicePrimaryCtxRetain:46", "cuDevicePrimaryCtxRetain:2"}) {
        CAPTURE(std::string(failure));
        const FailingCall failing(failure);
        const Run explained = run(folder, {"explain", "--json", file});
        CHECK(explained.code == 0);
        CHECK(explained.object().at("device") == "cpu");

        const Run refused = run(folder, {"compute", file, "--time-limit", "10"});
        CHECK(refused.code == 3);
        CHECK(contains(refused.err, " thread"));

        const Run named = run(folder, {"compute", file, "--device", "gpu", "--json"});
        CHECK(named.code != 0);
        CHECK(contains(named.object().at("error").at("text"), "cuDevicePrimaryCtxRetain"));
        const json small =
            run(folder, {"compute", folder.write("small.mtx", dense_matrix(21)), "--json"}).object();
        CHECK(small.at("device") == "cpu");
        CHECK(small.at("tolerance_met") == true);
    }
}
