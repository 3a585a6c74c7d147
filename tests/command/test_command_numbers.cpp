// What numbers the perm command reads, computes with and prints.
#include "tests/support/command.hpp"

#include <doctest/doctest.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace command;
using nlohmann::json;

const std::string banner = "%%MatrixMarket matrix ";
const std::string dense = banner + "array ";

using Options = std::vector<std::string>;

std::vector<std::string> with(std::vector<std::string> arguments, const Options &options) {
    arguments.insert(arguments.end(), options.begin(), options.end());
    return arguments;
}

// Of the text of a file: what is printed.
std::string permanent(const std::string &file, const Options &options = {}) {
    const Folder folder;
    const Run r = run(folder, with({"compute", "--quiet", folder.write("m.mtx", file)}, options));
    CAPTURE(r.err);
    CHECK(r.code == 0);
    CHECK(r.err.empty());
    return r.out.substr(0, r.out.find('\n')) + (r.out.find('\n') + 1 == r.out.size() ? "" : " and more");
}

json result(const std::string &file, const Options &options = {}) {
    const Folder folder;
    const Run r = run(folder, with({"compute", "--json", folder.write("m.mtx", file)}, options));
    CAPTURE(r.err);
    REQUIRE(r.code == 0);
    return r.object();
}

const Options exactly{"--precision", "exact"}, exact_decimals{"--decimal", "--precision", "exact"};

// (1+i)i + 2(3-i)
const std::string complex_general = dense + "complex general\n2 2\n1 1\n3 -1\n2 0\n0 1\n";

// 1+i  1-i   -1
// 2    1/2   3+i
// 3i   2+2i  i
const std::string complex_full =
    dense + "complex general\n3 3\n1 1\n2 0\n0 3\n1 -1\n.5 0\n2 2\n-1 0\n3 1\n0 1\n";

// Their number is n! / e.
std::string derangements(int n) {
    std::string text = fmt::format("{}coordinate real general\n{} {} {}\n", banner, n, n, n * (n - 1));
    for (int i = 1; i <= n; ++i)
        for (int j = 1; j <= n; ++j)
            if (i != j) text += fmt::format("{} {} 1\n", i, j);
    return text;
}

void check_derangements(const json &estimate, int n) { // within a tenth
    const double log2 = std::log2(estimate["mantissa"].get<double>()) + estimate["exp2"].get<double>();
    CHECK(std::abs(log2 - (std::lgamma(n + 1.0) - 1) / std::log(2.0)) < 0.15);
}

} // namespace

TEST_CASE("complex files of each symmetry") {
    const std::string sparse = banner + "coordinate complex ";
    for (const Options &precision : {Options{}, Options{"--decimal"}}) {
        CHECK(permanent(complex_general, precision) == "5-1i");
        CHECK(permanent(sparse + "general\n2 2 4\n1 1 1 1\n1 2 2 0\n2 1 3 -1\n2 2 0 1\n", precision) ==
              "5-1i");
        // 3(1+i) + (2-i)^2
        CHECK(permanent(dense + "complex symmetric\n2 2\n1 1\n2 -1\n3 0\n", precision) == "6-1i");
        CHECK(permanent(sparse + "symmetric\n2 2 3\n1 1 1 1\n2 1 2 -1\n2 2 3 0\n", precision) == "6-1i");
        // -(1+2i)^2
        CHECK(permanent(dense + "complex skew-symmetric\n2 2\n1 2\n", precision) == "3-4i");
        CHECK(permanent(sparse + "skew-symmetric\n2 2 1\n2 1 1 2\n", precision) == "3-4i");
        // 2*5 + |1-3i|^2
        CHECK(permanent(dense + "complex hermitian\n2 2\n2 0\n1 -3\n5 0\n", precision) == "20");
        CHECK(permanent(sparse + "hermitian\n2 2 3\n1 1 2 0\n2 1 1 -3\n2 2 5 0\n", precision) == "20");
    }
}

