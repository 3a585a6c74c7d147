// Orders that searches have found, kept in the folder of kernels: a plan made with them is the plan made
// without; what is no order of its block, damaged, or another's is not used, and is replaced.
#include "bench/families.hpp"
#include "jit/compile/disk_cache.hpp"
#include "lib/run/kept_orders.hpp"
#include "lib/saved/bytes.hpp"
#include "tests/support/plan_in_memory.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/whole_file.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace fs = std::filesystem;
using perm::families::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x6b657074); }

perm_opts keeping(const std::string &folder) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = "cpu";
    opts.cache_dir = folder.c_str();
    return opts;
}

// Blocks whose rows, columns and branches are searched for.
std::vector<perm::Csr> matrices() {
    Random random(test_seed());
    std::vector<perm::Csr> all;
    all.push_back(perm::families::erdos_renyi(34, 0.3, perm::families::Entries::real, random.bits()));
    if (run::sanitized) return all; // a search takes a second there
    all.push_back(perm::families::mesh2d(6, 6, perm::families::Entries::nonnegative, random.bits()));
    all.push_back(perm::families::erdos_renyi(60, 0.07, perm::families::Entries::nonnegative, random.bits()));
    return all;
}

std::string digest(const perm::Csr &a, const perm_opts &opts) {
    return libperm::digest_of(plan_in_memory(a, opts));
}

std::map<std::string, std::string> files_in(const std::string &folder) {
    std::map<std::string, std::string> files;
    for (const auto &file : fs::directory_iterator(folder))
        files[file.path().filename().string()] = whole_file::read(file.path().string());
    return files;
}

} // namespace

TEST_CASE("a plan is the same with kept orders, with none, and after they were spoilt") {
    int kept = 0, spoilt = 0;
    Random random(test_seed() + 1);
    for (const perm::Csr &a : matrices()) {
        const TemporaryFolder folder;
        const std::string without = digest(a, keeping("")), first = digest(a, keeping(folder.path()));
        const auto files = files_in(folder.path());
        CHECK(first == without);
        CHECK(digest(a, keeping(folder.path())) == without);
        const auto again = files_in(folder.path()); // what took a moment longer may have come
        for (const auto &[name, bytes] : files) CHECK(again.at(name) == bytes);
        kept += static_cast<int>(files.size());
        for (const auto &[name, bytes] : files) {
            CAPTURE(name);
            REQUIRE(libperm::is_order_file(name));
            const auto content = libperm::decode_cache_file(bytes);
            REQUIRE(content.has_value());
            const std::string key(content->key), payload(content->payload);
            std::vector<std::string> others{"", payload.substr(0, payload.size() / 2), payload + "more",
                                            std::string(payload.size(), '\xff'), files.begin()->second};
            if (run::sanitized) others = {others[random.bits() % others.size()]};
            for (int k = 0; k < (run::sanitized ? 1 : 3); ++k) {
                others.push_back(payload);
                others.back()[static_cast<std::size_t>(
                    random.integer(0, static_cast<std::int64_t>(payload.size()) - 1))] ^=
                    static_cast<char>(random.integer(1, 255));
            }
            for (const std::string &other : others) { // with a checksum of their own
                std::ofstream(folder / name, std::ios::binary) << libperm::encode_cache_file(key, other);
                const libperm::Plan plan = plan_in_memory(a, keeping(folder.path()));
                CHECK(plan.refusal == PERM_OK);
                ++spoilt;
            }
            std::ofstream(folder / name, std::ios::binary) << libperm::encode_cache_file(key, "no order");
            CHECK(digest(a, keeping(folder.path())) == without);
            CHECK(whole_file::read(folder / name) == bytes); // replaced
            if (run::sanitized) continue;
            std::ofstream(folder / name, std::ios::binary) << bytes.substr(0, bytes.size() - 1);
            CHECK(digest(a, keeping(folder.path())) == without);
        }
    }
    CHECK(kept > 0);
    CHECK(spoilt >= (run::sanitized ? 2 : 8) * kept); // how many took long enough is the machine's
}

