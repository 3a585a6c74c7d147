// Where a library may be called from: callbacks that throw, small stacks, children of a fork, little address
// space, a disk that is full.
#include "bench/families.hpp"
#include "tests/support/at_once.hpp"
#include "tests/support/check.hpp"
#include "tests/support/end_of_threads.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace perm::families;

namespace {

// Of the address space that there is, so much more.
bool limit_to(std::int64_t more_bytes) {
    long pages = 0;
    std::FILE *file = std::fopen("/proc/self/statm", "r");
    if (!file) return false;
    const bool read = std::fscanf(file, "%ld", &pages) == 1;
    std::fclose(file);
    const auto space = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + more_bytes);
    const rlimit limit{space, space};
    return read && setrlimit(RLIMIT_AS, &limit) == 0;
}

// In a process of its own: 0 where all is well, else which step was not; minus the signal that ended it.
int in_child(const std::function<int()> &work) {
    const pid_t child = fork();
    if (child == 0) {
        int code = 99;
        try {
            code = work();
        } catch (...) {
        }
        _exit(code);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Told of each fork after the library is, which asks later to be told of it.
int forks_alone = 0; // that find no other thread
const int told_of_forks = pthread_atfork([] { forks_alone += count_threads() == 1; }, nullptr, nullptr);

struct Case {
    const char *engine, *precision;
    perm::Csr a;
};

// By every engine of a CPU, in numbers of every kind; each takes some milliseconds.
std::vector<Case> cases() {
    const std::uint64_t seed = run::seed(9601);
    return {{"auto", "auto", erdos_renyi(12, 1, Entries::real, seed)},
            {"auto", "auto", chain_of_blocks(20, 6, 0.6, Entries::real, seed)},
            {"frontier", "double", erdos_renyi(16, 0.6, Entries::real, seed)},
            {"frontier", "exact", permutation_plus(60, 2, Entries::integers, seed)},
            {"ryser", "double", erdos_renyi(15, 1, Entries::real, seed)},
            {"ryser", "exact", erdos_renyi(13, 1, Entries::counts, seed)},
            {"ryser", "mpfr:200", erdos_renyi(11, 1, Entries::real, seed)},
            {"tree", "double", erdos_renyi(20, 0.4, Entries::real, seed)},
            {"tree", "dd", erdos_renyi(16, 0.6, Entries::nonnegative, seed)}};
}

perm_opts opts_of(const Case &c, int threads = 2) {
    perm_opts opts = in_precision(c.engine, c.precision);
    opts.device = "cpu";
    opts.threads = threads;
    return opts;
}

std::string text_of(const Case &c, int threads = 2) { return perm::compute(c.a, opts_of(c, threads)).text(); }

struct Thrown {
    int calls = 0, from = 0;
    bool as_number = false;
    void call() {
        if (++calls <= from) return;
        if (as_number) throw 7;
        throw std::runtime_error("the window is closed");
    }
};

} // namespace

TEST_CASE("callbacks that throw end the call with a status that says so") {
    const perm::Csr a = erdos_renyi(22, 1, Entries::real, run::seed(9602));
    for (const char *engine : {"ryser", "frontier", "tree"})
        for (const bool as_number : {false, true})
            for (const bool in_cancel : {false, true})
                for (const int from : {0, 1}) {
                    if (as_number && from > 0) continue;
                    CAPTURE(std::string(engine));
                    CAPTURE(from);
                    Thrown thrown{0, from, as_number};
                    perm_opts opts = in_precision(engine, "double");
                    opts.device = "cpu";
                    opts.threads = 2;
                    opts.cancel_user = opts.progress_user = &thrown;
                    if (in_cancel)
                        opts.cancel = [](void *user) { return static_cast<Thrown *>(user)->call(), 0; };
                    else
                        opts.progress = [](double, double, void *user) {
                            static_cast<Thrown *>(user)->call();
                        };
                    const perm_csr csr = a.view();
                    perm::Result result;
                    const perm_status status = perm_compute(&csr, &opts, result.raw());
                    if (thrown.calls <= from) { // it was faster
                        CHECK(status == PERM_OK);
                        continue;
                    }
                    CHECK(status == PERM_BAD_OPTION);
                    const std::string text = perm_last_error();
                    CHECK(text.find("a callback threw an exception") != text.npos);
                    CHECK((as_number || text.find("the window is closed") != text.npos));
                    CHECK(result->text == nullptr);
                }
    CHECK(perm::compute(erdos_renyi(8, 1, Entries::real, 1)).text().size() > 0); // and the next call works
}

TEST_CASE("a cancel callback that throws on the straight road of small matrices") {
    perm_opts opts = PERM_OPTS_INIT;
    opts.cancel = [](void *) -> int { throw std::runtime_error("no"); };
    const perm::Csr a = erdos_renyi(5, 1, Entries::real, 1);
    const perm_csr csr = a.view();
    perm::Result result;
    CHECK(perm_compute(&csr, &opts, result.raw()) == PERM_BAD_OPTION);
    CHECK(std::string(perm_last_error()).find("a callback threw") != std::string::npos);
}

TEST_CASE("threads with stacks of 64 KB") {
    if (run::sanitized) return run::skip("small stacks: sanitized code takes more");
    const int code = in_child([] {
        struct Work {
            std::vector<Case> all = cases();
            std::vector<std::string> expected, found;
        } work;
        for (const Case &c : work.all) work.expected.push_back(text_of(c));
        pthread_attr_t small;
        pthread_attr_init(&small);
        if (pthread_attr_setstacksize(&small, 64 * 1024) != 0) return 1;
        pthread_t thread{};
        const auto body = [](void *user) -> void * {
            auto &w = *static_cast<Work *>(user);
            for (const Case &c : w.all) {
                w.found.push_back(text_of(c));
                const perm::Plan plan(c.a, opts_of(c));
                const std::string bytes = plan.save();
                const perm::Plan again = perm::Plan::load(bytes);
                if (again.explain().empty()) w.found.clear();
            }
            return nullptr;
        };
        if (pthread_create(&thread, &small, body, &work) != 0) return 2;
        pthread_join(thread, nullptr);
        return work.found == work.expected ? 0 : 3;
    });
    CHECK(code == 0);
}

TEST_CASE("a child of a fork computes as its parent does") {
    const std::vector<Case> all = cases();
    std::vector<std::string> expected;
    for (const Case &c : all) expected.push_back(text_of(c)); // the parent has its threads now
    const perm::Plan plan(all[2].a, opts_of(all[2]));
    const std::string planned = plan.execute(all[2].a.view().values).text();
    for (int k = 0; k < 3; ++k)
        CHECK(in_child([&] {
                  for (std::size_t i = 0; i < all.size(); ++i)
                      if (text_of(all[i], 1 + k) != expected[i]) return static_cast<int>(i) + 1;
                  return plan.execute(all[2].a.view().values).text() == planned ? 0 : 50;
              }) == 0);
    CHECK(text_of(all[2]) == expected[2]); // and the parent goes on
}

// A thread that holds a lock at a fork leaves it locked in the child for ever.
TEST_CASE("a fork finds none of the library's threads, and both processes start theirs again") {
    const Case c{"tree", "double", erdos_renyi(20, 0.4, Entries::real, run::seed(9603))};
    const std::string expected = text_of(c);
    REQUIRE(told_of_forks == 0);
    constexpr int forks = 20;
    forks_alone = 0;
    for (int k = 0; k < forks; ++k) {
        CHECK(text_of(c) == expected);
        CHECK(in_child([&] { return text_of(c) == expected ? 0 : 1; }) == 0);
    }
    CHECK(forks_alone > forks / 2); // oneTBB does not wait for a thread that is only starting
}

TEST_CASE("little address space: an answer or a status, and the next call works") {
    if (run::sanitized) return run::skip("little address space: sanitizers take terabytes of it");
    const perm::Csr small = erdos_renyi(12, 1, Entries::real, 7);
    const std::string expected = perm::compute(small).text();
    int answered = 0, refused = 0;
    for (const std::int64_t megabytes : {8, 32, 128, 512}) {
        CAPTURE(megabytes);
        // The child inherits the parent's threads' stacks and arenas: they are in what it has already.
        const int code = in_child([&] {
            if (!limit_to(megabytes << 20)) return 2;
            const perm::Csr a = erdos_renyi(24, 0.9, Entries::real, 8); // a table of 100 MB
            const perm_csr csr = a.view();
            perm_opts opts = with_engine("frontier");
            opts.device = "cpu";
            opts.threads = 1;
            opts.memory_limit_bytes = std::int64_t{1} << 34; // the system's limit is met, not this
            perm::Result result;
            const perm_status status = perm_compute(&csr, &opts, result.raw());
            if (status != PERM_OK && status != PERM_OUT_OF_MEMORY) return 3;
            if (perm::compute(small).text() != expected) return 4;
            return status == PERM_OK ? 10 : 11;
        });
        CHECK((code == 10 || code == 11));
        ++(code == 10 ? answered : refused);
    }
    MESSAGE(answered << " answered, " << refused << " refused");
    CHECK(refused > 0);
    CHECK(answered > 0);
}

TEST_CASE("a matrix of few entries and any number of columns: refused before memory is asked for") {
    const std::int64_t row_ptr[] = {0, 1, 2};
    for (const std::int64_t columns : {std::int64_t{400'000'000}, (std::int64_t{1} << 31) - 2})
        for (const std::int64_t rows : {1, 2}) {
            CAPTURE(columns);
            const std::int64_t col_idx[] = {0, columns - 1};
            perm_csr a = PERM_CSR_INIT;
            a.n_rows = a.nnz = rows;
            a.n_cols = columns;
            a.row_ptr = row_ptr;
            a.col_idx = col_idx;
            a.value_type = PERM_VALUE_PATTERN;
            const int code = in_child([&] {
                if (!run::sanitized && !limit_to(64 << 20)) return 99;
                perm::Result result;
                perm_plan *plan = nullptr;
                const perm_status planned = perm_plan_create(&a, nullptr, &plan);
                return planned != PERM_OK && !plan ? static_cast<int>(perm_compute(&a, nullptr, result.raw()))
                                                   : 98;
            });
            CHECK((code == PERM_UNSUPPORTED || code == PERM_REFUSED_MEMORY));
        }
}
