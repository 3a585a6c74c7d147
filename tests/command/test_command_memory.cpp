// --memory as the kernel measures it: the command's peak resident set on matrices that are nasty each in its
// own way. What is allowed is the limit and a fifth, 64 MB, and what the command takes to read the file
// alone.
#include "tests/support/command.hpp"
#include "tests/support/nasty_files.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace command;
using namespace nasty;
using Words = std::vector<std::string>;

constexpr std::int64_t megabyte = 1 << 20;

struct Case {
    const char *name;
    std::function<void(const std::string &path)> write;
    std::vector<Words> ways; // to ask for it
};

const Words as_it_is, exactly{"--precision", "exact"};

std::vector<Case> all_cases() {
    return {
        {"all ones, 800", [](const auto &p) { full(p, 800, 800, false); }, {as_it_is, exactly}},
        {"dense, 1500", [](const auto &p) { full(p, 1500, 1500, true); }, {as_it_is}},
        {"arrow, 3000", [](const auto &p) { hubs(p, 3000, 1, true); }, {as_it_is, exactly}},
        {"six hubs, 1000", [](const auto &p) { hubs(p, 1000, 6, true); }, {as_it_is, exactly}},
        {"star, 10^5", [](const auto &p) { hubs(p, 100000, 1, false); }, {as_it_is, exactly}},
        {"caterpillar, 10^5", [](const auto &p) { caterpillar(p, 100000); }, {as_it_is, exactly}},
        {"wide, 2 x 10^6", [](const auto &p) { full(p, 2, 1000000, false); }, {as_it_is}},
        {"banded, 10^5", [](const auto &p) { band(p, 100000, 2, 2, true); }, {as_it_is}},
        {"fractions, 2000", [](const auto &p) { band(p, 2000, 1, 1, true); }, {exactly}},
        {"sparse, 10^5", [](const auto &p) { sparse(p, 100000); }, {as_it_is, exactly}},
        {"repeated, 700", [](const auto &p) { repeated(p, 700); }, {as_it_is, exactly}},
        {"60 bits, 24", [](const auto &p) { long_integers(p, 24); }, {as_it_is, exactly}},
        {"ring of blocks, 4000", [](const auto &p) { ring(p, 1000); }, {as_it_is, exactly}},
        {"empty", [](const auto &p) { full(p, 0, 0, false); }, {as_it_is}},
        {"1 x 1", [](const auto &p) { full(p, 1, 1, true); }, {as_it_is, exactly}},
    };
}

Words operator+(Words words, const Words &more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

} // namespace

TEST_CASE("the memory limit holds for the whole call") {
    const Folder folder;
    constexpr std::int64_t limit = 50 * megabyte;
    int answered = 0, refused = 0;
    for (const Case &one : all_cases()) {
        CAPTURE(std::string(one.name));
        const std::string path = folder / "a.mtx";
        one.write(path);
        // Read, and given to the library, which has no such precision.
        const Run reading = run(folder, {"compute", path, "--precision", "mpfr:0"});
        REQUIRE(reading.code == 2);
        for (const Words &way : one.ways) {
            const Run r =
                run(folder, Words{"compute", path, "--json", "--quiet", "--device", "cpu", "--threads", "2",
                                  "--time-limit", "1m", "--memory", std::to_string(limit)} +
                                way);
            CAPTURE(r.err);
            CAPTURE(reading.peak_bytes / megabyte);
            CAPTURE(r.peak_bytes / megabyte);
            REQUIRE((r.code == 0 || r.code == 2 || r.code == 3));
            (r.code == 0 ? answered : refused) += 1;
            CHECK(r.peak_bytes <= limit / 5 * 6 + 64 * megabyte + reading.peak_bytes);
            if (r.code != 0) continue;
            const std::int64_t told = r.object().at("peak_bytes").get<std::int64_t>();
            CHECK(told <= limit);
            CHECK(r.peak_bytes <= told / 5 * 6 + 64 * megabyte + reading.peak_bytes);
        }
    }
    MESSAGE("answered ", answered, ", refused ", refused);
    CHECK(answered > 10);
    CHECK(refused > 0);
}

