// Every subcommand that takes a limit, on inputs that are nasty each in its own way: memory within --memory
// and 60 MB more, time within --time-limit and half a second more, and an end within half a second of SIGINT.
// All ways on all inputs are tried with PERM_TEST_MULTIPLIER=24, some of them otherwise. Half a second is
// that of a quick machine: of one that is slower, or busy with other work, as much more as it then takes for
// our own. Pieces of work whose parts are kept have the ten seconds that they are promised (perm.h,
// checkpoint).
#include "bench/families.hpp"
#include "tests/support/command.hpp"
#include "tests/support/nasty_files.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace command;
using namespace nasty;
using Words = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t megabyte = 1 << 20;

Words operator+(Words words, const Words &more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// How many times longer some work takes than on the machine that this was written on; 1 at least.
double slowness() {
    constexpr double usual = 0.0107;
    const auto start = Clock::now();
    std::uint64_t x = 1;
    for (int k = 0; k < 10'000'000; ++k) x = x * 6364136223846793005u + 1442695040888963407u;
    const volatile std::uint64_t kept = x;
    (void)kept;
    return std::max(1.0, seconds_since(start) / usual);
}

struct Input {
    std::function<void(const std::string &path)> write;
    Words more; // where the subcommand has it
};

const std::map<std::string, Input> inputs{
    {"dense, 44", {[](const auto &p) { full(p, 44, 44, true); }, {}}},
    {"all ones, 800", {[](const auto &p) { full(p, 800, 800, false); }, {}}},
    {"arrow, 3000", {[](const auto &p) { hubs(p, 3000, 1, true); }, {}}},
    {"six hubs, 1000", {[](const auto &p) { hubs(p, 1000, 6, true); }, {}}},
    {"star, 10^5", {[](const auto &p) { hubs(p, 100000, 1, false); }, {}}},
    {"caterpillar, 10^5", {[](const auto &p) { caterpillar(p, 100000); }, {}}},
    {"wide, 2 x 10^6", {[](const auto &p) { full(p, 2, 1000000, false); }, {}}},
    {"banded, 3000", {[](const auto &p) { band(p, 3000, 6, 6, true); }, {}}},
    {"banded, 2 x 10^5", {[](const auto &p) { band(p, 200000, 2, 2, true); }, {}}},
    {"of order 3, each line 3000 times",
     {[](const auto &p) { full(p, 3, 3, true); },
      {"--row-multiplicity", "3000,3000,3000", "--col-multiplicity", "3000,3000,3000"}}},
    {"tangled, 200", {[](const auto &p) { tangled(p, 200, 4); }, {}}},
    {"ring of blocks, 4000", {[](const auto &p) { ring(p, 1000); }, {}}}};

struct Way {
    Words words; // the file's name is the second
    bool has_multiplicities = true;
    double to_finish = 0; // seconds that what is under way has
};

std::vector<Way> ways(const Folder &folder) {
    const std::string out = folder / "out";
    return {{{"compute"}},
            {{"compute", "--precision", "exact"}},
            {{"compute", "--or-estimate"}},
            {{"compute", "--checkpoint", out}, true, 10},
            {{"bounds"}},
            {{"estimate"}},
            {{"sample", "--shots", "100000"}, false},
            {{"matchings"}},
            {{"matchings", "--precision", "exact"}},
            {{"explain"}},
            {{"explain", "--json"}},
            {{"source"}},
            {{"plan", "-o", out}},
            {{"shard", "--of", "2", "--index", "0", "-o", out}, true, 10},
            {{"shard", "--estimate", "--of", "2", "--index", "0", "-o", out}, true, 10},
            {{"periodic", "--length", "1000"}, false}};
}

// An input and a way: some of them, in any order, or all.
template <class Work> void with_some(int usual, std::uint64_t salt, const Work &work) {
    const Folder folder;
    std::vector<std::pair<const std::string *, Way>> all;
    for (const auto &[name, input] : inputs)
        for (const Way &way : ways(folder)) all.emplace_back(&name, way);
    perm::families::Random random(run::seed(salt));
    const auto some = static_cast<std::size_t>(usual) * static_cast<std::size_t>(run::multiplier());
    const std::vector<std::int64_t> order = random.permutation(static_cast<std::int64_t>(all.size()));
    for (std::size_t k = 0; k < std::min(some, all.size()); ++k) {
        const auto &[name, way] = all[static_cast<std::size_t>(order[k])];
        CAPTURE(*name);
        const Input &input = inputs.at(*name);
        const std::string path = folder / (*name + ".mtx");
        if (!std::filesystem::exists(path)) input.write(path);
        Words words = way.words;
        words.insert(words.begin() + 1, path);
        if (way.has_multiplicities) words = words + input.more;
        std::string line;
        for (const std::string &word : words) line += " " + word;
        CAPTURE(line);
        work(folder, words, way.to_finish);
    }
}

struct Ended {
    int code = 0;
    double seconds = 0, slowness = 1;
    std::int64_t peak_bytes = 0;
    std::string err;
};

// The time is from the signal on, if there is one.
Ended ended(const Folder &folder, const Words &words, bool interrupt) {
    for (const char *end : {"out", "out.previous"}) std::filesystem::remove(folder / end);
    Ended e;
    e.slowness = slowness();
    auto start = Clock::now();
    const Process process(words + Words{"--threads", "2", "--memory", "200M"}, "/dev/null", "/dev/null",
                          folder / "stderr");
    if (interrupt) {
        process.await_handlers();
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        process.signal(SIGINT);
        start = Clock::now();
    }
    e.code = process.wait(&e.peak_bytes);
    e.seconds = seconds_since(start);
    e.slowness = std::max(e.slowness, slowness());
    e.err = folder.read("stderr");
    return e;
}

// Of three: others may have had the processor.
Ended soonest(const Folder &folder, const Words &words, bool interrupt, double seconds) {
    Ended best = ended(folder, words, interrupt);
    for (int again = 0; again < 2 && best.seconds > seconds + 0.5 * best.slowness; ++again) {
        Ended other = ended(folder, words, interrupt);
        if (other.seconds / other.slowness < best.seconds / best.slowness) best = std::move(other);
    }
    return best;
}

} // namespace

