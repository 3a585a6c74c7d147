// The engines on a GPU, through the C API: where there is one.
#include "tests/support/blocks.hpp"
#include "tests/support/check.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shared_matrix.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <exception>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace perm::families;
using oracle::Exact;
namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char *engines[] = {"shared", "dense", "purereg", "hybrid", "tree"};

// Engine tree walks whole segments.
bool has_chunks(const char *engine, const char *chunks) {
    return chunks == nullptr || std::string(chunks) == "ceg" || std::string(engine) != "tree";
}

double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// One engine alone, and nothing on disk: what a test needs is compiled in it.
perm_opts on_gpu(const char *engine, const char *chunks = nullptr) {
    perm_opts opts = with_engine(engine);
    opts.device = "gpu";
    opts.chunks = chunks;
    opts.cache_dir = "";
    return opts;
}

// Whether there is one by perm_info, so that an engine that fails is not taken for a machine without a GPU.
// The reason is the library's.
std::string why_no_gpu() {
    const auto info = nlohmann::json::parse(perm::info(PERM_FORMAT_JSON));
    if (info.at("devices").size() > 1) return {};
    try {
        (void)perm::compute(counting(3), on_gpu("shared"));
    } catch (const perm::Error &error) {
        if (error.status() == PERM_UNSUPPORTED) return error.what();
        throw;
    }
    throw std::runtime_error("an engine of the GPU has run where perm_info tells of none");
}

bool gpu() {
    static const std::string why_not = why_no_gpu();
    if (!why_not.empty()) run::skip(why_not);
    return why_not.empty();
}

// ---------------------------------------------------------------- results

// Neither is known to be right, but each tells how wrong it can be.
void check_agree(const perm_result &x, const perm_result &y) {
    CAPTURE(x.text);
    CAPTURE(y.text);
    CAPTURE(x.rel_error_bound);
    CAPTURE(y.rel_error_bound);
    const bool finite = std::isfinite(x.abs_error_bound) && std::isfinite(y.abs_error_bound);
    if (finite) CHECK(abs(value_of(x) - value_of(y)) <= Exact(x.abs_error_bound) + Exact(y.abs_error_bound));
    if (informative(x) && informative(y)) CHECK(overlap(Ball(x), Ball(y)));
}

double relative_difference(const perm_result &x, const perm_result &y) {
    const Exact right = value_of(y);
    REQUIRE(right != 0);
    return Exact(abs(value_of(x) / right - 1)).get_d();
}

void check_account(const perm_result &r, const char *engine, std::int64_t n) {
    if (std::string(r.engine) == "none") { // the entries that are not 0 have no perfect matching
        CHECK(std::string(r.text) == "0");
        return;
    }
    CHECK(std::string(r.engine) == engine);
    CHECK(std::string(r.device) == "gpu");
    CHECK(r.subsets == std::exp2(static_cast<double>(n - 1)));
    CHECK(r.seconds_compile >= 0);
    CHECK(r.peak_bytes > 0);
}

bool nonnegative(const std::vector<double> &values) {
    return std::all_of(values.begin(), values.end(), [](double x) { return x >= 0; });
}

// ---------------------------------------------------------------- values

struct Kind {
    const char *name;
    Entries entries;
    double scale; // of rows, or its inverse
};

constexpr Kind kinds[] = {{"ones", Entries::ones, 1},
                          {"nonnegative", Entries::nonnegative, 1},
                          {"real", Entries::real, 1},
                          {"counts", Entries::counts, 1},
                          {"integers", Entries::integers, 1},
                          {"nonnegative, scaled", Entries::nonnegative, 1e150},
                          {"real, scaled", Entries::real, 1e150}};

std::vector<double> values_of(const Kind &kind, const perm::Csr &a, Random &random) {
    std::vector<double> values = random_values(a, kind.entries, random);
    for (std::size_t i = 0; i + 1 < a.row_ptr.size(); ++i) {
        const double factor = random.chance(0.5) ? kind.scale : 1 / kind.scale;
        for (auto k = at(a.row_ptr[i]); k < at(a.row_ptr[i + 1]); ++k) values[k] *= factor;
    }
    return values;
}

struct Tally {
    int compared = 0, exact = 0, informative = 0;

    void book(const perm_result &r) {
        ++compared;
        exact += r.exact;
        informative += r.rel_error_bound < 1;
    }
};

