// perm_record_host - plays the GPU's kernels on the host and prints the bits of all that they come to, beside
// bench/record/main.cpp, which has what is computed without a GPU.
#define DOCTEST_CONFIG_IMPLEMENT // what its kernels are played with checks
#include <doctest/doctest.h>

#include "tests/record/host.hpp"

#include "tests/support/run.hpp"

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

int main(int argc, char **argv) {
    doctest::Context checks;
    checks.setAsDefaultForAssertsOutOfTestCases();
    checks.setAssertHandler([](const doctest::AssertData &check) {
        if (check.m_failed) throw std::runtime_error(std::string("no longer holds: ") + check.m_expr);
    });
    try {
        RecordLines lines(argc > 1 ? argv[1] : "", "");
        for (const auto record : {record_subsets, record_frontier, record_tapes, record_minors,
                                  record_periodic, record_sets, record_walks})
            record(lines);
        std::fprintf(stderr, "%zu lines\n", lines.count());
        return run::skips() > 0 ? 77 : 0; // there was no compiler
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