TEST_CASE("complex permanents") {
    const json o = result(complex_general);
    CHECK(o.at("permanent") == "5-1i");
    CHECK(o.at("real") == 5.0);
    CHECK(o.at("imag") == -1.0);
    CHECK(o.at("mantissa") == 0.625);
    CHECK(o.at("mantissa_imag") == -0.125);
    CHECK(o.at("exp2") == 3);
    CHECK(o.at("exact") == true);

    SUBCASE("by an engine") {
        const json full = result(complex_full);
        CHECK(full.at("real").get<double>() == doctest::Approx(-0.5).epsilon(1e-14));
        CHECK(full.at("imag").get<double>() == doctest::Approx(21).epsilon(1e-14));
        CHECK(permanent(complex_full, exactly) == "-1/2+21i");
    }
    SUBCASE("how many digits are certain is said of the larger part") {
        std::string file = dense + "complex general\n4 4\n";
        for (int k = 1; k <= 16; ++k)
            file += "0." + std::to_string(k * k * k) + " -0." + std::to_string(k * k + 3) + "\n";
        const Folder folder;
        const Run r = run(folder, {"compute", folder.write("m.mtx", file), "--precision", "double"});
        CAPTURE(r.out);
        CAPTURE(r.err);
        CHECK(r.code == 0);
        CHECK(contains(r.out, "digits of the larger part certain)"));
    }
}

TEST_CASE("integers of any length") {
    const std::string file = dense + "integer general\n2 2\n123456789012345678901234567890\n7\n3\n-5\n";
    CHECK(permanent(file, exactly) == "-617283945061728394506172839429");
    CHECK(result(file).at("real") == -617283945061728394506172839429.0);
    // x, 1 and 2 in a circulant, x = 10^29 + 1: x^3 + 6x + 9
    const std::string zeros(28, '0'), x = "1" + zeros + "1";
    std::string circulant = dense + "integer general\n3 3\n";
    for (const std::string &column : {x + "\n1\n2\n", "2\n" + x + "\n1\n", "1\n2\n" + x + "\n"})
        circulant += column;
    CHECK(permanent(circulant, exactly) == "1" + zeros + "3" + zeros + "9" + zeros.substr(1) + "16");

    SUBCASE("of thousands of digits, on one line") {
        const std::string ones(3000, '1');
        CHECK(permanent(dense + "integer general\n2 2\n" + ones + "\n0\n0\n2\n", exactly) ==
              std::string(3000, '2'));
        const json o = result(dense + "integer general\n1 1\n-" + ones + "\n", exactly);
        CHECK(o.at("permanent").get<std::string>() == "-" + ones);
        CHECK(o.at("real").is_null());
        CHECK(o.at("mantissa").get<double>() <= -0.5);
        CHECK(o.at("exp2").get<int>() > 9000);
        CHECK(o.at("exact") == true);
    }
}

TEST_CASE("integers of any length are counted to the last digit") {
    CHECK(permanent(dense + "integer general\n2 2\n9007199254740993\n2\n3\n5\n", {}) == "45035996273704971");
}

TEST_CASE("decimals as they are written") {
    // 0.1*0.4 + 0.2*0.3
    const std::string tenths = dense + "real general\n2 2\n0.1\n0.3\n0.2\n.4\n";
    CHECK(permanent(tenths, exact_decimals) == "1/10");
    const std::string doubles = permanent(tenths, exactly); // nearest to them: over a power of two
    CHECK(contains(doubles, "/"));
    CHECK(doubles != "1/10");
    CHECK(permanent(dense + "complex general\n1 1\n0.1 -0.2\n", exact_decimals) == "1/10-1/5i");

    SUBCASE("beyond the range of doubles") {
        const std::string file = dense + "real general\n2 2\n1e400\n0\n0\n2.5E+399\n";
        CHECK(permanent(file, exact_decimals) == "25" + std::string(798, '0'));
        CHECK(permanent(file, {"--decimal"}) == "25" + std::string(798, '0')); // what is written is counted
        CHECK(permanent(dense + "real general\n2 2\n1e-400\n0\n0\n1e400\n", exact_decimals) == "1");
        const Folder folder;
        const Run r = run(folder, {"compute", folder.write("m.mtx", file)});
        CHECK(r.code == 2);
        CHECK(contains(r.err, "m.mtx:3: number '1e400' is out of range"));
        CHECK(contains(r.err, "--decimal"));
    }
    SUBCASE("zeros take no part") {
        const json o = result(banner + "coordinate real general\n2 2 4\n1 1 .5\n1 2 0.0e7\n2 1 -0\n2 2 3\n",
                              exact_decimals);
        CHECK(o.at("permanent") == "3/2");
        CHECK(o.at("nnz") == 2);
    }
}

