// The cache of compiled kernels on disk: what was stored comes back or nothing does, whatever lies in a
// file's place.
#include "tests/support/kernel_cache.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/whole_file.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace libperm;
namespace fs = std::filesystem;

namespace {

std::string little_endian(std::uint64_t number, int bytes) {
    std::string text;
    for (; bytes > 0; --bytes, number >>= 8) text += static_cast<char>(number & 0xff);
    return text;
}

// The format as it was when version 1 was made, written a second time.
std::string file_by_hand(const std::string &key, const std::string &payload, std::uint64_t version = 1,
                         const std::string &magic = "PERMCUBN") {
    const std::string begin =
        magic + little_endian(version, 4) + little_endian(key.size(), 4) + little_endian(payload.size(), 8);
    const std::string summed = begin + key + payload;
    return begin + little_endian(XXH3_64bits(summed.data(), summed.size()), 8) + key + payload;
}

mode_t mode_of(const fs::path &file) {
    struct stat about {};
    REQUIRE(stat(file.c_str(), &about) == 0);
    return about.st_mode & 07777;
}

// Nothing is loaded, the file is gone, and the next store puts it right.
void check_replaced(const Cache &cache, const std::string &key, const std::string &payload) {
    CHECK(cache.misses(key));
    CHECK(!is_there(file_of(cache, key)));
    cache.store(key, payload);
    CHECK(cache.load(key) == payload);
}

void check_damage_is_seen(const Cache &cache, const std::string &key, const std::string &payload,
                          const std::string &damaged) {
    put(file_of(cache, key), damaged);
    check_replaced(cache, key, payload);
}

} // namespace

TEST_CASE("what was stored is loaded again, whatever bytes it has") {
    const TemporaryFolder folder;
    const Cache cache(folder.path() + "/some/parents/cache");
    const std::string zeros("a\0b\n\0", 5);
    const std::vector<std::pair<std::string, std::string>> kernels{
        {"key\n", "payload"},
        {"", "of the empty key"},
        {"of the empty payload\n", ""},
        {zeros, zeros + zeros},
        {random_bytes(20000, 2), random_bytes(1 << 20, 3)}};
    for (const auto &[key, payload] : kernels) {
        CHECK(cache.misses(key));
        cache.store(key, payload);
    }
    for (const auto &[key, payload] : kernels) {
        CHECK(cache.load(key) == payload);
        CHECK(mode_of(file_of(cache, key)) == 0600);
    }
    CHECK(cache.misses("another key\n"));
    cache.store("key\n", "another payload");
    CHECK(cache.load("key\n") == "another payload");
    CHECK(mode_of(cache.settings.folder) == 0700);
    CHECK(names_in(cache.settings.folder).size() == kernels.size());
    CHECK(cache.warnings.empty());
}

TEST_CASE("the format of a file is the one that version 1 has had") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    const std::string key = random_bytes(300, 4), payload = random_bytes(5000, 5);
    cache.store(key, payload);
    CHECK(whole_file::read(file_of(cache, key)) == file_by_hand(key, payload));
    put(file_of(cache, "key\n"), file_by_hand("key\n", "by hand"));
    CHECK(cache.load("key\n") == "by hand");
}

TEST_CASE("without a folder nothing is kept, and nobody is warned") {
    Cache cache("");
    cache.store("key\n", "payload");
    CHECK(cache.misses("key\n"));
    CHECK(cache_list("").empty());
    CHECK(cache_clear("") == 0);
    CHECK(cache.warnings.empty());
}

TEST_CASE("a folder that is not there yet is a miss without a warning, and loading does not make it") {
    const TemporaryFolder folder;
    const Cache cache(folder.path() + "/new");
    CHECK(cache.misses("key\n"));
    CHECK(!is_there(cache.settings.folder));
    CHECK(cache.warnings.empty());
}

TEST_CASE("another key's file under the name is a miss and is replaced") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    for (const std::string other : {"other\n", "key\nlonger\n", "key", ""}) {
        put(file_of(cache, "key\n"), file_by_hand(other, "of the other key"));
        CHECK(cache.misses("key\n"));
        cache.store("key\n", "payload");
        CHECK(cache.load("key\n") == "payload");
    }
}

