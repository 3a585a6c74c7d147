// --memory as the kernel measures it: the command's peak resident set on matrices that are nasty each in its
// own way. What is allowed is the limit and a fifth, 64 MB, and what the command takes to read the file
// alone.
#include "tests/support/command.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace command;
using Words = std::vector<std::string>;

constexpr std::int64_t megabyte = 1 << 20;

// Written entry by entry: the command's peak begins with that of the process that starts it, which so stays
// small.
class MatrixFile {
  public:
    MatrixFile(const std::string &path, std::int64_t rows, std::int64_t cols, std::int64_t entries,
               bool has_values)
        : out_(path), has_values_(has_values) {
        out_ << "%%MatrixMarket matrix coordinate " << (has_values ? "real" : "pattern") << " general\n"
             << rows << ' ' << cols << ' ' << entries << '\n';
    }
    void put(std::int64_t row, std::int64_t col) { // from 0
        out_ << row + 1 << ' ' << col + 1;
        if (has_values_) out_ << " 0." << 100000 + next() % 900000;
        out_ << '\n';
    }
    std::uint64_t next() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return state_ >> 33;
    }

  private:
    std::ofstream out_;
    bool has_values_;
    std::uint64_t state_ = 22;
};

void band(const std::string &path, std::int64_t n, std::int64_t below, std::int64_t above, bool has_values) {
    std::int64_t entries = 0;
    const auto for_each = [&](const auto &work) {
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = std::max<std::int64_t>(0, i - below); j <= std::min(n - 1, i + above); ++j)
                work(i, j);
    };
    for_each([&](std::int64_t, std::int64_t) { ++entries; });
    MatrixFile file(path, n, n, entries, has_values);
    for_each([&](std::int64_t i, std::int64_t j) { file.put(i, j); });
}

void full(const std::string &path, std::int64_t rows, std::int64_t cols, bool has_values) {
    MatrixFile file(path, rows, cols, rows * cols, has_values);
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < cols; ++j) file.put(i, j);
}

// The first `hubs` rows and columns are full, and the diagonal where there is one.
void hubs(const std::string &path, std::int64_t n, std::int64_t hubs, bool diagonal) {
    const std::int64_t rest = n - hubs;
    MatrixFile file(path, n, n, hubs * n + rest * (hubs + diagonal), false);
    for (std::int64_t i = 0; i < n; ++i)
        if (i < hubs)
            for (std::int64_t j = 0; j < n; ++j) file.put(i, j);
        else {
            for (std::int64_t j = 0; j < hubs; ++j) file.put(i, j);
            if (diagonal) file.put(i, i);
        }
}

// A path of n / 4 with three leaves each, and the diagonal.
void caterpillar(const std::string &path, std::int64_t n) {
    const std::int64_t spine = n / 4;
    MatrixFile file(path, n, n, n + 2 * (spine - 1) + 6 * spine, false);
    for (std::int64_t i = 0; i < n; ++i) file.put(i, i);
    for (std::int64_t i = 0; i + 1 < spine; ++i) {
        file.put(i, i + 1);
        file.put(i + 1, i);
    }
    for (std::int64_t leaf = spine; leaf < n; ++leaf) {
        file.put((leaf - spine) / 3, leaf);
        file.put(leaf, (leaf - spine) / 3);
    }
}

// The diagonal and an entry to the right of it at random: it falls apart.
void sparse(const std::string &path, std::int64_t n) {
    MatrixFile file(path, n, n, 2 * n - 1, true);
    for (std::int64_t i = 0; i < n; ++i) {
        file.put(i, i);
        if (i + 1 < n) file.put(i, i + 1 + static_cast<std::int64_t>(file.next()) % (n - 1 - i));
    }
}

// Four rows, each over and over.
void repeated(const std::string &path, std::int64_t n) {
    std::ofstream out(path);
    out << "%%MatrixMarket matrix coordinate real general\n" << n << ' ' << n << ' ' << n * n << '\n';
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
            out << i + 1 << ' ' << j + 1 << " 0." << 100000 + (i % 4 + 1) * (j + 7919) * 104729 % 900000
                << '\n';
}

void long_integers(const std::string &path, std::int64_t n) {
    std::ofstream out(path);
    out << "%%MatrixMarket matrix array integer general\n" << n << ' ' << n << '\n';
    std::uint64_t state = 22;
    for (std::int64_t k = 0; k < n * n; ++k) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        out << (k % 3 == 0 ? "-" : "") << (state >> 4) << '\n';
    }
}

// Dense blocks of order 4 in a ring, each tied to the next by one entry.
void ring(const std::string &path, std::int64_t blocks) {
    MatrixFile file(path, 4 * blocks, 4 * blocks, 17 * blocks, true);
    for (std::int64_t b = 0; b < blocks; ++b) {
        for (std::int64_t i = 0; i < 4; ++i)
            for (std::int64_t j = 0; j < 4; ++j) file.put(4 * b + i, 4 * b + j);
        file.put(4 * b, 4 * ((b + 1) % blocks));
    }
}

struct Nasty {
    const char *name;
    std::function<void(const std::string &path)> write;
    std::vector<Words> ways; // to ask for it
};

const Words as_it_is, exactly{"--precision", "exact"};

std::vector<Nasty> nasty_set() {
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
    for (const Nasty &nasty : nasty_set()) {
        CAPTURE(nasty.name);
        const std::string path = folder / "a.mtx";
        nasty.write(path);
        // Read, and given to the library, which has no such precision.
        const Run reading = run(folder, {"compute", path, "--precision", "mpfr:0"});
        REQUIRE(reading.code == 2);
        for (const Words &way : nasty.ways) {
            const Run r =
                run(folder, Words{"compute", path, "--json", "--quiet", "--device", "cpu", "--threads", "2",
                                  "--time-limit", "5s", "--memory", std::to_string(limit)} +
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
        const Process process(
            Words{"sample", path, "--shots", "40000", "--threads", "2", "--memory", std::to_string(limit)} +
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
    struct Case {
        const char *name;
        std::function<void(const std::string &path)> write;
        Words more;
    };
    const std::vector<Case> cases{
        {"banded, 3000", [](const auto &p) { band(p, 3000, 6, 6, true); }, {}},
        {"of order 3, each line 3000 times",
         [](const auto &p) { full(p, 3, 3, true); },
         {"--row-multiplicity", "3000,3000,3000", "--col-multiplicity", "3000,3000,3000"}},
        {"dense, 1000", [](const auto &p) { full(p, 1000, 1000, true); }, {}},
        {"ring of blocks, 4000", [](const auto &p) { ring(p, 1000); }, {}}};
    for (const Case &one : cases) {
        CAPTURE(one.name);
        const std::string path = folder / "a.mtx";
        one.write(path);
        const Run reading = run(folder, {"compute", path, "--precision", "mpfr:0"});
        REQUIRE(reading.code == 2);
        const Run r = run(folder, Words{"matchings", path, "--quiet", "--device", "cpu", "--threads", "2",
                                        "--memory", std::to_string(limit)} +
                                      one.more);
        CAPTURE(r.err);
        CAPTURE(r.peak_bytes / megabyte);
        CHECK(r.code == 3);
        CHECK(r.peak_bytes <= limit + 60 * megabyte + reading.peak_bytes);
    }
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
