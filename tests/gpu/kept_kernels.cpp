// The engines on a GPU give the same bits each time, and compile a kernel once: in threads that work at once,
// and in processes that share a cache.
#include "tests/support/at_once.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/check.hpp"
#include "tests/support/on_gpu.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace perm::families;
namespace fs = std::filesystem;

namespace {

std::string read_file(const fs::path &path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

// Files of compiled kernels, which no other file in a cache is as long as.
std::vector<fs::path> kernels_in(const std::string &folder) {
    std::vector<fs::path> found;
    for (const auto &entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file() && entry.file_size() > 1024) found.push_back(entry.path());
    return found;
}

constexpr const char *child_folder = "PERM_TEST_GPU_CHILD", *child_cache = "PERM_TEST_GPU_CHILD_CACHE";
constexpr const char *child_test = "another process has the same bits whatever is in its cache";

// What a child computes, and its result in words that hold every bit, a line each.
std::string words_of_results(const char *cache_dir, int *compiled) {
    Random random(run::seed(0x677090));
    std::string text;
    for (const char *engine : gpu_engines) {
        const perm::Csr a = erdos_renyi(18, 0.35, Entries::real, random.bits());
        perm_opts opts = on_gpu(engine);
        opts.precision = "double"; // one kernel each
        opts.cache_dir = cache_dir;
        perm::Result r = perm::compute(a, opts);
        *compiled += r->kernels_compiled;
        char line[120];
        std::snprintf(line, sizeof line, "%a %lld %a\n", r->mantissa_re, static_cast<long long>(r->exp2),
                      r->rel_error_bound);
        text += line;
    }
    return text;
}

// Runs child_test in a new process; "COMPILED\nRESULTS".
std::string run_child(const std::string &cache_dir) {
    const TemporaryFolder folder;
    std::vector<std::string> words{"test_gpu", "--test-case=" + std::string(child_test)}, variables;
    for (char **variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
    variables.push_back(child_folder + ("=" + folder.path()));
    variables.push_back(child_cache + ("=" + cache_dir));
    const auto pointers = [](std::vector<std::string> &strings) {
        std::vector<char *> list;
        for (std::string &s : strings) list.push_back(s.data());
        list.push_back(nullptr);
        return list;
    };
    pid_t process = 0;
    const int failed = posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, pointers(words).data(),
                                   pointers(variables).data());
    if (failed != 0) throw std::runtime_error("cannot start the test again");
    int status = 0;
    if (waitpid(process, &status, 0) != process || status != 0)
        throw std::runtime_error("the test's second process failed");
    return read_file(fs::path(folder.path()) / "results");
}

} // namespace

TEST_CASE("GPU: the same bits each time, and from threads that execute one plan at once") {
    if (!gpu()) return;
    Random random(run::seed(0x677006));
    for (const char *engine : gpu_engines)
        for (const Entries entries : {Entries::real, Entries::nonnegative}) {
            CAPTURE(std::string(engine));
            const perm::Csr a = erdos_renyi(27, 0.3, entries, random.bits());
            const std::vector<double> values[2] = {a.values, random_values(a, entries, random)};
            const perm::Plan plan = plan_of_pattern(a, on_gpu(engine));
            perm::Result one[2];
            for (const std::size_t which : {0, 1}) {
                one[which] = plan.execute(values[which].data());
                for (int call = 0; call < 3; ++call)
                    check_same_bits(*one[which].raw(), *plan.execute(values[which].data()).raw());
            }
            perm::Result results[4];
            at_once(4, [&](std::size_t t) { results[t] = plan.execute(values[t % 2].data()); });
            for (std::size_t t = 0; t < 4; ++t) check_same_bits(*results[t].raw(), *one[t % 2].raw());
        }
}

TEST_CASE("GPU: four threads with plans of their own compile each kernel once") {
    if (!gpu()) return;
    Random random(run::seed(0x677007));
    for (const char *engine : gpu_engines) {
        CAPTURE(std::string(engine));
        const perm::Csr a = erdos_renyi(std::string(engine) == "dense" ? 31 : 19, 0.4, Entries::real,
                                        random.bits()); // no other test has a dense one of 31
        const TemporaryFolder cache;
        perm_opts opts = on_gpu(engine);
        opts.precision = "double";
        opts.cache_dir = cache.path().c_str();
        perm::Result results[4];
        at_once(4, [&](std::size_t t) { results[t] = perm::Plan(a, opts).execute(a.values.data()); });
        int compiled = 0;
        for (perm::Result &r : results) {
            compiled += r->kernels_compiled;
            check_same_bits(*r.raw(), *results[0].raw());
        }
        // Of tree there is another where segments are summed again.
        CHECK((compiled == 1 || (compiled == 2 && std::string(engine) == "tree")));
        CHECK(static_cast<int>(kernels_in(cache.path()).size()) == compiled);
        check_agree(*results[0].raw(), *perm::compute(a, with_engine("frontier")).raw());
    }
}

TEST_CASE("another process has the same bits whatever is in its cache") {
    if (!gpu()) return;
    if (const char *folder = std::getenv(child_folder); folder != nullptr) {
        int compiled = 0;
        const std::string words = words_of_results(std::getenv(child_cache), &compiled);
        std::ofstream(fs::path(folder) / "results") << compiled << '\n' << words;
        CHECK(!words.empty());
        return;
    }
    int compiled = 0;
    const std::string words = words_of_results("", &compiled);
    CHECK(std::count(words.begin(), words.end(), '\n') == std::ssize(gpu_engines));
    compiled = 0;
    CHECK(words_of_results("", &compiled) == words);
    CHECK(compiled == 0);

    const TemporaryFolder cache;
    const std::string all = std::to_string(std::size(gpu_engines)) + "\n";
    CHECK(run_child("") == all + words);
    CHECK(kernels_in(cache.path()).empty());
    CHECK(run_child(cache.path()) == all + words); // a fresh one
    REQUIRE(kernels_in(cache.path()).size() == std::size(gpu_engines));
    CHECK(run_child(cache.path()) == "0\n" + words);
    int damaged = 0; // in the middle, cut off, emptied
    for (const fs::path &path : kernels_in(cache.path())) {
        const auto size = fs::file_size(path);
        if (damaged == 0)
            std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
                .seekp(static_cast<std::streamoff>(size / 2))
                .write("defect", 6);
        else
            fs::resize_file(path, damaged == 1 ? size / 2 : 0);
        if (++damaged == 3) break;
    }
    CHECK(run_child(cache.path()) == "3\n" + words);
    CHECK(run_child(cache.path()) == "0\n" + words);
}