// One kernel for each engine, values of every kind.
void try_pattern(const perm::Csr &a, const char *chunks, Random &random, Tally &tally) {
    const std::int64_t n = a.n_rows;
    CAPTURE(describe(a));
    std::vector<perm::Plan> plans;
    std::vector<const char *> names;
    for (const char *engine : engines) {
        if (!has_chunks(engine, chunks)) continue;
        plans.push_back(plan_of_pattern(a, on_gpu(engine, chunks)));
        names.push_back(engine);
    }
    for (const Kind &kind : kinds) {
        CAPTURE(std::string(kind.name));
        const perm::Csr b = with_values(a, values_of(kind, a, random));
        Exact truth;
        perm::Result ryser, frontier;
        if (n <= 12) {
            truth = oracle::by_frontier(b);
        } else {
            ryser = perm::compute(b, with_engine("ryser"));
            frontier = perm::compute(b, with_engine("frontier"));
        }
        for (std::size_t e = 0; e < plans.size(); ++e) {
            CAPTURE(std::string(names[e]));
            perm::Result r = plans[e].execute(b.values.data());
            tally.book(*r.raw());
            check_account(*r.raw(), names[e], n);
            if (n <= 12) {
                check_result(*r.raw(), truth);
                if (n <= 6 && b.values == std::vector<double>(b.values.size(), 1.0)) CHECK(r->exact == 1);
            } else {
                check_agree(*r.raw(), *ryser.raw());
                check_agree(*r.raw(), *frontier.raw());
                if (nonnegative(b.values)) CHECK(relative_difference(*r.raw(), *frontier.raw()) <= 1e-11);
            }
        }
    }
}

// ---------------------------------------------------------------- folders, processes

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
    for (const char *engine : engines) {
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

// ---------------------------------------------------------------- the driver, beside the library

class Driver {
  public:
    Driver() {
        const char *path = std::getenv("PERM_CUDA_DRIVER");
        void *library = dlopen(path != nullptr ? path : "libcuda.so.1", RTLD_NOW);
        if (library == nullptr) throw std::runtime_error(dlerror());
        get(library, context_create, "cuCtxCreate_v2");
        get(library, context_destroy, "cuCtxDestroy_v2");
        get(library, context_current, "cuCtxGetCurrent");
        get(library, context_set, "cuCtxSetCurrent");
        get(library, primary_retain, "cuDevicePrimaryCtxRetain");
        get(library, primary_release, "cuDevicePrimaryCtxRelease_v2");
        get(library, memory_info, "cuMemGetInfo_v2");
        get(library, memory_allocate, "cuMemAlloc_v2");
        get(library, memory_free, "cuMemFree_v2");
    }

    using Context = void *;
    int (*context_create)(Context *, unsigned flags, int device);
    int (*context_destroy)(Context);
    int (*context_current)(Context *);
    int (*context_set)(Context);
    int (*primary_retain)(Context *, int device);
    int (*primary_release)(int device);
    int (*memory_info)(std::size_t *free, std::size_t *total);
    int (*memory_allocate)(unsigned long long *, std::size_t bytes);
    int (*memory_free)(unsigned long long);

    Context current() const {
        Context context = nullptr;
        CHECK(context_current(&context) == 0);
        return context;
    }

  private:
    template <class Function> static void get(void *library, Function &function, const char *name) {
        function = reinterpret_cast<Function>(dlsym(library, name));
        if (function == nullptr) throw std::runtime_error(std::string("the driver has no ") + name);
    }
};

// All of the GPU's memory that can be had, down to pieces of 4 KiB.
class AllMemory {
  public:
    explicit AllMemory(const Driver &driver) : driver_(driver) {
        REQUIRE(driver.primary_retain(&context_, 0) == 0);
        REQUIRE(driver.context_set(context_) == 0);
        std::size_t bytes = 0, total = 0;
        REQUIRE(driver.memory_info(&bytes, &total) == 0);
        while (bytes >= 4096) {
            unsigned long long address = 0;
            if (taken_.size() < most_pieces && driver.memory_allocate(&address, bytes) == 0)
                taken_.push_back(address);
            else
                bytes /= 2;
        }
    }
    ~AllMemory() {
        (void)driver_.context_set(context_);
        for (const unsigned long long address : taken_) (void)driver_.memory_free(address);
        (void)driver_.context_set(nullptr);
        (void)driver_.primary_release(0);
    }
    AllMemory(const AllMemory &) = delete;
    AllMemory &operator=(const AllMemory &) = delete;

  private:
    static constexpr std::size_t most_pieces = 10000;
    const Driver &driver_;
    Driver::Context context_ = nullptr;
    std::vector<unsigned long long> taken_;
};

// ---------------------------------------------------------------- callbacks

struct Watch {
    std::vector<double> fractions;
    std::atomic<bool> stop{false}; // once something has been done
    Clock::time_point asked;
    bool was_asked = false;
};

void note_progress(double fraction, double, void *user) {
    static_cast<Watch *>(user)->fractions.push_back(fraction);
}

int stop_it(void *user) {
    Watch &watch = *static_cast<Watch *>(user);
    if (!watch.stop || watch.fractions.empty() || watch.fractions.back() == 0) return 0;
    if (!watch.was_asked) watch.asked = Clock::now();
    watch.was_asked = true;
    return 1;
}

perm_opts watched(perm_opts opts, Watch &watch) {
    opts.progress = note_progress;
    opts.cancel = stop_it;
    opts.progress_user = opts.cancel_user = &watch;
    return opts;
}

perm_status status_of(const perm::Csr &a, const perm_opts &opts) {
    perm::Result r;
    const perm_csr view = a.view();
    return perm_compute(&view, &opts, r.raw());
}

// body(t) in threads that start together; what they throw is thrown here.
template <class Body> void at_once(std::size_t count, const Body &body) {
    std::vector<std::exception_ptr> thrown(count);
    std::barrier start(static_cast<std::ptrdiff_t>(count));
    {
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; t < count; ++t)
            threads.emplace_back([&, t] {
                start.arrive_and_wait();
                try {
                    body(t);
                } catch (...) {
                    thrown[t] = std::current_exception();
                }
            });
    }
    for (const std::exception_ptr &it : thrown)
        if (it) std::rethrow_exception(it);
}

