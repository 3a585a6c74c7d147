// The command killed and terminated at any moment, again and again: what is in its files is gone on with, to
// the digits of an undisturbed run.
#include "bench/families.hpp"
#include "tests/support/command.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <signal.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace command;
using Words = std::vector<std::string>;

const Words slow{"--engine", "tree", "--device", "cpu", "--without", "all", "--threads", "2", "--quiet"};

Words operator+(Words words, const Words &more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// Its exit code, when it came to its end in spite of all.
int disturbed(const Folder &folder, const Words &arguments, perm::families::Random &random) {
    for (int k = 0; k < (run::sanitized ? 3 : 8); ++k) {
        const Process process(arguments, "/dev/null", folder / "stdout", folder / "stderr");
        std::this_thread::sleep_for(std::chrono::milliseconds(random.integer(0, 250)));
        process.signal(random.chance(0.5) ? SIGKILL : SIGTERM);
        const int code = process.wait();
        CAPTURE(folder.read("stderr"));
        CHECK(
            (code == -SIGKILL || code == -SIGTERM || code == 130 || code == 0)); // -SIGTERM: it had not begun
    }
    return Process(arguments, "/dev/null", folder / "stdout", folder / "stderr").wait();
}

std::string permanent(const Folder &folder, const Words &arguments) {
    const Run r = command::run(folder, arguments);
    CAPTURE(r.err);
    REQUIRE(r.code == 0);
    return r.out;
}

} // namespace

TEST_CASE("a computation with a checkpoint") {
    perm::families::Random random(run::seed(9701));
    const Folder folder;
    const std::string file = folder.write("matrix.mtx", dense_matrix(28));
    const std::string whole = permanent(folder, Words{"compute", file} + slow);
    CHECK(disturbed(folder,
                    Words{"compute", file, "--checkpoint", folder / "kept", "--checkpoint-every", "0.01"} +
                        slow,
                    random) == 0);
    CHECK(folder.read("stdout") == whole);
}

TEST_CASE("the parts of an array") {
    perm::families::Random random(run::seed(9702));
    const Folder folder;
    const std::string file = folder.write("matrix.mtx", dense_matrix(28));
    const std::string whole = permanent(folder, Words{"compute", file} + slow);
    Words combine{"combine", "--quiet"};
    for (const std::string index : {"0", "1"}) {
        const std::string part = folder / ("part." + index);
        CHECK(disturbed(folder,
                        Words{"shard", file, "--of", "2", "--index", index, "-o", part, "--checkpoint-every",
                              "0.01"} +
                            slow,
                        random) == 0);
        combine.push_back(part);
    }
    CHECK(permanent(folder, combine) == whole);
}

TEST_CASE("numbers of matchings with a checkpoint") {
    perm::families::Random random(run::seed(9703));
    const Folder folder;
    const int n = run::sanitized ? 18 : 21;
    std::string text =
        "%%MatrixMarket matrix array integer general\n" + std::to_string(n) + " " + std::to_string(n) + "\n";
    for (int k = 0; k < n * n; ++k) text += std::to_string(random.integer(0, 3)) + "\n";
    const std::string file = folder.write("matrix.mtx", text);
    const Words quick{"--device", "cpu", "--threads", "2", "--quiet"};
    const std::string whole = permanent(folder, Words{"matchings", file} + quick);
    CHECK(disturbed(folder,
                    Words{"matchings", file, "--checkpoint", folder / "kept", "--checkpoint-every", "0.01"} +
                        quick,
                    random) == 0);
    CHECK(folder.read("stdout") == whole);
    CHECK(permanent(folder, {"status", folder / "kept"}).find("numbers of matchings of a matrix") !=
          std::string::npos);
}

TEST_CASE("an estimate with a checkpoint") {
    perm::families::Random random(run::seed(9704));
    const Folder folder;
    std::string text = "%%MatrixMarket matrix array real general\n40 40\n";
    for (int k = 0; k < 1600; ++k) text += k % 41 == 0 ? "0\n" : "1\n";
    const std::string file = folder.write("matrix.mtx", text);
    const Words estimate{"estimate",  file, "--without", "merge,periodic,structure", "--epsilon", "0.0002",
                         "--threads", "2",  "--quiet"};
    const std::string whole = permanent(folder, estimate);
    CHECK(disturbed(folder, estimate + Words{"--checkpoint", folder / "kept", "--checkpoint-every", "0.01"},
                    random) == 0);
    CHECK(folder.read("stdout") == whole);
}

TEST_CASE("terms of a periodic matrix with a checkpoint") {
    perm::families::Random random(run::seed(9705));
    const Folder folder;
    const Words terms{"periodic",    "--lattice", run::sanitized ? "grid:8" : "grid:10",
                      "--wrap",      "--length",  "500",
                      "--precision", "exact",     "--device",
                      "cpu",         "--threads", "2",
                      "--quiet"};
    const std::string whole = permanent(folder, terms);
    CHECK(disturbed(folder, terms + Words{"--checkpoint", folder / "kept", "--checkpoint-every", "0.01"},
                    random) == 0);
    CHECK(folder.read("stdout") == whole);
    CHECK(permanent(folder, {"status", folder / "kept"}).find("periodic terms of a matrix") !=
          std::string::npos);
    const Run both = command::run(folder, terms + Words{"--terms", "3", "--checkpoint", folder / "kept"});
    CHECK(both.code == 2);
    CHECK(both.err.find("either --length or --terms") != std::string::npos);
}

TEST_CASE("samples with a checkpoint") {
    perm::families::Random random(run::seed(9706));
    const Folder folder;
    const int n = 30;
    std::string text =
        "%%MatrixMarket matrix array integer general\n" + std::to_string(n) + " " + std::to_string(n) + "\n";
    for (int k = 0; k < n * n; ++k) text += std::to_string(random.integer(1, 3)) + "\n";
    const Words sample{
        "sample",  folder.write("matrix.mtx", text), // by rejection
        "--shots", run::sanitized ? "300" : "20000", "--seed", "4", "--device", "cpu", "--threads", "2",
        "--quiet"};
    const std::string whole = permanent(folder, sample);
    const Words kept{"--checkpoint", folder / "kept", "--checkpoint-every", "0.01"};
    CHECK(disturbed(folder, sample + kept, random) == 0);
    CHECK(folder.read("stdout") == whole);
    CHECK(permanent(folder, {"status", folder / "kept"}).find("samples of a matrix") != std::string::npos);
    const Run other = command::run(folder, sample + kept + Words{"--row-unmatched", "1"});
    CHECK(other.code == 2);
    CHECK(other.err.find("another matrix") != std::string::npos);
}
