// perm_demo - permanents that took published codes minutes to days, each checked against the known value.
#include "bench/families.hpp"
#include "capi/command/matrix_file.hpp"

#include <fmt/core.h>
#include <perm.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace {

namespace families = perm::families;

struct Case {
    std::string name;
    std::function<perm::Csr()> matrix;
    std::string known;           // the permanent, to at least 20 digits
    std::string published = "-"; // seconds: see the footnote of the table
};

constexpr const char introduction[] =
    "libperm {}: permanents of sparse matrices\n\n"
    "  mycielskian6   the adjacency matrix of Mycielski's graph with 47 vertices\n"
    "  grid           its perfect matchings, i.e. its coverings with dominoes (in 3-D: with bricks)\n"
    "  hypercube      the perfect matchings of the cube in d dimensions\n";
constexpr const char real_matrices[] =
    "  others         matrices of the SuiteSparse collection: power grids, chemical plants, a mesh\n";
constexpr const char footnote[] =
    "\ndigits: of the permanent that are certain. seconds: of finding the order and computing.\n"
    "published: seconds of CPU-SparsePerman on 112 threads / GPU-SparsePerman / CodeGen-Hybrid, the latter\n"
    "two on an A100: Elbek & Kaya, Fully-Automated Code Generation for Efficient Computation of Sparse\n"
    "Matrix Permanents on GPUs, Table IV.\n\n";

std::vector<Case> cases() {
    std::vector<Case> list{
        {"mycielskian6", [] { return families::mycielskian(6); }, "1381724105482686970",
         "15124 / 3557 / 478"},
        {"grid 8x8", [] { return families::grid(8, 8); }, "12988816"},
        {"grid 12x12", [] { return families::grid(12, 12); }, "53060477521960000"},
        {"grid 16x16", [] { return families::grid(16, 16); }, "2444888770250892795802079170816"},
        {"grid 4x4x4", [] { return families::grid(4, 4, 4); }, "5051532105"},
        {"hypercube 5", [] { return families::hypercube(5); }, "589185"},
        {"hypercube 6", [] { return families::hypercube(6); }, "16332454526976"},
    };
    // Real matrices, where they lie at hand.
    if (const char *folder = std::getenv("PERM_MATRIX_DIR")) {
        const auto add = [&](const std::string &name, const std::string &known,
                             const std::string &published) {
            const auto file = std::filesystem::path(folder) / (name + ".mtx");
            if (std::filesystem::exists(file))
                list.push_back(
                    {name, [file] { return perm::read_matrix_file(file.string()); }, known, published});
        };
        add("bcspwr02", "17339123388", "9240 / 2424 / 1317");
        add("curtis54", "8787902965855203136", ">259200 / 126048 / 47841");
        add("d_ss", "-120067270875124538236328.12057354", "191395 / 44732 / 21448");
        add("mesh1e1", "321693913693718875326877622078644.2263", "33013 / 6045 / 860");
    }
    return list;
}

// Integers and patterns are computed exactly, to the last digit.
perm_opts options_for(const perm::Csr &matrix) {
    perm_opts opts = PERM_OPTS_INIT;
    const auto is_integer = [](double x) { return x == std::floor(x) && std::abs(x) < 0x1p53; };
    if (matrix.complex_values.empty() && std::all_of(matrix.values.begin(), matrix.values.end(), is_integer))
        opts.precision = "exact";
    return opts;
}

// Whether the answer is as near to the known value as it says. Both are parsed to 64 bits.
bool is_right(const perm::Result &result, const std::string &known) {
    if (result->exact && known.find('.') == std::string::npos) return result.text() == known;
    const long double exact = std::strtold(known.c_str(), nullptr);
    const long double answer = std::strtold(result.text().c_str(), nullptr);
    const long double bound = result->rel_error_bound + 0x1p-60L;
    return result->tolerance_met && std::abs(answer - exact) <= bound * std::abs(exact);
}

std::string certain_digits(const perm::Result &result) {
    if (result->exact) return "all";
    return fmt::format("{:.0f}", std::max(0.0, std::floor(-std::log10(result->rel_error_bound))));
}

using Row = std::vector<std::string>;

void print_table(const std::vector<Row> &rows) {
    std::vector<std::size_t> width(rows.front().size());
    for (const Row &row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
    for (const Row &row : rows) {
        fmt::print("{:<{}}", row[0], width[0]);
        for (std::size_t i = 1; i < row.size(); ++i) fmt::print("  {:>{}}", row[i], width[i]);
        fmt::print("\n");
    }
}

} // namespace

int main() {
    std::vector<Row> rows{{"matrix", "n", "permanent", "digits", "engine", "seconds", "published"}};
    std::vector<std::string> wrong;
    const std::vector<Case> list = cases();

    fmt::print(introduction, perm_version());
    if (std::getenv("PERM_MATRIX_DIR")) fmt::print("{}", real_matrices);
    fmt::print("\n");
    std::fflush(stdout);

    for (const Case &c : list) {
        try {
            const perm::Csr matrix = c.matrix();
            const auto start = std::chrono::steady_clock::now();
            const perm::Result result = perm::compute(matrix, options_for(matrix));
            const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
            rows.push_back({c.name, fmt::format("{}", result->n), result.text(), certain_digits(result),
                            result->engine, fmt::format("{:.3f}", seconds.count()), c.published});
            if (!is_right(result, c.known)) wrong.push_back(fmt::format("{}: {} is known", c.name, c.known));
        } catch (const std::exception &error) {
            wrong.push_back(fmt::format("{}: {}", c.name, error.what()));
        }
    }
    print_table(rows);
    fmt::print("{}", footnote);

    if (wrong.empty()) {
        fmt::print("All {} answers are the known values.\n", list.size());
        return EXIT_SUCCESS;
    }
    for (const std::string &line : wrong) fmt::print("WRONG {}\n", line);
    return EXIT_FAILURE;
}