TEST_CASE("the memory and the time are those of the limits") {
    if (run::sanitized) return run::skip("a sanitizer takes memory of its own");
    int answered = 0, refused = 0;
    with_some(8, 9801, [&](const Folder &folder, const Words &words, double to_finish) {
        const Ended e = soonest(folder, words + Words{"--time-limit", "1"}, false, 1 + to_finish);
        CAPTURE(e.err);
        CAPTURE(e.seconds);
        CAPTURE(e.slowness);
        CAPTURE(e.peak_bytes / megabyte);
        CHECK((e.code == 0 || e.code == 2 || e.code == 3));
        (e.code == 0 ? answered : refused) += 1;
        CHECK(e.peak_bytes <= 260 * megabyte);
        CHECK(e.seconds <= 1 + to_finish + 0.5 * e.slowness);
    });
    MESSAGE("answered ", answered, ", refused ", refused);
    CHECK(answered + refused >= 8);
}

TEST_CASE("SIGINT ends it") {
    if (run::sanitized) return run::skip("a sanitizer makes it slower than any machine is");
    int interrupted = 0, others = 0;
    with_some(16, 9802, [&](const Folder &folder, const Words &words, double to_finish) {
        const Ended e = soonest(folder, words, true, to_finish);
        CAPTURE(e.err);
        CAPTURE(e.seconds);
        CAPTURE(e.slowness);
        CAPTURE(e.peak_bytes / megabyte);
        CHECK((e.code == 130 || e.code == 0 || e.code == 2 || e.code == 3));
        (e.code == 130 ? interrupted : others) += 1;
        CHECK(e.peak_bytes <= 260 * megabyte);
        CHECK(e.seconds <= to_finish + 0.5 * e.slowness);
    });
    MESSAGE("interrupted ", interrupted, ", ended before ", others);
    CHECK(interrupted > 0);
}