TEST_CASE("rectangular matrices") {
    CHECK(permanent(dense + "integer general\n1 3\n1\n2\n3\n") == "6");
    // 1(5+6) + 2(4+6) + 3(4+5)
    const std::string two_rows = "general\n2 3\n1\n4\n2\n5\n3\n6\n";
    for (const char *field : {"real ", "integer "}) CHECK(permanent(dense + field + two_rows) == "58");
    CHECK(permanent(dense + "real " + two_rows, exactly) == "58");
    CHECK(permanent(dense + "complex general\n1 2\n1 1\n2 -3\n") == "3-2i");
    CHECK(permanent(banner + "coordinate pattern general\n2 4 3\n1 1\n1 2\n2 4\n") == "2");
    CHECK(permanent(dense + "real general\n3 2\n1\n2\n3\n4\n5\n6\n") == "58");
}

TEST_CASE("multiplicities") {
    const std::string file = dense + "integer general\n2 2\n1\n3\n2\n4\n";
    // Rows 1 2, 1 2, 3 4 and of these the second column twice.
    CHECK(permanent(file, {"--row-multiplicity", "2,1", "--col-multiplicity", "1,2"}) == "56");
    CHECK(permanent(file, {"--row-multiplicity", "1,0", "--col-multiplicity", "0,1"}) == "2");
    CHECK(permanent(file, {"--row-multiplicity", "0,0", "--col-multiplicity", "0,0"}) == "1");
    CHECK(permanent(file, {"--row-multiplicity", "0,1"}) == "7"); // of the one row 3 4
    CHECK(permanent(file, {"--col-multiplicity", "3,0"}) == "18");
    CHECK(permanent(file, {"--row-multiplicity", "3,1"}) == "42"); // more rows than columns

    const Folder folder;
    const std::string path = folder.write("m.mtx", file);
    const auto check_bad = [&](const char *option, const char *list, const char *why) {
        for (const char *name : {"compute", "explain"})
            check_usage_error(folder, {name, path, option, list}, why);
    };
    for (const char *option : {"--row-multiplicity", "--col-multiplicity"}) {
        for (const char *bad : {"", ",", "1,", ",1", "1,,2", "1;2", "1.5,1", "1, 1", "x"})
            check_bad(option, bad, "is not a whole number");
        check_bad(option, "1,-1", "'-1' is not a whole number of at least 0");
        check_bad(option, "1,99999999999999999999", "is out of range");
    }
    check_bad("--row-multiplicity", "1",
              "--row-multiplicity has 1 numbers, expected one for each of the 2 rows");
    check_bad("--col-multiplicity", "1,1,1", "expected one for each of the 2 columns");
    check_bad("--row-multiplicity", "9223372036854775807,1", "--row-multiplicity[1] is");
    check_usage_error(folder, {"compute", path, "--row-multiplicity"}, "--row-multiplicity");
}

TEST_CASE("texts count rows and columns as the file does") {
    const Folder folder;
    const std::string head = banner + "coordinate integer general\n4 4 3\n";
    const std::string half = folder.write("half.mtx", head + "2 1 1\n3 2 1\n4 3 1\n"),
                      twice = folder.write("twice.csv", "0,1,0\n1,0,0\n0,2,0\n"),
                      uneven = folder.write("uneven.mtx", dense + "integer general\n2 2\n0\n3\n4\n0\n");
    const auto check_told = [&](const std::string &file, const std::string &why, const std::string &advice) {
        const Run r = run(folder, {"hafnian", file});
        CAPTURE(r.err);
        CHECK(r.code == 2);
        CHECK(contains(r.err, why));
        CHECK(contains(r.err, advice));
        CHECK_FALSE(contains(r.err, "row 0"));
        CHECK_FALSE(contains(r.err, "column 0"));
    };
    check_told(half, "at row 2, column 1, and none at row 1, column 2.",
               "write symmetric in place of general in line 1 of the file");
    check_told(twice, "at row 3, column 2, and none at row 2, column 3.", "A + A^T, the diagonal once");
    check_told(uneven, "the values at row 1, column 2 and at row 2, column 1 differ", "(A + A^T)/2");
    folder.write("half.mtx", banner + "coordinate integer symmetric\n4 4 3\n2 1 1\n3 2 1\n4 3 1\n");
    CHECK(run(folder, {"hafnian", "-q", half}).out == "1\n");
}