void check_works() {
    for (const char *engine : engines) {
        perm::Result r = perm::compute(counting(4), on_gpu(engine));
        CHECK(r.text() == "55456");
    }
}

} // namespace

TEST_CASE("GPU: orders 0, 1, 2, 3") {
    if (!gpu()) return;
    for (const char *engine : engines)
        for (const char *chunks : {"ceg", "equal"}) {
            if (!has_chunks(engine, chunks)) continue;
            CAPTURE(std::string(engine));
            CAPTURE(std::string(chunks));
            const perm_opts opts = on_gpu(engine, chunks);
            CHECK(perm::compute(counting(0), opts).text() == "1");
            CHECK(perm::compute(constant(1, -7), opts).text() == "-7");
            CHECK(perm::compute(constant(1, 0.375), opts).value() == 0.375);
            CHECK(perm::compute(counting(2), opts).text() == "10");
            CHECK(perm::compute(ones_and_diagonal(2, 0, 3), opts).text() == "9");
            CHECK(perm::compute(counting(3), opts).text() == "450");
            CHECK(perm::compute(from_dense({{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}), opts).text() == "1");
            CHECK(perm::compute(from_dense({{1, 1, 0}, {1, 1, 0}, {1, 1, 0}}), opts).text() == "0");
        }
}

TEST_CASE("GPU: every engine, values of every kind, against exact ones up to 12, CPU engines up to 22") {
    if (!gpu()) return;
    Random random(run::seed(0x677001));
    Tally tally;
    for (int repeat = 0; repeat < run::multiplier(); ++repeat)
        for (std::int64_t n = 1; n <= 22; ++n) try_pattern(random_matrix(n, random), "ceg", random, tally);
    CHECK(tally.exact > tally.compared / 8);
    CHECK(tally.informative > tally.compared / 2);
}

TEST_CASE("GPU: equal chunks, values of every kind") {
    if (!gpu()) return;
    Random random(run::seed(0x677002));
    Tally tally;
    for (int repeat = 0; repeat < run::multiplier(); ++repeat)
        for (const std::int64_t n : {2, 5, 8, 11, 12, 17, 22})
            try_pattern(random_matrix(n, random), "equal", random, tally);
    CHECK(tally.informative > tally.compared / 2);
}

TEST_CASE("GPU: families") {
    if (!gpu()) return;
    const std::uint64_t seed = run::seed(0x677003);
    const std::vector<std::pair<perm::Csr, std::string>> known{
        {hadamard(8), "384"},           {hadamard(16), "50692096"},
        {gcds(12), "1327833590272"},    {minima(12), "3168847554832961"},
        {hessenberg(20), "524288"},     {fano(), "24"},
        {aztec_diamond(4), "1024"},     {tridiagonal(24, 1, 1, 1), "75025"},
        {circulant(9, {0, 1, 2}), "78"}};
    for (const char *engine : engines) {
        CAPTURE(std::string(engine));
        for (const auto &[a, permanent] : known) {
            CAPTURE(permanent);
            check_result(*perm::compute(a, on_gpu(engine)).raw(), Exact(permanent));
        }
        for (const perm::Csr &a :
             {mesh2d(4, 5, Entries::real, seed), mesh3d(3, 3, 2, Entries::nonnegative, seed),
              power_network(21, Entries::nonnegative, seed), process(20, Entries::real, seed),
              degree_chains(20, 6, Entries::counts, seed), hypercube(5)})
            check_agree(*perm::compute(a, on_gpu(engine)).raw(),
                        *perm::compute(a, with_engine("frontier")).raw());
    }
    // With all reductions, blocks of several sizes.
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = "gpu";
    opts.cache_dir = "";
    for (const Entries entries : {Entries::real, Entries::nonnegative}) {
        const perm::Csr a = chain_of_blocks(6, 9, 0.6, entries, seed);
        perm::Result r = perm::compute(a, opts);
        check_agree(*r.raw(), *perm::compute(a).raw());
        CHECK(std::string(r->device) == "gpu");
    }
}

TEST_CASE("GPU: tree has the bits that it has on a CPU") {
    if (!gpu()) return;
    Random random(run::seed(0x67700d));
    std::vector<perm::Csr> matrices{constant(20, 1), tridiagonal(44, 1, 2, 3), hypercube(5)};
    for (int repeat = 0; repeat < run::multiplier(); ++repeat)
        for (const Entries entries : {Entries::real, Entries::nonnegative, Entries::integers}) {
            for (const std::int64_t n : {1, 2, 5, 9, 13, 18}) matrices.push_back(random_matrix(n, random));
            matrices.push_back(erdos_renyi(27, 0.3, entries, random.bits()));
            matrices.push_back(permutation_plus(32, 2, entries, random.bits()));
            matrices.push_back(mesh2d(5, 6, entries, random.bits()));
            matrices.push_back(arrow(24, entries, random.bits()));
        }
    int compared = 0;
    for (std::size_t k = 0; k < 2 * matrices.size(); ++k) {
        const perm::Csr &a = matrices[k / 2];
        CAPTURE(describe(a));
        perm_opts opts = on_gpu("tree");
        opts.precision = k % 2 == 0 ? "double" : "dd"; // a second run may be another plan's on each
        perm::Result there = perm::compute(a, opts);
        opts.device = "cpu";
        perm::Result here = perm::compute(a, opts);
        CHECK(here->mantissa_re == there->mantissa_re);
        CHECK(here->exp2 == there->exp2);
        CHECK(std::string(here->text) == there->text);
        CHECK(here->exact == there->exact);
        CHECK(here->subsets == there->subsets);
        CHECK(here->transposed == there->transposed);
        if (std::isfinite(here->rel_error_bound)) CHECK(here->rel_error_bound == there->rel_error_bound);
        if (std::string(here->engine) == "none") continue;
        CHECK(std::string(here->device) == "cpu");
        CHECK(std::string(there->device) == "gpu");
        ++compared;
    }
    CHECK(compared > std::ssize(matrices));
}

TEST_CASE("GPU: orders 26 to 30 against the frontier") {
    if (!gpu()) return;
    Random random(run::seed(0x677004));
    for (int repeat = 0; repeat < run::multiplier(); ++repeat)
        for (std::int64_t n = 26; n <= 30; ++n)
            for (const Entries entries : {Entries::nonnegative, Entries::real, Entries::counts}) {
                const perm::Csr a = erdos_renyi(n, 0.25, entries, random.bits());
                perm::Result right = perm::compute(a, with_engine("frontier"));
                for (const char *engine : engines) {
                    CAPTURE(n);
                    CAPTURE(std::string(engine));
                    perm::Result r = perm::compute(a, on_gpu(engine));
                    check_account(*r.raw(), engine, n);
                    check_agree(*r.raw(), *right.raw());
                    if (nonnegative(a.values)) {
                        CHECK(relative_difference(*r.raw(), *right.raw()) <= 1e-11);
                        CHECK(informative(*r.raw()));
                    }
                }
            }
}

TEST_CASE("GPU: the literature's random matrices against the frontier") {
    if (!gpu()) return;
    for (const char *name : {"er40_10", "er40_20", "er45_10"}) {
        perm::Csr a;
        if (!shared_matrix(name, a)) continue;
        CAPTURE(std::string(name));
        perm::Result right = perm::compute(a, with_engine("frontier"));
        for (const char *engine : engines)
            for (const bool reduced : {true, false}) {
                CAPTURE(std::string(engine));
                CAPTURE(reduced);
                perm_opts opts = on_gpu(engine);
                if (reduced) opts.without = nullptr;
                opts.time_limit_seconds = 20 * run::multiplier();
                try {
                    perm::Result r = perm::compute(a, opts);
                    check_agree(*r.raw(), *right.raw());
                    CHECK(relative_difference(*r.raw(), *right.raw()) <= 1e-11);
                } catch (const perm::Error &error) {
                    if (error.status() != PERM_REFUSED_TIME) throw;
                    run::skip(std::string(name) + (reduced ? ", " : " without reductions, ") + engine + ": " +
                              error.what());
                }
            }
    }
}

TEST_CASE("GPU: other values of one plan need no other kernel") {
    if (!gpu()) return;
    Random random(run::seed(0x677005));
    for (const char *engine : engines) {
        CAPTURE(std::string(engine));
        const perm::Csr a = erdos_renyi(11, 0.55, Entries::ones, random.bits());
        const perm::Plan plan = plan_of_pattern(a, on_gpu(engine));
        for (int call = 0; call < 8; ++call) {
            const perm::Csr b = with_values(a, values_of(kinds[call % 7], a, random));
            perm::Result r = plan.execute(b.values.data());
            if (call > 0) CHECK(r->kernels_compiled == 0);
            check_result(*r.raw(), oracle::by_frontier(b));
            // Nor does another plan of the pattern.
            perm::Result again = plan_of_pattern(a, on_gpu(engine)).execute(b.values.data());
            CHECK(again->kernels_compiled == 0);
            check_same_bits(*r.raw(), *again.raw());
        }
    }
}

TEST_CASE("GPU: the same bits each time, and from threads that execute one plan at once") {
    if (!gpu()) return;
    Random random(run::seed(0x677006));
    for (const char *engine : engines)
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

TEST_CASE("GPU: four threads with plans of their own compile one kernel") {
    if (!gpu()) return;
    Random random(run::seed(0x677007));
    for (const char *engine : engines) {
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
        CHECK(compiled == 1);
        CHECK(kernels_in(cache.path()).size() == 1);
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
    CHECK(std::count(words.begin(), words.end(), '\n') == std::ssize(engines));
    compiled = 0;
    CHECK(words_of_results("", &compiled) == words);
    CHECK(compiled == 0);

    const TemporaryFolder cache;
    const std::string all = std::to_string(std::size(engines)) + "\n";
    CHECK(run_child("") == all + words);
    CHECK(kernels_in(cache.path()).empty());
    CHECK(run_child(cache.path()) == all + words); // a fresh one
    REQUIRE(kernels_in(cache.path()).size() == std::size(engines));
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

TEST_CASE("GPU: without memory on it a call says so, and the next one works") {
    if (!gpu()) return;
    const Driver driver;
    Random random(run::seed(0x677008));
    check_works();
    int refused = 0;
    for (const bool loaded : {false, true}) {
        CAPTURE(loaded);
        const perm::Csr a = permutation_plus(30, 4, Entries::nonnegative, random.bits());
        perm::Result right = perm::compute(a, with_engine("frontier"));
        const perm::Plan plan(a, on_gpu("hybrid"));
        if (loaded) (void)plan.execute(a.values.data());
        {
            const AllMemory taken(driver);
            for (int call = 0; call < 3; ++call) {
                try {
                    perm::Result r = plan.execute(a.values.data());
                    check_agree(*r.raw(), *right.raw());
                } catch (const perm::Error &error) {
                    CHECK_MESSAGE(error.status() == PERM_OUT_OF_MEMORY, error.what());
                    CHECK(std::string(error.what()).size() > 10);
                    ++refused;
                }
            }
        }
        perm::Result r = plan.execute(a.values.data());
        check_agree(*r.raw(), *right.raw());
        CHECK(relative_difference(*r.raw(), *right.raw()) <= 1e-11);
    }
    MESSAGE(refused << " of 6 calls found no memory on the GPU");
    check_works();
}

TEST_CASE("GPU: the caller's context stays") {
    if (!gpu()) return;
    const Driver driver;
    // Calls of every kind: that succeed, are refused, are cancelled.
    const auto calls = [] {
        check_works();
        const perm::Csr large = erdos_renyi(44, 0.9, Entries::nonnegative, run::seed(0x677009));
        perm_opts opts = on_gpu("dense");
        opts.time_limit_seconds = 0.01;
        CHECK(status_of(large, opts) == PERM_REFUSED_TIME);
        Watch watch;
        watch.stop = true;
        CHECK(status_of(large, watched(on_gpu("dense"), watch)) == PERM_CANCELLED);
        perm_opts equal = on_gpu("purereg", "equal");
        CHECK(perm::compute(counting(4), equal).text() == "55456");
    };
    at_once(1, [&](std::size_t) { // a thread has none at first
        CHECK(driver.current() == nullptr);
        calls();
        CHECK(driver.current() == nullptr);
    });
    at_once(1, [&](std::size_t) {
        Driver::Context own = nullptr, primary = nullptr;
        REQUIRE(driver.context_create(&own, 0, 0) == 0);
        CHECK(driver.current() == own);
        calls();
        CHECK(driver.current() == own);
        CHECK(driver.context_destroy(own) == 0);
        CHECK(driver.primary_retain(&primary, 0) == 0); // the library's own
        CHECK(driver.context_set(primary) == 0);
        calls();
        CHECK(driver.current() == primary);
        CHECK(driver.context_set(nullptr) == 0);
        CHECK(driver.primary_release(0) == 0);
    });
    check_works();
}

TEST_CASE("GPU: a long run stops when it is asked to") {
    if (!gpu()) return;
    const perm::Csr large = erdos_renyi(44, 0.3, Entries::nonnegative, run::seed(0x67700a));
    for (const char *chunks : {"ceg", "equal"})
        for (const char *engine : engines) {
            if (!has_chunks(engine, chunks)) continue;
            CAPTURE(std::string(engine));
            CAPTURE(std::string(chunks));
            Watch watch;
            watch.stop = true;
            CHECK(status_of(large, watched(on_gpu(engine, chunks), watch)) == PERM_CANCELLED);
            REQUIRE(watch.was_asked);
            CHECK(seconds_since(watch.asked) < 2);
            CHECK(perm::compute(counting(4), on_gpu(engine, chunks)).text() == "55456");
        }
    // Also while a thread of its own asks for it.
    Watch watch;
    std::jthread asking([&watch] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        watch.stop = true;
    });
    const auto start = Clock::now();
    CHECK(status_of(large, watched(on_gpu("dense"), watch)) == PERM_CANCELLED);
    CHECK(seconds_since(start) < 1.5 + 2 + 5); // 5: for compiling, at most
    CHECK(watch.was_asked);
    check_works();
}

TEST_CASE("GPU: what takes longer than the limit is refused, before or while it runs") {
    if (!gpu()) return;
    const perm::Csr large = erdos_renyi(44, 0.3, Entries::nonnegative, run::seed(0x67700b));
    for (const char *engine : engines) {
        CAPTURE(std::string(engine));
        perm_opts opts = on_gpu(engine);
        opts.time_limit_seconds = 0.1;
        const auto start = Clock::now();
        CHECK(status_of(large, opts) == PERM_REFUSED_TIME);
        const std::string why = perm_last_error(); // perhaps while looking for tree's order
        CHECK((why.find(engine) != std::string::npos || why.find("time limit") != std::string::npos));
        CHECK(seconds_since(start) < 1);
        opts.time_limit_seconds = 0; // a day
        CHECK(status_of(erdos_renyi(64, 0.9, Entries::ones, 1), opts) == PERM_REFUSED_TIME);
    }
    check_works();
}

TEST_CASE("GPU: progress only goes up") {
    if (!gpu()) return;
    const perm::Csr a = erdos_renyi(37, 0.8, Entries::nonnegative, run::seed(0x67700c));
    for (const char *chunks : {"ceg", "equal"}) {
        CAPTURE(std::string(chunks));
        Watch watch;
        CHECK(status_of(a, watched(on_gpu("dense", chunks), watch)) == PERM_OK);
        REQUIRE(!watch.fractions.empty());
        CHECK(std::is_sorted(watch.fractions.begin(), watch.fractions.end()));
        CHECK(watch.fractions.front() >= 0);
        CHECK(watch.fractions.back() <= 1);
        CHECK(watch.fractions.back() > 0);
    }
}
