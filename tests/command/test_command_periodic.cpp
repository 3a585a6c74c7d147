// perm periodic: cells from files and by name, what is asked of them, as text and as JSON.
#include "tests/support/command.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace {

using namespace command;
using nlohmann::json;

// A ladder: rungs, and the two rails; a cell of one row.
const char *const ladder = "%%MatrixMarket matrix coordinate integer general\n1 3 3\n1 1 1\n1 2 1\n1 3 1\n";

} // namespace

TEST_CASE("the permanents of a file's cell") {
    const Folder folder;
    const std::string file = folder.write("ladder.mtx", ladder);
    const json o = run(folder, {"periodic", file, "--length", "90", "--terms", "5", "--growth",
                                "--generating-function", "--json"})
                       .object();
    CHECK(o.at("permanent") == "4660046610375530309"); // the 91st of Fibonacci's numbers
    CHECK(o.at("exact") == true);
    CHECK(o.at("engine") == "frontier");
    CHECK(o.at("n") == 90);
    CHECK(o.at("nnz") == 268);
    CHECK(o.at("terms") == json{"1", "2", "3", "5", "8"});
    CHECK(o.at("numerator") == json{"1"});
    CHECK(o.at("denominator") == json{"1", "-1", "-1"});
    CHECK(o.at("order") == 2);
    CHECK(o.at("proven") == true);
    CHECK(o.at("growth_lower").get<double>() <= 1.6180339887498949);
    CHECK(o.at("growth_upper").get<double>() >= 1.6180339887498947);
    const Run text = run(folder, {"periodic", file, "--terms", "3", "-q"});
    CHECK(text.code == 0);
    CHECK(text.out == "1\n2\n3\n");
    CHECK(contains(run(folder, {"periodic", file, "--generating-function"}).out, "(1)\n/ (1 - x - x^2)"));
    CHECK(contains(run(folder, {"periodic", file}).out, "columns open at a cut"));
}

TEST_CASE("joined ends, a head and a tail") {
    const Folder folder;
    const std::string file = folder.write("ladder.mtx", ladder);
    // Lucas' numbers and the two cycles.
    CHECK(run(folder, {"periodic", file, "--wrap", "--length", "10", "-q"}).out == "125\n");
    const std::string head =
        folder.write("head.mtx", "%%MatrixMarket matrix coordinate integer general\n1 2 2\n1 1 3\n1 2 1\n");
    // 3 F(n) and, where the head takes the first column, F(n - 1).
    CHECK(run(folder, {"periodic", file, "--head", head, "--length", "10", "-q"}).out ==
          std::to_string(3 * 89 + 89 - 34) + "\n");
    const Run both = run(folder, {"periodic", file, "--head", head, "--wrap", "--length", "10"});
    CHECK(both.code == 2);
    CHECK(contains(both.err, "joined ends"));
}

TEST_CASE("lattices by name, and modulo a prime") {
    const Folder folder;
    CHECK(run(folder, {"periodic", "--lattice", "grid:3x4", "--terms", "3", "-q"}).out ==
          "11\n1845\n117805\n");
    CHECK(run(folder, {"periodic", "--lattice", "grid:8", "--length", "1000000000000000", "--precision",
                       "mod:1000000007", "-q"})
              .out == "337656265\n");
    // Benzene, naphthalene, anthracene: chains of hexagons have one matching more than hexagons.
    for (const auto &[lattice, count] :
         {std::pair("hexagonal:3", "2\n"), {"hexagonal:5", "3\n"}, {"hexagonal:7", "4\n"}})
        CHECK(run(folder, {"periodic", "--lattice", lattice, "--length", "1", "-q"}).out == count);
    CHECK(run(folder, {"periodic", "--lattice", "toeplitz:1,1", "--terms", "4", "-q"}).out == "1\n2\n3\n5\n");
    for (const char *bad : {"grid:", "grid:0", "grid:3x", "grid:3x4x5", "ring:3", "cube:3", "toeplitz:3",
                            "circulant:-1", "grid"})
        CHECK(run(folder, {"periodic", "--lattice", bad}).code == 2);
}

TEST_CASE("usage") {
    const Folder folder;
    const std::string file = folder.write("ladder.mtx", ladder);
    CHECK(run(folder, {"periodic"}).code == 2);
    const Run both = run(folder, {"periodic", file, "--lattice", "grid:4"});
    CHECK(both.code == 2);
    CHECK(both.err.find("two cells are given") != std::string::npos);
    CHECK(run(folder, {"periodic", file, "--length", "-1"}).code == 2);
    CHECK(run(folder, {"periodic", file, "--length", "x"}).code == 2);
    CHECK(run(folder, {"periodic", file, "--terms", "-1"}).code == 2);
    CHECK(run(folder, {"periodic", file, "--terms", "0"}).code == 2);
    CHECK(run(folder, {"periodic", folder / "missing.mtx"}).code == 2);
    const std::string square = folder.write("square.mtx", dense_matrix(2));
    const Run wrong =
        run(folder,
            {"periodic",
             folder.write("wide.mtx", "%%MatrixMarket matrix coordinate integer general\n2 4 1\n1 1 1\n")});
    CHECK(wrong.code == 2);
    CHECK(contains(wrong.err, "2 (2 d + 1)"));
    CHECK(run(folder, {"periodic", square, "--length", "3", "-q"}).code ==
          0); // cells that know nothing of each other
}

TEST_CASE("more rows than 63 bits count, and more terms than memory holds") {
    const Folder folder;
    const Run far = run(folder, {"periodic", "--lattice", "grid:8", "--length", "4000000000000000000",
                                 "--precision", "mod:1000000007"});
    CHECK(far.code == 0);
    CHECK(contains(far.out, "n = more than 2^63"));
    const Run many = run(folder, {"periodic", "--lattice", "grid:2", "--terms", "3000000000000"});
    CHECK(many.code == 3);
    CHECK(contains(many.err, "is the limit"));
}