TEST_CASE("of edges: matchings of the graph") {
    const Folder folder;
    const std::string path = folder.write("path.edges", "1 2\n2 3\n3 4\n"),
                      dimacs = folder.write("path.col", "p edge 4 3\ne 1 2\ne 2 3\ne 3 4\n"),
                      as_text = folder.write("path.txt", "1 2\n2 3\n3 4\n");
    for (const std::string &file : {path, dimacs}) {
        CHECK(run(folder, {"matchings", "-q", file}).out == "1\n3\n1\n");
        CHECK(run(folder, {"matchings", "-q", "--function", "permanent", file}).out == "1\n6\n11\n6\n1\n");
        CHECK(run(folder, {"sample", "-q", file}).out == "2 1 4 3\n");
    }
    CHECK(run(folder, {"matchings", "-q", "--format", "edges", as_text}).out == "1\n3\n1\n");
    const std::string part = folder / "part";
    REQUIRE(run(folder, {"shard", "--matchings", "--of", "1", "--index", "0", "-o", part, path}).code == 0);
    CHECK(run(folder, {"combine", "-q", part}).out == "1\n3\n1\n");
}

TEST_CASE("lines that may stay unmatched") {
    const std::string file = dense + "integer general\n2 2\n1\n3\n2\n4\n"; // rows 1 2 and 3 4
    CHECK(permanent(file, {"--row-unmatched", "1", "--col-unmatched", "1"}) == "21");
    CHECK(permanent(file, {"--row-unmatched", "1,2", "--col-unmatched", "1,1"}) == "25");
    CHECK(permanent(file, {"--row-unmatched", "7"}) == "10"); // for each column there is a row
    const std::string real = dense + "real general\n1 1\n0.5\n";
    CHECK(permanent(real, {"--row-unmatched", "0.25", "--col-unmatched", "1e1"}) == "3");
    CHECK(permanent(real, {"--decimal", "--precision", "exact", "--row-unmatched", "1/3", "--col-unmatched",
                           "0.1"}) == "8/15");
    CHECK(permanent(banner + "coordinate pattern general\n2 2 2\n1 1\n2 2\n",
                    {"--row-unmatched", "1", "--col-unmatched", "1"}) == "4");
    CHECK(permanent(dense + "complex general\n1 1\n0 1\n",
                    {"--row-unmatched", "2", "--col-unmatched", "1"}) == "2+1i");

    const Folder folder;
    const std::string path = folder.write("m.mtx", file);
    check_usage_error(folder, {"compute", path, "--row-unmatched", "1,2,3"}, "expected one, or one for each");
    check_usage_error(folder, {"compute", path, "--row-unmatched", "0.5"}, "'0.5' is not a whole number");
    check_usage_error(folder, {"compute", path, "--col-unmatched", "x"}, "--col-unmatched");
    check_usage_error(folder, {"compute", path, "--col-unmatched", "1", "--plan", "p"}, "--plan");
    check_usage_error(folder, {"matchings", path, "--col-unmatched", "1"}, "--col-unmatched");
    CHECK(run(folder, {"explain", path, "--row-unmatched", "1", "--col-unmatched", "1"}).code == 0);
    for (const char *command : {"bounds", "estimate"}) {
        const Run r = run(folder, {command, path, "--row-unmatched", "1", "--col-unmatched", "1"});
        CHECK(r.out.find("perm = 21\n") != std::string::npos);
    }
}

