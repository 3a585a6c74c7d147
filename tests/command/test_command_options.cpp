// Every subcommand with every option of the library: offered by --help and accepted, or refused with what to
// do instead.
#include "tests/support/check.hpp"
#include "tests/support/command.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <vector>

using namespace command;
using nlohmann::json;

namespace {

using Words = std::vector<std::string>;

bool has(const json &list, const std::string &name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

struct Subcommand {
    std::string name;
    std::string call; // of the library, with its options
    Words words;      // the command line without options
};

struct Given {
    std::string field, option, value;
};

// That counts for the call with no value but its default; null: it counts.
const json *refusing_rule(const json &table, const std::string &call, const std::string &field) {
    for (const json &rule : table.at("rules"))
        if (rule.at("values") == "" && has(rule.at("calls"), call) && has(rule.at("options"), field))
            return &rule;
    return nullptr;
}

} // namespace

TEST_CASE("every subcommand with every option") {
    const Folder folder;
    const std::string file = folder.write("m.mtx", dense_matrix(6)),
                      cell = folder.write("c.mtx",
                                          "%%MatrixMarket matrix array integer general\n1 3\n1\n1\n1\n");
    const std::string part = folder / "part",
                      machine = folder.write("here", run(folder, {"info", "--machine"}).out);
    const std::vector<Subcommand> subcommands{
        {"compute", "perm_compute", {"compute", file}},
        {"bounds", "perm_bounds", {"bounds", file}},
        {"estimate", "perm_estimate", {"estimate", file}},
        {"sample", "perm_sample", {"sample", file}},
        {"matchings", "perm_matchings", {"matchings", file}},
        {"polynomial", "perm_polynomial", {"polynomial", file}},
        {"explain", "perm_plan_create", {"explain", file}},
        {"plan", "perm_plan_create", {"plan", file, "-o", folder / "plan"}},
        {"source", "perm_plan_create", {"source", file}},
        {"shard", "shards of perm_task_plan", {"shard", file, "--of", "1", "--index", "0", "-o", part}},
        {"shard",
         "shards of perm_task_estimate",
         {"shard", file, "--estimate", "--of", "1", "--index", "0", "-o", part}},
        {"periodic", "perm_periodic_execute", {"periodic", cell, "--length", "3"}},
        {"periodic", "perm_periodic_generating_function", {"periodic", cell, "--generating-function"}},
        {"periodic", "perm_periodic_growth", {"periodic", cell, "--growth"}}};
    const std::vector<Given> options{{"engine", "--engine", "tree"},
                                     {"device", "--device", "cpu"},
                                     {"precision", "--precision", "exact"},
                                     {"tolerance", "--tolerance", "1e-5"},
                                     {"seed", "--seed", "3"},
                                     {"without", "--without", "dm"},
                                     {"decompose", "--decompose", "paper"},
                                     {"chunks", "--chunks", "equal"},
                                     {"threads", "--threads", "1"},
                                     {"memory_limit_bytes", "--memory", "1G"},
                                     {"time_limit_seconds", "--time-limit", "100"},
                                     {"cache_dir", "--cache", folder / "cache"},
                                     {"checkpoint", "--checkpoint", folder / "kept"},
                                     {"checkpoint_seconds", "--checkpoint-every", "5"},
                                     {"gpus", "--gpus", "1"},
                                     {"function", "--function", "hafnian"},
                                     {"machine", "--machine", machine}};
    const Run told = run(folder, {"info", "--options", "--json"});
    const json table = told.object();
    const std::string without_option[] = {"progress", "cancel",
                                          "cache_limit_bytes"}; // that are not the command's
    CHECK(table.at("options").size() == options.size() + std::size(without_option));
    std::map<std::string, std::string> helps;
    int accepted = 0, refused = 0, unknown = 0, number = 0;
    for (const Subcommand &one : subcommands) {
        std::string &help = helps[one.name];
        if (help.empty()) help = run(folder, {one.name, "--help"}).out;
        for (const Given &given : options) {
            CAPTURE(one.name);
            CAPTURE(one.call);
            CAPTURE(given.option);
            if (is_sanitized && ++number % 4 > 0) continue; // 238 programs are started
            for (const char *name : {"part", "part.previous", "kept", "kept.previous"})
                std::filesystem::remove(folder / name);
            Words words = one.words;
            words.push_back(given.option);
            words.push_back(given.value);
            if (given.field == "checkpoint_seconds" && one.name != "shard")
                words.insert(words.end(), {"--checkpoint", folder / "kept"});
            const Run r = run(folder, words);
            CAPTURE(r.err);
            const bool is_offered = contains(help, "  " + given.option + " ");
            // A part's file is its checkpoint, whatever the library keeps.
            const bool is_of_part = one.name == "shard" && given.field == "checkpoint_seconds";
            const json *rule = is_of_part ? nullptr : refusing_rule(table, one.call, given.field);
            if (rule) {
                ++refused;
                CHECK((r.code == 2 || r.code == 3));
                CHECK(r.out.empty());
                CHECK((contains(r.err, rule->at("why").get<std::string>()) ||
                       (one.name == "shard" && !is_offered))); // by the other of its calls
            } else if (is_offered) {
                ++accepted;
                CHECK((r.code == 0 || contains(r.err, "use engine auto or frontier") ||
                       contains(r.err, "of a symmetric matrix") ||
                       contains(r.err, "the numbers are exact: leave") || one.name == "source" ||
                       contains(r.err, "in doubles")));
            } else {
                ++unknown;
                CHECK(r.code == 2);
                CHECK(contains(r.err, "unknown option " + given.option));
            }
            if (one.name != "shard" && one.name != "periodic") CHECK(!(rule && is_offered));
        }
    }
    MESSAGE(accepted, " accepted, ", refused, " refused, ", unknown, " not offered");
    CHECK(accepted > (is_sanitized ? 20 : 80));
    CHECK(refused > (is_sanitized ? 10 : 50));
}

TEST_CASE("options that count with some values alone") {
    const Folder folder;
    const std::string file = folder.write("m.mtx", dense_matrix(6)),
                      cell = folder.write("c.mtx",
                                          "%%MatrixMarket matrix array integer general\n1 3\n1\n1\n1\n");
    for (const char *precision : {"mod:7", "exact"})
        check_usage_error(folder, {"compute", file, "--or-estimate", "--precision", precision},
                          "an estimate has neither a residue nor exact numbers");
    CHECK(run(folder, {"compute", file, "--or-estimate", "--precision", "dd"}).code == 0);
    check_usage_error(folder, {"bounds", file, "--device", "gpu"}, "use device auto or cpu");
    check_usage_error(folder, {"periodic", cell, "--growth", "--precision", "mod:7"}, "certain bracket");
    check_usage_error(folder, {"periodic", cell, "--generating-function", "--precision", "mod:7"},
                      "a generating function is exact");
    check_usage_error(folder, {"compute", file, "--checkpoint-every", "5"}, "--checkpoint");
    check_usage_error(folder, {"bounds", file, "--engine=ryser"}, "--engine does not count for perm bounds");
}

TEST_CASE("matchings of doubles are decimals, all of them") {
    const Folder folder;
    const std::string file = folder.write(
        "m.mtx", "%%MatrixMarket matrix array real general\n3 3\n.1\n.25\n.7\n.5\n.3\n.125\n.9\n.2\n.75\n");
    const Run rounded = run(folder, {"matchings", file}),
              exact = run(folder, {"matchings", file, "--precision", "exact"});
    CHECK(rounded.code == 0);
    CHECK_FALSE(contains(rounded.out, "/"));
    CHECK(contains(exact.out, "/"));
}

TEST_CASE("coefficients of a polynomial: of files of every kind of number, and of the unit matrix") {
    const Folder folder;
    const std::string header = "%%MatrixMarket matrix coordinate ",
                      c = folder.write("c.mtx", header + "integer general\n2 2 3\n1 1 2\n1 2 1\n2 2 3\n"),
                      ell = folder.write("l.mtx", header + "real general\n2 2 2\n2 1 0.5\n2 2 1\n"),
                      ones = folder.write("p.mtx", header + "pattern general\n2 2 1\n2 1\n"),
                      waves = folder.write("w.mtx", header + "complex general\n2 2 1\n1 1 0 1\n"),
                      wide = folder.write("r.mtx", header + "integer general\n1 2 1\n1 1 1\n");
    const auto coefficients = [&](Words words) {
        words.insert(words.begin(), "polynomial");
        words.push_back("--json");
        const Run r = run(folder, words);
        CHECK(r.code == 0);
        return json::parse(r.out)["coefficients"].dump();
    };
    CHECK(coefficients({c}) == R"(["6","5","1"])");
    CHECK(coefficients({c, "--linear", ones}) == R"(["6","1","0"])");
    CHECK(coefficients({c, "--linear", ell, "--precision", "exact"}) == R"(["6","5/2","0"])");
    CHECK(coefficients({c, "--linear", ell, "--decimal"}) == R"(["6","2.5000000000000000e+00","0"])");
    CHECK(coefficients({c, "--linear", waves, "--precision", "exact"}) == R"(["6","0+3i","0"])");
    CHECK(run(folder, {"polynomial", c, "-q"}).out == "6\n5\n1\n");
    CHECK(run(folder, {"polynomial", wide}).code == 2);
    CHECK(run(folder, {"polynomial", c, "--linear", wide}).code == 2);
    CHECK(run(folder, {"polynomial", c, "--linear", folder / "none.mtx"}).code == 2);
}
