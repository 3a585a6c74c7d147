// The perm command as a user or a script sees it: what it prints where, and its exit codes.
#include "capi/command/output.hpp"
#include "tests/support/command.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace command;
using nlohmann::json;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

const std::string banner = "%%MatrixMarket matrix ";

// Its permanent is 10.
const std::string small = banner + "coordinate real general\n2 2 4\n1 1 1\n1 2 2\n2 1 3\n2 2 4\n";

// Days of work for the engine ryser.
std::string long_job() { return dense_matrix(40); }

const std::vector<std::string> long_options{"--engine", "ryser", "--time-limit", "none"};

std::vector<std::string> long_arguments(const std::string &file, const std::vector<std::string> &more = {}) {
    std::vector<std::string> arguments{"compute", file};
    arguments.insert(arguments.end(), long_options.begin(), long_options.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

} // namespace

TEST_CASE("compute in words") {
    const Folder folder;
    const std::string file = folder.write("small.mtx", small);

    const Run r = run(folder, {"compute", file});
    CHECK(r.code == 0);
    CHECK(r.err.empty());
    CHECK(contains(r.out, "perm(small.mtx) = 10\n"));
    CHECK(contains(r.out, "exact"));
    CHECK(contains(r.out, "n = 2, 4 entries"));

    const Run quiet = run(folder, {"compute", "--quiet", file});
    CHECK(quiet.code == 0);
    CHECK(quiet.out == "10\n");
    CHECK(quiet.err.empty());
}

TEST_CASE("compute in JSON") {
    const Folder folder;
    const Run r = run(folder, {"compute", "--json", folder.write("small.mtx", small)});
    CHECK(r.code == 0);
    CHECK(r.err.empty());
    const json o = r.object();
    CHECK(o.at("permanent") == "10");
    CHECK(o.at("real") == 10.0);
    CHECK(o.at("imag") == 0.0);
    CHECK(o.at("mantissa") == 0.625);
    CHECK(o.at("mantissa_imag") == 0.0);
    CHECK(o.at("exp2") == 4);
    CHECK(o.at("exact") == true);
    CHECK(o.at("rel_error_bound") == 0.0);
    CHECK(o.at("tolerance_met") == true);
    CHECK(o.at("engine").is_string());
    CHECK(o.at("device") == "cpu");
    CHECK(o.at("threads") >= 1);
    CHECK(o.at("n") == 2);
    CHECK(o.at("nnz") == 4);
    CHECK(o.at("abs_error_bound") == 0.0);
    CHECK(o.at("certain_digits").is_null());
    for (const char *measured : {"states", "peak_states", "subsets", "operations", "peak_bytes"})
        CHECK(o.at(measured).get<double>() >= 0);
    CHECK(o.at("plan").is_object());
    const json &s = o.at("seconds");
    for (const char *phase : {"total", "read", "check", "plan", "run", "compile"})
        CHECK(s.at(phase).get<double>() >= 0);
    CHECK(s.at("run").get<double>() >= s.at("compile").get<double>());
    CHECK(o.at("kernels_compiled") == 0);
    CHECK(s.at("total").get<double>() >= s.at("read").get<double>() + s.at("plan").get<double>());
}

TEST_CASE("a small dense matrix takes the straight road, its plan is told all the same") {
    const Folder folder;
    const std::string file = folder.write("dense.mtx", dense_matrix(12));
    const json o = run(folder, {"compute", "--json", file}).object();
    CHECK(o.at("engine") == "glynn");
    CHECK(o.at("plan").at("straight_road") == true);
    CHECK(o.at("plan").at("engine") != "glynn");
    CHECK(o.at("seconds").at("plan") == 0);
    const Run text = run(folder, {"compute", file});
    CHECK(contains(text.out, ", glynn on cpu"));
    CHECK(contains(text.out, o.at("permanent").get<std::string>()));
    // One that was made beforehand goes there too, with the same bits.
    const std::string plan = folder / "plan";
    REQUIRE(run(folder, {"plan", file, "-o", plan}).code == 0);
    const json by_plan = run(folder, {"compute", "--json", file, "--plan", plan}).object();
    CHECK(by_plan.at("engine") == "glynn");
    CHECK(by_plan.at("permanent") == o.at("permanent"));
}

TEST_CASE("compute with each option") {
    const Folder folder;
    const std::string file = folder.write("small.mtx", small);
    const Run r = run(folder, {"compute",     file,     "--engine",     "ryser", "--device",  "cpu",
                               "--precision", "double", "--tolerance",  "1e-6",  "--threads", "2",
                               "--memory",    "1.5GiB", "--time-limit", "2h",    "--seed",    "7",
                               "--without",   "all",    "--decompose",  "auto",  "--chunks",  "ceg",
                               "--cache",     "",       "--json"});
    CAPTURE(r.err);
    CHECK(r.code == 0);
    CHECK(r.object().at("real").get<double>() == doctest::Approx(10));
    CHECK(r.object().at("engine") == "ryser");
    CHECK(r.object().at("subsets").get<double>() > 0);
    CHECK(r.object().at("operations").get<double>() > 0);
    for (const char *memory : {"100000000", "100M", "0.1T", "100mb", "2gib", "1GB"})
        CHECK(run(folder, {"compute", file, "--memory", memory}).code == 0);
    for (const char *limit : {"none", "inf", "100", "90s", "1.5m", "2h", "3d", "1e3"})
        CHECK(run(folder, {"compute", file, "--time-limit", limit}).code == 0);
}

TEST_CASE("compute from the standard input") {
    const Folder folder;
    const std::string file = folder.write("small.mtx", small);
    const Run r = run(folder, {"compute", "-"}, file);
    CHECK(r.code == 0);
    CHECK(contains(r.out, "perm(stdin) = 10\n"));
    const Run bad = run(folder, {"compute", "-"}, folder.write("bad.mtx", small + "junk\n"));
    CHECK(bad.code == 2);
    CHECK(contains(bad.err, "stdin:7: "));
}

TEST_CASE("compute of unusual matrices") {
    const Folder folder;
    const auto permanent = [&](const std::string &text) {
        const Run r = run(folder, {"compute", "--json", folder.write("m.mtx", banner + text)});
        CAPTURE(r.err);
        CHECK(r.code == 0);
        return r.object();
    };
    CHECK(permanent("coordinate real general\n0 0 0\n").at("permanent") == "1");
    CHECK(permanent("coordinate real general\n2 2 1\n1 1 1\n").at("permanent") == "0");
    CHECK(permanent("coordinate pattern symmetric\n2 2 3\n1 1\n2 1\n2 2\n").at("permanent") == "2");
    CHECK(permanent("array integer skew-symmetric\n2 2\n3\n").at("permanent") == "-9");

    SUBCASE("explicit zeros take no part") {
        const json o = permanent("coordinate real general\n2 2 3\n1 1 2\n2 1 0\n2 2 3\n");
        CHECK(o.at("permanent") == "6");
        CHECK(o.at("nnz") == 2);
    }
    SUBCASE("a value beyond double is null, and a text") {
        const json o = permanent("coordinate real general\n2 2 2\n1 1 1e300\n2 2 1e300\n");
        CHECK(o.at("real").is_null());
        CHECK(o.at("permanent").get<std::string>().size() > 4);
        CHECK(o.at("exp2").get<int>() > 1024);
    }
}

TEST_CASE("explain") {
    const Folder folder;
    const std::string file = folder.write("small.mtx", small);
    const Run text = run(folder, {"explain", file});
    CHECK(text.code == 0);
    CHECK_FALSE(text.out.empty());
    CHECK(text.err.empty());
    const Run object = run(folder, {"explain", file, "--json", "--threads", "1"});
    CHECK(object.code == 0);
    CHECK(object.object().size() > 0);
    // What only a run could heed is not offered.
    const std::string help = run(folder, {"explain", "--help"}).out;
    CHECK_FALSE(contains(help, "--quiet"));
    CHECK(contains(run(folder, {"compute", "--help"}).out, "--quiet"));
    check_usage_error(folder, {"explain", file, "-q"}, "(see perm explain --help)");
    // The plan of compute is the same object.
    const Run compute = run(folder, {"compute", file, "--json", "--threads", "1"});
    CHECK(compute.object().at("plan").at("engine") == object.object().at("engine"));
}

TEST_CASE("a table beyond --memory is cut into slices") {
    const Folder folder;
    std::ostringstream text; // of 24 rows with 7 ones each
    text << banner << "coordinate pattern general\n24 24 168\n";
    for (int i = 0; i < 24; ++i)
        for (const int offset : {0, 1, 4, 9, 11, 16, 18})
            text << i + 1 << ' ' << (i + offset) % 24 + 1 << '\n';
    const std::string file = folder.write("circulant.mtx", text.str());
    const Run whole = run(folder, {"compute", file, "--engine", "frontier", "--json"});
    REQUIRE(whole.code == 0);
    CHECK_FALSE(whole.object().at("plan").contains("slices"));
    const std::string limit = std::to_string(whole.object().at("peak_bytes").get<std::int64_t>() / 4);
    const Run sliced = run(folder, {"compute", file, "--engine", "frontier", "--json", "--memory", limit});
    REQUIRE(sliced.code == 0);
    CHECK(sliced.object().at("permanent") == whole.object().at("permanent"));
    CHECK(sliced.object().at("exact") == true);
    const int slices = sliced.object().at("plan").at("slices").get<int>();
    CHECK(slices > 1);
    const Run explained = run(folder, {"explain", file, "--engine", "frontier", "--memory", limit});
    CHECK(explained.code == 0);
    CHECK(contains(explained.out, "frontier sliced"));
    CHECK(contains(explained.out, std::to_string(slices) + " slices of up to "));
}

TEST_CASE("reductions are left out and chosen") {
    const Folder folder;
    std::ostringstream text; // tridiagonal: its permanent is a Fibonacci number
    text << banner << "coordinate pattern general\n40 40 118\n";
    for (int i = 1; i <= 40; ++i)
        for (int j = std::max(1, i - 1); j <= std::min(40, i + 1); ++j) text << i << ' ' << j << '\n';
    const std::string file = folder.write("path.mtx", text.str());
    struct Case {
        std::vector<std::string> options;
        int blocks, average_n;
    };
    for (const Case &c : {Case{{}, 0, 0},
                          {{"--without", ""}, 0, 0},
                          {{"--without", "fm,merge"}, 0, 0},
                          {{"--without", "d2"}, 1, 40},
                          {{"--without", "all"}, 1, 40},
                          {{"--decompose", "auto"}, 0, 0},
                          {{"--decompose", "paper"}, 1, 30},
                          {{"--decompose", "paper", "--without", "all,scaling"}, 1, 40}}) {
        std::vector<std::string> arguments{"explain", "--json", file};
        arguments.insert(arguments.end(), c.options.begin(), c.options.end());
        const json plan = run(folder, arguments).object();
        CAPTURE(plan.dump(1));
        CHECK(plan.at("blocks") == c.blocks);
        CHECK(plan.at("average_n") == c.average_n);
        arguments[0] = "compute";
        arguments[1] = "--quiet";
        CHECK(run(folder, arguments).out == "165580141\n");
    }

    for (const char *command : {"compute", "explain"}) {
        check_usage_error(folder, {command, file, "--without", "dm,sm"},
                          "unknown reduction \"sm\" in without: use matching, dm");
        check_usage_error(folder, {command, file, "--without", "DM"}, "\"DM\"");
        check_usage_error(folder, {command, file, "--decompose", "papers"},
                          "unknown decompose \"papers\": use auto or paper");
        check_usage_error(folder, {command, file, "--without"}, "--without");
        check_usage_error(folder, {command, file, "--decompose"}, "--decompose");
        const std::string help = run(folder, {command, "--help"}).out;
        for (const char *word : {"--without", "--decompose", "matching, dm, d1, d2, fm, merge", "paper"})
            CHECK(contains(help, word));
    }
    const Run r = run(folder, {"compute", file, "--without", "sm", "--json"});
    CHECK(r.code == 2);
    CHECK(r.object().at("error").at("code") == 103);
}

TEST_CASE("info, version and help") {
    const Folder folder;
    const Run text = run(folder, {"info"});
    CHECK(text.code == 0);
    CHECK(text.err.empty());
    for (const char *word :
         {"\nengines ", "\ndevices ", "\ndriver ", "\nNVRTC ", "\nkernels ", "\nlibraries "})
        CHECK(contains(text.out, word));
    const json object = run(folder, {"info", "--json"}).object();
    for (const char *name :
         {"version", "engines", "devices", "gpus", "driver", "nvrtc", "kernel_cache", "memory_bytes"})
        CHECK(object.contains(name));
    const Run version = run(folder, {"--version"});
    CHECK(version.code == 0);
    CHECK(version.out.rfind("perm 1.", 0) == 0);
    for (const std::vector<std::string> &arguments : {std::vector<std::string>{"--help"},
                                                      {"compute", "--help"},
                                                      {"explain", "-h"},
                                                      {"info", "--help"},
                                                      {"source", "--help"},
                                                      {"cache", "--help"},
                                                      {"cache", "list", "--help"}}) {
        const Run help = run(folder, arguments);
        CHECK(help.code == 0);
        CHECK(help.err.empty());
        CHECK(contains(help.out, "130 cancelled"));
    }
}

TEST_CASE("source") {
    const Folder folder;
    const std::string odd = "0.8675309";
    std::ostringstream matrix;
    matrix << banner << "array real general\n9 9\n";
    for (int k = 0; k < 81; ++k) matrix << odd << 10 + k << '\n'; // no two rows are multiples
    const std::string file = folder.write("m.mtx", matrix.str());
    for (const char *engine : {"hybrid", "purereg", "dense", "shared"}) {
        CAPTURE(engine);
        const Run r = run(folder, {"source", file, "--engine", engine});
        CAPTURE(r.err);
        REQUIRE(r.code == 0);
        CHECK(r.err.empty());
        CHECK(contains(r.out, "// Target: "));
        CHECK(contains(r.out, std::string("engine ") + engine));
        CHECK(contains(r.out, "extern \"C\" __global__"));
        CHECK_FALSE(contains(r.out, "8675309")); // no value of the matrix
        CHECK(run(folder, {"source", file, "--engine", engine}).out == r.out);
    }
    const Run named =
        run(folder, {"source", file, "--engine", "hybrid", "--arch", "compute_80", "--chunks", "equal"});
    CHECK(contains(named.out, "// Target: compute_80. "));
    CHECK(contains(named.out, "chunks equal"));
    CHECK(contains(run(folder, {"source", file, "--device", "gpu"}).out, "extern \"C\" __global__"));

    check_usage_error(folder, {"source", file, "--engine", "hybrid", "--arch", "hopper"},
                      "unknown arch \"hopper\"");
    const Run on_cpu = run(folder, {"source", file, "--engine", "ryser"});
    CHECK(on_cpu.code == 3);
    CHECK(on_cpu.out.empty());
    CHECK(contains(on_cpu.err, "ask for engine tree, hybrid, purereg, dense or shared"));
    const Run none = run(folder, {"source", folder.write("small.mtx", small)});
    CHECK(none.code == 3);
    CHECK(contains(none.err, "engine tree, hybrid, purereg, dense or shared"));
}

TEST_CASE("cache list, clear and path") {
    const Folder folder;
    const std::string empty = folder / "kernels", missing = folder / "missing";
    fs::create_directory(empty);
    for (const std::string &path : {empty, missing}) {
        CAPTURE(path);
        CHECK(run(folder, {"cache", "list", "--cache", path}).out == path + ": no kernels\n");
        const json listed = run(folder, {"cache", "list", "--cache", path, "--json"}).object();
        CHECK(listed.at("folder") == path);
        CHECK(listed.at("kernels").empty());
        CHECK(run(folder, {"cache", "path", "--cache", path}).out == path + "\n");
        CHECK(run(folder, {"cache", "path", "--cache", path, "--json"}).object().at("folder") == path);
        CHECK(run(folder, {"cache", "clear", "--cache", path}).out ==
              "removed 0 files from " + path + (path == missing ? ": there is no such folder\n" : "\n"));
        CHECK(run(folder, {"cache", "clear", "--cache", path, "--json"}).object().at("removed") == 0);
    }
    CHECK_FALSE(fs::exists(missing));

    std::ofstream(empty + "/" + std::string(32, 'a') + ".cubin") << "no kernel, but named like one";
    std::ofstream(empty + "/notes.txt") << "mine";
    CHECK(run(folder, {"cache", "clear", "--cache", empty}).out == "removed 1 file from " + empty + "\n");
    CHECK(fs::exists(empty + "/notes.txt"));

    fs::permissions(empty, fs::perms::all);
    CHECK(contains(run(folder, {"cache", "clear", "--cache", empty}).out, "it is not used, other users can"));
    fs::permissions(empty, fs::perms::owner_all);

    const Run no_folder = run(folder, {"cache", "clear", "--cache", empty + "/notes.txt"});
    CHECK(no_folder.code == 2);
    CHECK(contains(no_folder.err, "notes.txt"));
    CHECK(run(folder, {"cache", "list", "--cache", ""}).out == "none are kept on disk\n");
    CHECK(run(folder, {"cache", "path", "--cache", ""}).out == "\n");

    // The environment's folder is the default.
    const std::string before = run(folder, {"cache", "path"}).out;
    const char *set = std::getenv("PERM_CACHE_DIR");
    const std::string saved = set != nullptr ? set : "";
    setenv("PERM_CACHE_DIR", empty.c_str(), 1);
    CHECK(run(folder, {"cache", "path"}).out == empty + "\n");
    CHECK(run(folder, {"cache", "list"}).out == empty + ": no kernels\n");
    CHECK(run(folder, {"info", "--json"}).object().at("kernel_cache").at("folder") == empty);
    if (set != nullptr)
        setenv("PERM_CACHE_DIR", saved.c_str(), 1);
    else
        unsetenv("PERM_CACHE_DIR");
    CHECK(run(folder, {"cache", "path"}).out == before);
}

TEST_CASE("device gpu is told of, or why there is none") {
    const Folder folder;
    const std::string file = folder.write("long.mtx", dense_matrix(16));
    const json info = run(folder, {"info", "--json"}).object();
    const json &devices = info.at("devices");
    const bool has_gpu = std::find(devices.begin(), devices.end(), "gpu") != devices.end();
    const std::string kernels = folder / "kernels";
    for (const char *engine : {"auto", "hybrid"}) {
        const std::vector<std::string> more{"--engine", engine, "--device", "gpu", "--cache", kernels};
        const auto with = [&](std::vector<std::string> arguments) {
            arguments.insert(arguments.end(), more.begin(), more.end());
            return run(folder, arguments);
        };
        const Run explained = with({"explain", "--json", file});
        CHECK(explained.code == 0); // the plan is made, whatever there is
        CHECK(explained.object().at("device") == "gpu");
        const Run computed = with({"compute", file});
        CAPTURE(computed.out);
        CAPTURE(computed.err);
        if (has_gpu) {
            CHECK(computed.code == 0);
            CHECK(contains(computed.out, " on gpu\n"));
            const json again = with({"compute", "--json", file}).object();
            CHECK(again.at("device") == "gpu");
            CHECK(again.at("kernels_compiled") == 0); // they are on disk now
            CHECK(again.at("seconds").at("compile").get<double>() > 0);
            CHECK(run(folder, {"cache", "list", "--cache", kernels, "--json"}).object().at("kernels").size() >
                  0);
            CHECK(again.at("seconds").at("run").get<double>() >=
                  again.at("seconds").at("compile").get<double>());
        } else if (info.at("driver").at("found") == true) {
            MESSAGE("SKIPPED: there is a GPU that cannot be used, or no NVRTC for it");
        } else {
            CHECK(computed.code == 3);
            CHECK(computed.out.empty());
            CHECK(contains(computed.err, info.at("driver").at("why_not").get<std::string>()));
            const json error = with({"compute", "--json", file}).object().at("error");
            CHECK(error.at("code") == 203);
            CHECK_FALSE(fs::exists(kernels));
        }
    }
}

TEST_CASE("usage errors") {
    const Folder folder;
    const std::string file = folder.write("small.mtx", small);
    check_usage_error(folder, {}, "subcommand");
    check_usage_error(
        folder, {"comput", file},
        "unknown subcommand 'comput', expected compute, hafnian, bounds, estimate, sample, matchings, "
        "polynomial, periodic, "
        "explain, source, "
        "plan, shard, combine, "
        "status, info or "
        "cache (see perm --help)");
    check_usage_error(folder, {"--colour"}, "--colour (see perm --help)");
    check_usage_error(folder, {"compute", file, "--colour"},
                      "unknown option --colour (see perm compute --help)");
    check_usage_error(folder, {"compute", file, "--plot", "out.svg"},
                      "unknown option --plot, an option of perm explain (see perm compute --help)");
    check_usage_error(folder, {"compute"}, "FILE");
    check_usage_error(folder, {"compute", file, file}, file);
    check_usage_error(folder, {"compute", file, "--colour"}, "--colour");
    check_usage_error(folder, {"compute", file, "--engine"}, "--engine");
    check_usage_error(folder, {"compute", file, "--engine", "warp"}, "warp");
    check_usage_error(folder, {"compute", file, "--engine", "warp"}, "hybrid");
    check_usage_error(folder, {"compute", file, "--device", "tpu"}, "use auto, cpu, gpu");
    check_usage_error(folder, {"compute", file, "--engine", "ryser", "--device", "gpu"}, "runs on the CPU");
    check_usage_error(folder, {"explain", file, "--engine", "dense", "--device", "cpu"}, "runs on a GPU");
    check_usage_error(folder, {"compute", file, "--chunks", "odd"},
                      "unknown chunks \"odd\": use ceg or equal");
    check_usage_error(folder, {"compute", file, "--cache"}, "--cache");
    check_usage_error(folder, {"compute", file, "--arch", "sm_90"},
                      "unknown option --arch, an option of perm source (see perm compute --help)");
    check_usage_error(
        folder, {"source", file, "--quiet"},
        "--quiet, an option of perm compute, perm hafnian, perm bounds, perm estimate, perm sample, "
        "perm matchings, perm polynomial, perm periodic, perm shard and perm combine "
        "(see perm source --help)");
    check_usage_error(folder, {"cache"}, "a subcommand (list, clear or path)");
    check_usage_error(folder, {"cache", "wipe"}, "wipe");
    check_usage_error(folder, {"cache", "list", "--colour"}, "--colour (see perm cache list --help)");
    check_usage_error(folder, {"compute", file, "--precision", "quarter"}, "quarter");
    check_usage_error(folder, {"compute", file, "--threads", "two"},
                      "--threads: 'two' is not a whole number (see perm compute --help)");
    check_usage_error(folder, {"compute", file, "--threads", "1.5"}, "'1.5' is not a whole number");
    check_usage_error(folder, {"compute", file, "--threads", "99999999999"}, "'99999999999' is out of range");
    check_usage_error(folder, {"compute", file, "--seed", "-1"}, "'-1' is not a whole number of at least 0");
    check_usage_error(folder, {"compute", file, "--tolerance", "tiny"}, "'tiny' is not a number");
    check_usage_error(folder, {"compute", file, "--threads", "-1"}, "");
    check_usage_error(folder, {"compute", file, "--tolerance", "-1"}, "");
    for (const char *bad : {"20X", "G", "-1G", "1e30", "nan", "0.1", "1KiBB"})
        check_usage_error(folder, {"compute", file, "--memory", bad}, bad);
    for (const char *bad : {"10y", "-5", "infinite", "m", "1h30"})
        check_usage_error(folder, {"compute", file, "--time-limit", bad}, bad);

    const Run r = run(folder, {"compute", file, "--memory", "20X", "--json"});
    CHECK(r.code == 2);
    CHECK(contains(r.object().at("error").at("text").get<std::string>(), "20X"));
}

TEST_CASE("bad files") {
    const Folder folder;
    const auto check_bad = [&](const std::string &file, const std::string &word) {
        const Run text = run(folder, {"compute", file});
        CAPTURE(text.err);
        CHECK(text.code == 2);
        CHECK(text.out.empty());
        CHECK(contains(text.err, word));
        const Run object = run(folder, {"explain", file, "--json"});
        CHECK(object.code == 2);
        CHECK(contains(object.err, word));
        const json error = object.object().at("error");
        CHECK(contains(error.at("text").get<std::string>(), word));
        CHECK_FALSE(error.at("status").get<std::string>().empty());
        CHECK(error.at("code") == 102);
    };
    check_bad(folder / "missing.mtx", "No such file");
    check_bad(folder / ".", "/.: this is a directory");
    check_bad(folder.write("empty.mtx", ""), "empty.mtx:1: ");
    check_bad(folder.write("truncated.mtx", small.substr(0, small.size() - 6)), "truncated.mtx:5: ");
    check_bad(folder.write("number.mtx", banner + "array real general\n1 1\nx\n"),
              "number.mtx:3: bad number 'x'");
    check_bad(folder.write("complex.mtx", banner + "coordinate complex general\n1 1 1\n1 1 1\n"),
              "complex.mtx:3: bad entry of 3 words, expected 'row column re im'");
    // Whatever its name: JSON is UTF-8.
    CHECK(run(folder, {"compute", "--json", folder / "\xff.mtx"}).object().contains("error"));
}

TEST_CASE("refused work") {
    const Folder folder;
    const std::string file = folder.write("long.mtx", long_job());
    const Run text = run(folder, {"compute", file, "--engine", "ryser", "--time-limit", "100"});
    CHECK(text.code == 3);
    CHECK(text.out.empty());
    CHECK_FALSE(text.err.empty());
    const Run object = run(folder, {"compute", file, "--engine", "ryser", "--time-limit", "100", "--json"});
    CHECK(object.code == 3);
    CHECK(object.object().at("error").at("code") == 202);
    // In words of the command line, a line for each engine: before any work, which would take days, is
    // started.
    CHECK(contains(text.err, "--time-limit"));
    CHECK_FALSE(contains(text.err, "time_limit_seconds"));
    CHECK(contains(text.err, "\n  engine ryser "));
}

// How soon is measured in unit.command_limits: without a signal these would take days.
TEST_CASE("signals end the command with 130") {
    const Folder folder;
    const std::string file = folder.write("long.mtx", long_job());
    for (int number : {SIGINT, SIGTERM}) {
        CAPTURE(number);
        const Process process(long_arguments(file, {"--json"}), "/dev/null", folder / "stdout",
                              folder / "stderr");
        process.await_handlers();
        std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        process.signal(number);
        CHECK(process.wait() == 130);
        // Not a terminal: no progress has been written.
        CHECK(folder.read("stderr") == "perm: cancelled\n");
        CHECK(json::parse(folder.read("stdout")).at("error").at("text") == "cancelled");
    }
}

TEST_CASE("a signal ends the reading of a pipe") {
    const Folder folder;
    const std::string pipe = folder / "pipe";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    const int writer = open(pipe.c_str(), O_RDWR | O_CLOEXEC); // keeps it open, so that the reader waits
    REQUIRE(writer >= 0);
    const Process process({"compute", "-"}, pipe, folder / "stdout", folder / "stderr");
    process.await_handlers();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    process.signal(SIGINT);
    CHECK(process.wait() == 130);
    CHECK(folder.read("stderr") == "perm: cancelled\n");
    close(writer);
}

TEST_CASE("progress on a terminal") {
    const Folder folder;
    const std::string file = folder.write("long.mtx", long_job());
    const auto on_terminal = [&](const std::vector<std::string> &more) {
        int terminal = -1, command_side = -1;
        REQUIRE(openpty(&terminal, &command_side, nullptr, nullptr, nullptr) == 0);
        fcntl(terminal, F_SETFD, FD_CLOEXEC);
        const Process process(long_arguments(file, more), "/dev/null", folder / "stdout", "", command_side);
        close(command_side);
        process.await_handlers();
        std::string shown;
        bool is_told = false;
        const auto tell = [&] {
            if (!std::exchange(is_told, true)) process.signal(SIGINT);
        };
        if (!more.empty()) { // quiet: nothing is waited for
            std::this_thread::sleep_for(std::chrono::milliseconds(2500));
            tell();
        }
        char buffer[4096];
        for (ssize_t n = 0; (n = ::read(terminal, buffer, sizeof buffer)) > 0;) {
            shown.append(buffer, static_cast<std::size_t>(n));
            if (contains(shown, "elapsed")) tell();
        }
        close(terminal);
        CHECK(process.wait() == 130);
        return shown;
    };
    const std::string shown = on_terminal({});
    CAPTURE(shown);
    CHECK(contains(shown, "%"));
    CHECK(contains(shown, "elapsed"));
    // The line is blank again before anything else is written.
    CHECK(contains(shown, "  \rperm: cancelled"));
    CHECK(on_terminal({"--quiet"}) == "perm: cancelled\r\n");
}

TEST_CASE("progress without a terminal: a line after ten seconds, and then every minute") {
    const Folder folder;
    const auto said = [&](bool wanted, int seconds_ago) {
        const std::string file = folder.write("said", "");
        const int before = dup(STDERR_FILENO), instead = open(file.c_str(), O_WRONLY | O_CLOEXEC);
        dup2(instead, STDERR_FILENO);
        {
            perm::Progress progress(wanted, Clock::now() - std::chrono::seconds(seconds_ago));
            for (int i = 0; i < 3; ++i) perm::Progress::report(0.25, 3600, &progress);
        }
        dup2(before, STDERR_FILENO);
        close(before);
        close(instead);
        return folder.read("said");
    };
    CHECK(said(true, 0).empty());
    CHECK(said(false, 100).empty());
    CHECK(said(true, 100) == "perm: 25.0 %, 1 min 40 s elapsed, 1 h 0 min left\n");
}

TEST_CASE("a standard output that cannot be written") {
    const Folder folder;
    CHECK(Process({"info"}, "/dev/null", "/dev/full", folder / "stderr").wait() == 1);
    CHECK(contains(folder.read("stderr"), "cannot write"));

    const std::string pipe = folder / "pipe";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    REQUIRE(reader >= 0);
    // Its stdout opens the pipe, and waits to read a matrix until nobody reads that pipe any more.
    const std::string in = folder / "in";
    REQUIRE(mkfifo(in.c_str(), 0600) == 0);
    const int matrix = open(in.c_str(), O_RDWR | O_CLOEXEC);
    const Process process({"compute", "-"}, in, pipe, folder / "stderr");
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    close(reader);
    REQUIRE(write(matrix, small.data(), small.size()) == static_cast<ssize_t>(small.size()));
    close(matrix);
    CHECK(process.wait() == 1);
    CHECK(contains(folder.read("stderr"), "cannot write"));
}