TEST_CASE("what was kept for one block is not used for another" * doctest::skip(run::sanitized)) {
    const std::vector<perm::Csr> all = matrices();
    const TemporaryFolder folder;
    std::vector<std::string> without;
    for (const perm::Csr &a : all) without.push_back(digest(a, keeping("")));
    for (int repeat = 0; repeat < 2; ++repeat)
        for (std::size_t k = 0; k < all.size(); ++k)
            CHECK(digest(all[k], keeping(folder.path())) == without[k]);
    perm_opts other = keeping(folder.path());
    other.seed = 5; // another search
    const std::size_t before = files_in(folder.path()).size();
    digest(all[0], other);
    CHECK(files_in(folder.path()).size() >= before);
    perm_opts other_alone = other;
    other_alone.cache_dir = "";
    CHECK(digest(all[0], other) == digest(all[0], other_alone));
}

TEST_CASE("two who search at once, and a folder that cannot be used") {
    if (run::sanitized) return run::skip("searches take seconds there");
    const perm::Csr a = matrices()[0];
    const TemporaryFolder folder;
    const std::string without = digest(a, keeping(""));
    std::vector<std::string> found(run::sanitized ? 2 : 3);
    std::vector<std::thread> threads;
    for (std::string &to : found) threads.emplace_back([&] { to = digest(a, keeping(folder.path())); });
    for (std::thread &thread : threads) thread.join();
    for (const std::string &x : found) CHECK(x == without);
    std::ofstream(folder / "file") << "no folder";
    CHECK(digest(a, keeping(folder / "file")) == without);
    fs::create_directory(folder / "of_all");
    fs::permissions(folder / "of_all", fs::perms::all);
    CHECK(digest(a, keeping(folder / "of_all")) == without);
    CHECK(files_in(folder / "of_all").empty());
}

TEST_CASE("of many orders the last used stay, and kernels do") {
    const TemporaryFolder folder;
    libperm::CacheSettings settings;
    settings.folder = folder.path();
    libperm::cache_store(settings, "kernel\n", "a kernel");
    constexpr int stored = 2100, most = 2048;
    for (int k = 0; k < stored; ++k) {
        const std::string key = "order " + std::to_string(k) + "\n";
        const std::string path = folder / libperm::cache_file_name(key);
        whole_file::write(path, libperm::encode_cache_file(key, "found"));
        fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    }
    libperm::cache_store(settings, "order " + std::to_string(stored - 1) + "\n", "found");
    int orders = 0;
    for (const auto &[name, bytes] : files_in(folder.path())) orders += libperm::is_order_file(name);
    CHECK(orders == most);
    CHECK(libperm::cache_load(settings, "kernel\n") == "a kernel");
    CHECK(libperm::cache_load(settings, "order " + std::to_string(stored - 1) + "\n") == "found");
}

TEST_CASE("who looks for an order is told whether it was there; what took too short is not kept") {
    const TemporaryFolder folder;
    const libperm::CacheSettings cache{folder.path(), 1 << 20, {}};
    const libperm::SearchName name{"rows", "frontier", 3, 9};
    int searches = 0;
    std::vector<bool> told;
    std::string found;
    const auto look = [&](double worth_keeping, double argument) {
        libperm::with_kept_order(
            {cache, worth_keeping, [&](bool was_kept) { told.push_back(was_kept); }}, name,
            libperm::SearchArguments().add(argument), [&](std::string_view bytes) { found = bytes; },
            [&] {
                ++searches;
                return found = "an order";
            });
        CHECK(found == "an order");
        found.clear();
    };
    look(1e9, 1); // seconds: nothing takes as long
    look(1e9, 1);
    CHECK(searches == 2);
    look(-1, 1);
    look(-1, 1); // was kept
    look(1e9, 1);
    CHECK(searches == 3);
    look(-1, 2);
    CHECK(searches == 4);
    CHECK(told == std::vector<bool>{false, false, false, true, true, false});
}