TEST_CASE("precisions") {
    const Folder folder;
    const std::string path = folder.write("m.mtx", complex_full);
    for (const char *name : {"compute", "explain"}) {
        const std::string help = run(folder, {name, "--help"}).out;
        for (const char *option : {"--precision", "--tolerance", "--decimal", "--row-multiplicity",
                                   "--col-multiplicity", "mpfr:BITS"})
            CHECK(contains(help, option));
        check_usage_error(folder, {name, path, "--precision", "quarter"}, "mpfr:BITS");
        check_usage_error(folder, {name, path, "--precision", "mpfr:1"}, "mpfr:1");
        check_usage_error(folder, {name, path, "--precision", "mpfr:"}, "BITS");
        check_usage_error(folder, {name, path, "--tolerance", "tiny"}, "'tiny' is not a number");
    }
    for (const char *precision : {"auto", "double", "kahan", "dq", "dd", "exact", "mpfr:200"}) {
        CAPTURE(std::string(precision));
        CHECK(run(folder, {"explain", path, "--precision", precision, "--tolerance", "1e-20"}).code == 0);
        const json o = result(complex_full, {"--precision", precision});
        CHECK(o.at("real").get<double>() == doctest::Approx(-0.5).epsilon(1e-13));
        CHECK(o.at("imag").get<double>() == doctest::Approx(21).epsilon(1e-13));
    }
}

TEST_CASE("what is in all precision there is has no better one suggested") {
    const Folder folder;
    std::string file = dense + "real general\n6 6\n";
    for (int k = 1; k <= 36; ++k) file += "1." + std::to_string(k * k * k) + "\n";
    const Run r = run(folder, {"compute", folder.write("m.mtx", file), "--decimal", "--precision", "dd",
                               "--tolerance", "1e-60"});
    CAPTURE(r.err);
    CHECK(r.code == 0);
    CHECK(contains(r.err, "above the tolerance 1e-60\n"));
}

TEST_CASE("a tolerance that is missed is told") {
    const Folder folder;
    const std::string file = folder.write("m.mtx", banner + "array real general\n2 2\n0.1\n0.7\n0.3\n0.9\n");
    const Run r = run(folder, {"compute", "--quiet", "--precision", "double", "--tolerance", "1e-30", file});
    CHECK(r.code == 0);
    CHECK(contains(r.err, "tolerance 1e-30; --precision dd or exact may tell more"));
    const Run object =
        run(folder, {"compute", "--json", "--precision", "double", "--tolerance", "1e-30", file});
    CHECK(object.code == 0);
    const json o = object.object();
    CHECK(o.at("tolerance_met") == false);
    CHECK(o.at("abs_error_bound").get<double>() > 0);
    CHECK(o.at("abs_error_bound").get<double>() < 1e-14);
    CHECK(o.at("certain_digits").get<int>() >= 14);
}

TEST_CASE("a permanent lost to cancellation is told with its absolute error") {
    const Folder folder;
    // 0.1 * 0.3 - 0.1 * 0.3.
    const std::string file = folder.write("m.mtx", banner + "array real general\n2 2\n0.1\n0.3\n-0.1\n0.3\n");
    const Run r = run(folder, {"compute", "--precision", "double", file});
    CHECK(r.code == 0);
    CHECK(contains(r.out, "\nno digit is certain: the error is below "));
    CHECK(contains(
        r.err,
        "warning: no digit of the permanent is certain (cancellation or underflow); its absolute error is "
        "below "));
    CHECK(contains(r.err, "; --precision dd or exact may tell more"));
    CHECK_FALSE(contains(r.err, "inf"));
    const json o = run(folder, {"compute", "--precision", "double", "--json", file}).object();
    CHECK(o.at("rel_error_bound").is_null());
    CHECK(o.at("abs_error_bound").get<double>() > 0);
    CHECK(o.at("abs_error_bound").get<double>() < 1e-15);
    CHECK(o.at("certain_digits") == 0);
}