TEST_CASE("memory does not grow with samples") {
    const Folder folder;
    constexpr std::int64_t limit = 64 * megabyte;
    const std::string path = folder / "a.mtx";
    band(path, 1000, 1, 1, true);
    // At once they would take 320 MB.
    for (const Words &more : {Words{}, Words{"--json"}}) {
        const Process process(Words{"sample", path, "--quiet", "--shots", "40000", "--threads", "2",
                                    "--memory", std::to_string(limit)} +
                                  more,
                              "/dev/null", "/dev/null", folder / "stderr");
        std::int64_t peak_bytes = 0;
        CHECK(process.wait(&peak_bytes) == 0);
        CHECK(folder.read("stderr").empty());
        CAPTURE(peak_bytes / megabyte);
        CHECK(peak_bytes <= limit + 60 * megabyte);
    }
}

// A number of matchings has as many bits as the matrix has rows, and every line may stay unmatched.
TEST_CASE("numbers of matchings hold the memory limit") {
    const Folder folder;
    constexpr std::int64_t limit = 200 * megabyte;
    const std::vector<Case> cases{
        {"banded, 3000", [](const auto &p) { band(p, 3000, 6, 6, true); }, {as_it_is}},
        {"of order 3, each line 3000 times",
         [](const auto &p) { full(p, 3, 3, true); },
         {{"--row-multiplicity", "3000,3000,3000", "--col-multiplicity", "3000,3000,3000"}}},
        {"dense, 1000", [](const auto &p) { full(p, 1000, 1000, true); }, {as_it_is}},
        {"ring of blocks, 4000", [](const auto &p) { ring(p, 1000); }, {as_it_is}}};
    for (const Case &one : cases) {
        CAPTURE(std::string(one.name));
        const std::string path = folder / "a.mtx";
        one.write(path);
        const Run reading = run(folder, {"compute", path, "--precision", "mpfr:0"});
        REQUIRE(reading.code == 2);
        const Run r = run(folder, Words{"matchings", path, "--quiet", "--device", "cpu", "--threads", "2",
                                        "--memory", std::to_string(limit)} +
                                      one.ways.front());
        CAPTURE(r.err);
        CAPTURE(r.peak_bytes / megabyte);
        CHECK(r.code == 3);
        CHECK(r.peak_bytes <= limit + 60 * megabyte + reading.peak_bytes);
    }
}

TEST_CASE("a cell of many entries is read within the memory limit") {
    const Folder folder;
    constexpr std::int64_t limit = 64 * megabyte;
    const std::string path = folder / "a.mtx";
    const Words asked{"periodic", path, "--length", "10", "--quiet", "--memory", std::to_string(limit)};
    full(path, 2, 400002, true);
    const Run reading = run(folder, asked + Words{"--precision", "mpfr:0"});
    REQUIRE(reading.code == 2);
    const Run r = run(folder, asked);
    CAPTURE(r.err);
    CAPTURE(r.peak_bytes / megabyte);
    CHECK(r.code == 3);
    CHECK(r.peak_bytes <= limit + 60 * megabyte + reading.peak_bytes);
    // Of another shape it is told at once.
    full(path, 2, 400000, true);
    const Run other = run(folder, asked);
    CHECK(other.code == 2);
    CHECK(contains(other.err, "2 (2 d + 1) it must have"));
    CHECK(other.peak_bytes <= limit + 60 * megabyte + reading.peak_bytes);
}

TEST_CASE("what is refused is not written out again for its bounds") {
    const Folder folder;
    const std::string file = folder / "a.mtx";
    full(file, 2, 2, true);
    const std::string often = "4500,4500"; // 81 million entries, 20 bytes each
    const Run r = run(folder, {"compute", file, "--row-multiplicity", often, "--col-multiplicity", often,
                               "--precision", "mpfr:200", "--time-limit", "0.1"});
    CAPTURE(r.err);
    CHECK(r.code == 3);
    CHECK(contains(r.err, "perm bounds FILE"));
    CHECK(r.peak_bytes < 1200'000'000);
}
