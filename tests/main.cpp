// Runs one topic's tests. A test case that made no check fails, unless it announced what it skipped; a run
// that made no check at all exits with 77, which CTest reports as skipped, or fails if nothing was skipped
// either.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "tests/support/end_of_threads.hpp"
#include "tests/support/run.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::string_view under_way = "none yet";
std::vector<std::string> compared_nothing; // the test cases
int checks = 0;

struct ComparisonListener : doctest::IReporter {
    explicit ComparisonListener(const doctest::ContextOptions &) {}

    void test_case_start(const doctest::TestCaseData &test) override {
        under_way = name_ = test.m_name;
        skips_before_ = run::skips();
    }
    void test_case_end(const doctest::CurrentTestCaseStats &stats) override {
        checks += stats.numAssertsCurrentTest;
        if (stats.numAssertsCurrentTest == 0 && run::skips() == skips_before_)
            compared_nothing.push_back(name_);
    }

    void report_query(const doctest::QueryData &) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats &) override { under_way = "none: all have ended"; }
    void test_case_reenter(const doctest::TestCaseData &) override {}
    void test_case_exception(const doctest::TestCaseException &) override {}
    void subcase_start(const doctest::SubcaseSignature &) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData &) override {}
    void log_message(const doctest::MessageData &) override {}
    void test_case_skipped(const doctest::TestCaseData &) override {}

  private:
    std::string name_;
    int skips_before_ = 0;
};

DOCTEST_REGISTER_LISTENER("comparisons", 1, ComparisonListener);

// What does not end says where it is before CTest kills it.
constexpr unsigned patience = 1150; // seconds

extern "C" void say_where(int) {
    for (const std::string_view text :
         {std::string_view("FAILED: still in the test case "), under_way, std::string_view("\n")})
        (void)!write(STDOUT_FILENO, text.data(), text.size());
    _exit(EXIT_FAILURE);
}

} // namespace

int main(int argc, char **argv) {
    std::signal(SIGALRM, say_where);
    alarm(patience * static_cast<unsigned>(run::multiplier()));
    const EndOfThreads end_of_threads;
    doctest::Context context(argc, argv);
    const char *seed = std::getenv("PERM_TEST_SEED");
    std::printf("PERM_TEST_SEED=%s PERM_TEST_MULTIPLIER=%d\n", seed != nullptr ? seed : "default",
                run::multiplier());
    std::fflush(stdout);

    const int failed = context.run();
    if (context.shouldExit()) return failed; // --help, --list-test-cases, ...

    for (const std::string &name : compared_nothing)
        std::printf("FAILED: '%s' compared nothing\n", name.c_str());
    std::printf("%d checks, %d skipped\n", checks, run::skips());
    if (failed != 0 || !compared_nothing.empty()) return EXIT_FAILURE;
    if (checks > 0) return EXIT_SUCCESS;
    if (run::skips() > 0) return 77;
    std::printf("FAILED: no test ran\n");
    return EXIT_FAILURE;
}