TEST_CASE("bounds, rounded outwards, and in refusals") {
    const Folder folder;
    const std::string small = folder.write("m.mtx", dense + "real general\n2 2\n1\n2\n3\n4\n");
    CHECK(run(folder, {"bounds", "--quiet", small}).out == "1.00000e+01 1.00000e+01\n");
    CHECK(run(folder, {"bounds", small}).out.starts_with("perm = 10\nexact\n"));
    std::string text = banner + "coordinate real general\n60 60 1200\n";
    for (int i = 0; i < 60; ++i)
        for (int k = 0; k < 20; ++k)
            text += std::to_string(i + 1) + " " +
                    std::to_string((7 * i + (k < 13 ? k : 3 * k - 17)) % 60 + 1) + " " +
                    std::to_string(1 + k) + "e200\n";
    const std::string wide = folder.write("wide.mtx", text);
    Run r = run(folder, {"bounds", "--json", wide});
    REQUIRE(r.code == 0);
    const json bounds = r.object();
    CHECK(bounds["exact"] == false);
    CHECK(bounds["of_magnitude"] == false);
    CHECK(bounds["blocks"] == 1);
    CHECK(bounds["lower"]["mantissa"] >= 0.5);
    CHECK(bounds["lower"]["exp2"] > 39000);
    CHECK(bounds["lower"]["exp2"] <= bounds["upper"]["exp2"]);
    CHECK(bounds["upper"]["exp2"] < 41000);
    for (const char *side : {"lower", "upper"}) CHECK(!bounds[side]["method"].get<std::string>().empty());
    r = run(folder, {"compute", wide});
    CHECK(r.code == 3);
    CHECK(r.err.find("perm(A) lies between ") != std::string::npos);
}

TEST_CASE("where the entries' own rounding is all that is left, the answer says so") {
    const Folder folder;
    const std::string doubles = folder.write("m.mtx", dense + "real general\n2 2\n1.1\n1.1\n1.1\n-1.1\n"),
                      exact = folder.write("e.mtx", dense + "real general\n2 2\n1\n1\n1\n-1.5\n");
    const std::string words = "the entries' own rounding may change all digits";
    CHECK(run(folder, {"compute", doubles}).out.find(words) != std::string::npos);
    CHECK(run(folder, {"compute", exact}).out.find(words) == std::string::npos);
    CHECK(run(folder, {"compute", doubles, "--decimal"}).out.find(words) == std::string::npos);
    const auto told = [&](const std::string &file) {
        return run(folder, {"compute", file, "--json"}).object().at("entry_rounding");
    };
    CHECK(told(doubles).is_null()); // it is infinite
    CHECK(told(exact) == 0);
    const double share = told(folder.write("p.mtx", dense + "real general\n2 2\n.1\n.2\n.3\n.4\n"));
    CHECK(share == 0x1p-52);
}

TEST_CASE("samples, a line each") {
    const Folder folder;
    const std::string file =
        folder.write("m.mtx", dense + "integer general\n2 2\n0\n3\n4\n5\n"); // rows 0 4, 3 5
    CHECK(run(folder, {"sample", file}).out == "2 1\n");
    CHECK(run(folder, {"sample", file, "--shots", "3", "--quiet"}).out == "2 1\n2 1\n2 1\n");
    const std::string tall = folder.write("tall.mtx", dense + "integer general\n2 1\n3\n5\n");
    const Run first = run(folder, {"sample", tall, "--shots", "40", "--seed", "7", "--json"});
    REQUIRE(first.code == 0);
    const json samples = first.object();
    CHECK(samples["shots"] == 40);
    CHECK(samples["seed"] == 7);
    int matched = 0;
    for (const json &one : samples["samples"]) {
        CHECK((one == json{0, 1} || one == json{1, 0}));
        matched += one == json{0, 1};
    }
    CHECK(samples["samples"].size() == 40);
    CHECK(matched > 10); // of 25, with probability 5/8 each
    CHECK(matched < 38);
    CHECK(run(folder, {"sample", tall, "--shots", "40", "--seed", "7"}).out !=
          run(folder, {"sample", tall, "--shots", "40", "--seed", "8"}).out);
    CHECK(run(folder, {"sample", file, "--shots", "-1"}).code == 2);
    CHECK(run(folder, {"sample", file, "--chunks", "equal"}).code == 2);
    CHECK(run(folder, {"sample", file, "--shots", "0"}).code == 0);
    CHECK(run(folder, {"sample", file, "--shots", "0"}).out.empty());
    const std::string lone =
        folder.write("lone.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n");
    CHECK(run(folder, {"sample", lone, "--shots", "2"}).code != 0);
    CHECK(run(folder, {"sample", lone, "--shots", "2", "--row-unmatched", "0,1", "--col-unmatched", "0,1"})
              .out == "1 0\n1 0\n");
    CHECK(run(folder, {"sample", folder.write("none.mtx", dense + "integer general\n1 1\n0\n")}).code == 2);
}

