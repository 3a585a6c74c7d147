// The command plans for machines that are not here, and tells of the one that is.
#include "tests/support/command.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace {

using namespace command;
using nlohmann::json;

std::string documented(const std::string &name) {
    return std::filesystem::path(PERM_TEST_SOURCE_DIR) / "../docs/machines" / (name + ".json");
}

// Without its first line.
std::string rest_of(const std::string &text) { return text.substr(text.find('\n') + 1); }

} // namespace

TEST_CASE("explain for a machine that is not here") {
    const Folder folder;
    const std::string file = folder.write("m.mtx", dense_matrix(40));
    const Run text = run(folder, {"explain", file, "--engine", "hybrid", "--machine", documented("h200")});
    CHECK(text.code == 0);
    CHECK(text.err.empty());
    CHECK(text.out.starts_with("for: x86-64, 16 cores, 137 GB, NVIDIA H200\nn = 40, 1600 entries"));
    const json o =
        run(folder, {"explain", file, "--engine", "hybrid", "--machine", documented("h100"), "--json"})
            .object();
    CHECK(o.at("machine") == "x86-64, 16 cores, 137 GB, NVIDIA H100 80GB HBM3");
    CHECK(o.at("device") == "gpu");
    CHECK(o.at("threads") == 16);
    const Run source = run(folder, {"source", file, "--engine", "hybrid", "--machine", documented("h200")});
    CHECK(source.code == 0);
    CHECK(source.out.starts_with("// Target: sm_90. "));
}

TEST_CASE("a plan for a machine that is not here is a file as any other") {
    const Folder folder;
    const std::string file = folder.write("m.mtx", dense_matrix(8));
    const Run plan = run(folder, {"plan", file, "--machine", documented("h200"), "-o", folder / "plan"});
    CAPTURE(plan.err);
    CHECK(plan.code == 0);
    const Run there = run(folder, {"compute", file, "--plan", folder / "plan", "--quiet"});
    CHECK(there.code == 0);
    CHECK(there.out == run(folder, {"compute", file, "--quiet"}).out);
}

TEST_CASE("info --machine is what --machine reads") {
    const Folder folder;
    const Run here = run(folder, {"info", "--machine"});
    CHECK(here.code == 0);
    CHECK(here.err.empty());
    const json o = here.object();
    CHECK(o.size() == 4);
    CHECK(o.at("cores") >= 1);
    CHECK(o.at("gpus").is_array());
    CHECK(run(folder, {"info", "--machine", "--json"}).out == here.out);
    const std::string file = folder.write("m.mtx", dense_matrix(24)),
                      machine = folder.write("here.json", here.out);
    const Run told = run(folder, {"explain", file, "--machine", machine});
    CHECK(told.code == 0);
    CHECK(told.out.starts_with("for: "));
    CHECK(rest_of(told.out) == run(folder, {"explain", file}).out);
}

TEST_CASE("machines that cannot be read") {
    const Folder folder;
    const std::string file = folder.write("m.mtx", dense_matrix(3));
    check_usage_error(folder, {"explain", file, "--machine", folder / "missing.json"},
                      "cannot read '" + folder / "missing.json");
    check_usage_error(folder, {"explain", file, "--machine", folder / "."}, "cannot read '");
    check_usage_error(folder, {"explain", file, "--machine", folder.write("empty.json", "")},
                      "machine: it is not JSON");
    check_usage_error(folder, {"explain", file, "--machine", folder.write("bad.json", "{\"cors\": 16}")},
                      "unknown key \"cors\"");
    check_usage_error(folder, {"explain", file, "--machine", documented("h200"), "--device", "gpu:1"},
                      "device names GPU 1, the machine has 1");
    check_usage_error(folder, {"compute", file, "--machine", documented("h200")},
                      "what is planned for another machine is not to be executed here");
}