TEST_CASE("another version of the format is a miss and is replaced, though its checksum is right") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    for (const std::uint64_t version : {0U, 2U, 0x101U, 0xffffffffU})
        check_damage_is_seen(cache, "key\n", "payload", file_by_hand("key\n", "payload", version));
    check_damage_is_seen(cache, "key\n", "payload", file_by_hand("key\n", "payload", 1, "PERMCUBX"));
}

TEST_CASE("a file that is cut off anywhere, or has grown, is a miss and is replaced") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    const std::string small = file_by_hand("key\n", "payload");
    for (std::size_t length = 0; length < small.size(); ++length)
        check_damage_is_seen(cache, "key\n", "payload", small.substr(0, length));
    check_damage_is_seen(cache, "key\n", "payload", small + '\0');

    const std::string payload = random_bytes(300000, 6), large = file_by_hand("key\n", payload);
    for (std::size_t length = 4095; length < large.size(); length += 16384)
        check_damage_is_seen(cache, "key\n", payload, large.substr(0, length));
}

TEST_CASE("a file with any byte changed is a miss and is replaced") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    const auto check = [&](const std::string &file, const std::string &payload, std::size_t at, int mask) {
        std::string damaged = file;
        damaged[at] = static_cast<char>(damaged[at] ^ mask);
        check_damage_is_seen(cache, "key\n", payload, damaged);
    };
    const std::string small = file_by_hand("key\n", "payload");
    for (std::size_t at = 0; at < small.size(); ++at)
        for (const int mask : {1, 0x80, 0xff}) check(small, "payload", at, mask);

    const std::string payload = random_bytes(300000, 7), large = file_by_hand("key\n", payload);
    for (std::size_t at = header_bytes + 5; at < large.size(); at += 14983) check(large, payload, at, 4);
}

TEST_CASE("lengths that contradict the file are a miss, though the checksum is right") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    for (const auto &[key_bytes, payload_bytes] :
         {std::pair{4ULL, 8ULL}, {4ULL, 6ULL}, {12ULL, ~0ULL}, {0xffffffffULL, 7ULL}, {11ULL, 1ULL << 63}}) {
        const std::string begin =
            "PERMCUBN" + little_endian(1, 4) + little_endian(key_bytes, 4) + little_endian(payload_bytes, 8);
        const std::string rest = "key\npayload", summed = begin + rest;
        check_damage_is_seen(cache, "key\n", "payload",
                             begin + little_endian(XXH3_64bits(summed.data(), summed.size()), 8) + rest);
    }
}

TEST_CASE("a file that others can write to is not loaded") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    for (const mode_t mode : {0666U, 0620U, 0602U}) {
        put(file_of(cache, "key\n"), file_by_hand("key\n", "not to be trusted"), mode);
        check_replaced(cache, "key\n", "payload");
    }
    put(file_of(cache, "key\n"), file_by_hand("key\n", "only read by others"), 0644);
    CHECK(cache.load("key\n") == "only read by others");
}

TEST_CASE("another user's file is not loaded, and is replaced") {
    if (geteuid() != 0) return run::skip("another user's file: only root can make one");
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    put(file_of(cache, "key\n"), file_by_hand("key\n", "not to be trusted"));
    REQUIRE(chown(file_of(cache, "key\n").c_str(), nobody, nobody) == 0);
    CHECK(cache.misses("key\n"));
    CHECK(is_there(file_of(cache, "key\n"))); // it is not ours to remove
    CHECK(cache_clear(folder.path()) == 0);
    CHECK(cache_list(folder.path()).empty());
    cache.store("key\n", "payload");
    CHECK(cache.load("key\n") == "payload");
}

TEST_CASE("a link in a file's place is not followed") {
    const TemporaryFolder folder, elsewhere;
    const Cache cache(folder.path());
    const fs::path target = fs::path(elsewhere.path()) / "good";
    put(target, file_by_hand("key\n", "not to be trusted"));
    fs::create_symlink(target, file_of(cache, "key\n"));
    check_replaced(cache, "key\n", "payload");
    fs::remove(file_of(cache, "key\n"));
    fs::create_symlink(target, file_of(cache, "key\n"));
    cache.store("key\n", "payload"); // without a load before
    CHECK(cache.load("key\n") == "payload");
    CHECK(whole_file::read(target) == file_by_hand("key\n", "not to be trusted"));
}

TEST_CASE("a pipe in a file's place holds nobody up") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    REQUIRE(mkfifo(file_of(cache, "key\n").c_str(), 0600) == 0);
    check_replaced(cache, "key\n", "payload");
}