TEST_CASE("estimates, and in place of refusals") {
    const Folder folder;
    const std::string small = folder.write("m.mtx", dense + "real general\n2 2\n1\n2\n3\n4\n");
    CHECK(run(folder, {"estimate", "--quiet", small}).out == "10\n");
    CHECK(run(folder, {"estimate", small}).out.starts_with("perm = 10\nexact"));
    constexpr int order = 64; // whose permanent takes years
    const std::string large = folder.write("large.mtx", derangements(order));
    const auto options = [&](const char *command) {
        return std::vector<std::string>{command,     large, "--without", "merge,periodic,structure",
                                        "--epsilon", "0.1", "--delta",   "0.01",
                                        "--seed",    "4",   "--json"};
    };
    Run r = run(folder, options("estimate"));
    REQUIRE(r.code == 0);
    const json estimate = r.object();
    CHECK(estimate["exact"] == false);
    CHECK(estimate["epsilon"] == 0.1);
    CHECK(estimate["delta"] == 0.01);
    CHECK(estimate["method"] == "nesting");
    CHECK(estimate["samples"] > 0);
    CHECK(!estimate.contains("refusal"));
    check_derangements(estimate, order);
    for (const char *side : {"lower", "upper"}) CHECK(estimate[side]["mantissa"] >= 0.5);
    std::vector<std::string> refused = options("compute");
    refused.insert(refused.end(), {"--or-estimate", "--exact-limit", "1h"}); // more than planning ever takes
    r = run(folder, refused);
    CAPTURE(r.err);
    REQUIRE(r.code == 0);
    const json instead = r.object();
    CHECK(instead["refusal"].get<std::string>().find("too large") != std::string::npos);
    CHECK(instead["mantissa"] == estimate["mantissa"]);
    CHECK(run(folder, {"compute", "--or-estimate", "--quiet", small}).out == "10\n");
    check_usage_error(folder, {"compute", small, "--epsilon", "0.1"}, "--or-estimate");
    r = run(folder, {"estimate", small, "--epsilon", "1"});
    CHECK(r.code == 2);
    CHECK(r.err.find("above 0 and below 1") != std::string::npos);
}

TEST_CASE("with --or-estimate the exact way has a share of the time") {
    const Folder folder;
    const Options ryser{"--or-estimate", "--engine", "ryser", "--without", "structure", "--seed", "4"};
    const Options options = with(ryser, {"--epsilon", "0.1", "--delta", "0.01", "--json"});
    const auto large = folder.write("large.mtx", derangements(45)); // takes days
    // A minute if not given, however long the whole may take. A pipe is read once.
    Run r = run(folder, with({"compute", "-", "--time-limit", "none"}, options), large);
    CAPTURE(r.err);
    REQUIRE(r.code == 0);
    check_derangements(r.object(), 45);
    CHECK(contains(r.err, "an estimate takes the place of the computation: too large for the limits"));
    CHECK(run(folder, with({"compute", large, "--quiet"}, options)).err.empty());

    // With a checkpoint nothing is refused for its prediction, so this is stopped on its way.
    const auto stopped_after = [&](const std::string &share, const Options &more) {
        const std::string file = folder.write("m.mtx", derangements(38));
        const Options stops{"compute", file, "--checkpoint", folder / "c", "--exact-limit", share};
        return run(folder, with(with(stops, ryser), more));
    };
    r = stopped_after("0.5", {"--epsilon", "0.1", "--delta", "0.01", "--json"});
    REQUIRE(r.code == 0);
    check_derangements(r.object(), 38);
    const std::string why = r.object()["refusal"];
    CAPTURE(why);
    CHECK(contains(why, "stopped at the time limit of 500 ms"));
    CHECK(contains(why, "; allow more with --exact-limit"));
    CHECK(contains(r.err, why));

    // What is left is the estimate's, be it nothing.
    r = stopped_after("1", {"--time-limit", "1.5", "--epsilon", "1e-6"});
    CAPTURE(r.err);
    CHECK(r.code == 3);
    CHECK_FALSE(contains(r.err, "1.5 s"));

    check_usage_error(folder, {"compute", large, "--exact-limit", "5"}, "--or-estimate");
    check_usage_error(folder, with({"compute", large, "--exact-limit", "5", "--time-limit", "5"}, ryser),
                      "not below --time-limit");
}
