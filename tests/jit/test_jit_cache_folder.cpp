// The folder of the cache of compiled kernels: whoever it belongs to, however full it is, and whoever else
// works in it; what goes from it, and where it lies.
#include "tests/support/kernel_cache.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <random>
#include <sched.h>
#include <set>
#include <string>
#include <string_view>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace libperm;
namespace fs = std::filesystem;

namespace {

// Parts of a test in processes of their own: what they change of themselves (user, limits, environment,
// mounts) does not last. What `part` says is wrong, of each of the processes, which run at once; "" for
// nothing.
std::vector<std::string> problems_of(int processes, const std::function<std::string(int)> &part) {
    std::vector<std::string> texts;
    std::vector<int> pipes;
    std::vector<pid_t> ids;
    for (int i = 0; i < processes; ++i) {
        int ends[2];
        if (pipe(ends) != 0) return {"no pipe"};
        ids.push_back(fork());
        if (ids.back() == 0) {
            std::string text;
            try {
                text = part(i);
            } catch (const std::exception &error) {
                text = std::string("thrown: ") + error.what();
            } catch (...) {
                text = "something was thrown";
            }
            _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 99);
        }
        close(ends[1]);
        pipes.push_back(ends[0]);
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
        std::string text;
        char buffer[1000];
        for (ssize_t got = 0; (got = read(pipes[i], buffer, sizeof buffer)) > 0;)
            text.append(buffer, static_cast<std::size_t>(got));
        close(pipes[i]);
        int status = 0;
        if (waitpid(ids[i], &status, 0) != ids[i] || status != 0)
            text += " (the process ended with status " + std::to_string(status) + ")";
        texts.push_back(text);
    }
    return texts;
}

std::string problem_of(const std::function<std::string()> &part) {
    return problems_of(1, [&](int) { return part(); })[0];
}

void set_used(const fs::path &file, std::int64_t seconds_ago) {
    const timespec when{time(nullptr) - seconds_ago, 0};
    const timespec times[2] = {when, when};
    REQUIRE(utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
}

std::int64_t used_seconds_ago(const fs::path &file) {
    struct stat about {};
    REQUIRE(stat(file.c_str(), &about) == 0);
    return time(nullptr) - about.st_mtim.tv_sec;
}

void check_useless(const std::string &folder, const std::string &part_of_warning) {
    CAPTURE(folder);
    Cache cache(folder);
    cache.store("key\n", "payload");
    CHECK(cache.misses("key\n"));
    cache.store("key\n", "payload");
    REQUIRE(cache.warnings.size() == 1);
    CHECK(cache.warnings[0].find(folder) != std::string::npos);
    CHECK(cache.warnings[0].find("PERM_CACHE_DIR") != std::string::npos);
    CHECK(cache.warnings[0].find(part_of_warning) != std::string::npos);
}

// Of a folder with a small file in it where there is no more room.
std::string full_disk_problem(const std::string &folder, std::size_t too_much) {
    Cache cache(folder);
    cache.store("small\n", "payload");
    if (!cache.warnings.empty()) return "the small file: " + cache.warnings[0];
    for (int i = 0; i < 2; ++i) cache.store("large\n", random_bytes(too_much, 1));
    if (cache.warnings.size() != 1) return std::to_string(cache.warnings.size()) + " warnings";
    if (!cache.misses("large\n")) return "the large file was loaded";
    if (cache.load("small\n") != "payload") return "the small file was lost";
    if (names_in(folder) != std::set{hash_of("small\n") + ".cubin"})
        return "more than the small file lies there";
    return "";
}

void check_variables(const char *own, const char *xdg, const char *home, const std::string &folder) {
    const auto set = [](const char *name, const char *value) {
        return value != nullptr ? setenv(name, value, 1) : unsetenv(name);
    };
    CHECK(problem_of([&] {
              set("PERM_CACHE_DIR", own);
              set("XDG_CACHE_HOME", xdg);
              set("HOME", home);
              const std::string found = default_cache_folder();
              return found == folder ? "" : "found '" + found + "' instead of '" + folder + "'";
          }) == "");
}

} // namespace

TEST_CASE("a folder in a file's place stays, and leaves no temporary file") {
    const TemporaryFolder folder;
    Cache cache(folder.path());
    fs::create_directory(file_of(cache, "key\n"));
    CHECK(cache.misses("key\n"));
    cache.store("key\n", "payload");
    CHECK(cache.misses("key\n"));
    CHECK(names_in(folder.path()) == std::set{hash_of("key\n") + ".cubin"});
    CHECK(cache.warnings.size() == 1);
    CHECK(cache_clear(folder.path()) == 0);
    cache.store("another\n", "payload");
    CHECK(cache.load("another\n") == "payload");
}

TEST_CASE("a folder that cannot be made or opened is warned of once") {
    const TemporaryFolder folder;
    put(folder.path() + "/file", "");
    check_useless(folder.path() + "/file", "Not a directory");
    check_useless(folder.path() + "/file/below", "Not a directory");
    check_useless("/proc/libperm/cache", "No such file");
    fs::create_symlink(folder.path() + "/nothing", folder.path() + "/link");
    check_useless(folder.path() + "/link", "cannot be opened");
}

TEST_CASE("a folder that others can write to is not used") {
    const TemporaryFolder folder;
    for (const mode_t mode : {0770U, 0702U, 0777U | S_ISVTX}) {
        const std::string path = folder.path() + "/" + std::to_string(mode);
        REQUIRE(Cache(path).misses("key\n"));
        Cache(path).store("key\n", "payload");
        REQUIRE(Cache(path).load("key\n") == "payload");
        REQUIRE(chmod(path.c_str(), mode) == 0);
        check_useless(path, "other users can write to it");
        CHECK(cache_list(path).empty());
    }
}

TEST_CASE("another user's folder is not used") {
    if (geteuid() != 0) return run::skip("another user's folder: only root can make one");
    const TemporaryFolder folder;
    REQUIRE(chown(folder.path().c_str(), nobody, nobody) == 0);
    check_useless(folder.path(), "another user");
    CHECK(names_in(folder.path()).empty());
}

TEST_CASE("a folder that cannot be written is read, and warned of once") {
    const TemporaryFolder folder;
    Cache(folder.path()).store("key\n", "payload");
    if (geteuid() == 0)
        for (const std::string &path : {folder.path(), file_of(Cache(folder.path()), "key\n").string()})
            REQUIRE(chown(path.c_str(), nobody, nobody) == 0);
    REQUIRE(chmod(folder.path().c_str(), 0500) == 0);
    CHECK(problem_of([&]() -> std::string {
              if (geteuid() == 0 && seteuid(nobody) != 0) return "cannot be another user than root";
              Cache cache(folder.path());
              if (cache.load("key\n") != "payload" || !cache.warnings.empty()) return "it is not read";
              for (int i = 0; i < 3; ++i) cache.store("another\n", "payload");
              if (!cache.misses("another\n")) return "it was written";
              return cache.warnings.size() == 1 ? "" : std::to_string(cache.warnings.size()) + " warnings";
          }) == "");
    REQUIRE(chmod(folder.path().c_str(), 0700) == 0);
}

TEST_CASE("a file system that is full leaves nothing half written") {
    if (geteuid() != 0) return run::skip("a full file system: only root can mount one");
    const TemporaryFolder folder;
    const std::string problem = problem_of([&]() -> std::string {
        if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount("none", folder.path().c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0)
            return "cannot mount";
        return full_disk_problem(folder.path(), 100000);
    });
    if (problem == "cannot mount") return run::skip("a full file system: mounting is forbidden here");
    CHECK(problem == "");
}

TEST_CASE("a limit on the size of files leaves nothing half written") {
    const TemporaryFolder folder;
    CHECK(problem_of([&]() -> std::string {
              const rlimit limit{65536, 65536};
              if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit) != 0)
                  return "no limit";
              return full_disk_problem(folder.path(), 100000);
          }) == "");
}

TEST_CASE("the warning comes once for each folder, and stores without a warning are silent") {
    const TemporaryFolder folder;
    put(folder.path() + "/file", "");
    Cache one(folder.path() + "/file/one"), two(folder.path() + "/file/two"),
        silent(folder.path() + "/file/one");
    silent.settings.warn = nullptr;
    silent.store("key\n", "payload");
    for (int i = 0; i < 3; ++i)
        for (const Cache *cache : {&one, &two}) {
            cache->store("key\n", "payload");
            CHECK(cache->misses("key\n"));
        }
    CHECK(one.warnings.size() == 1);
    CHECK(two.warnings.size() == 1);
    Cache throwing(folder.path() + "/file/three");
    throwing.settings.warn = [](std::string_view) { throw 1; };
    throwing.store("key\n", "payload");
    CHECK(throwing.misses("key\n"));
}

TEST_CASE("32 processes on one cold folder load what is right or nothing") {
    constexpr int processes = 32, keys = 12;
    const auto key_of = [](int k) { return "kernel " + std::to_string(k) + "\n"; };
    const auto payload_of = [](int k) {
        return random_bytes(static_cast<std::size_t>(20000 + 3000 * k), 100 + k);
    };
    std::vector<std::string> payloads;
    for (int k = 0; k < keys; ++k) payloads.push_back(payload_of(k));

    for (const bool pruned : {false, true}) {
        CAPTURE(pruned);
        const TemporaryFolder folder;
        const Cache cache(folder.path() + "/cold");
        const auto problems = problems_of(processes, [&](int process) -> std::string {
            Cache own(cache.settings.folder);
            if (pruned) own.settings.limit_bytes = 100000;
            std::mt19937_64 random(run::seed(static_cast<std::uint64_t>(process)));
            for (int round = 0; round < 100; ++round) {
                const auto k = static_cast<int>(random() % keys);
                const auto found = own.load(key_of(k));
                if (found && *found != payloads[static_cast<std::size_t>(k)]) return "wrong bytes";
                if (!found || random() % 4 == 0) own.store(key_of(k), payloads[static_cast<std::size_t>(k)]);
                if (!own.warnings.empty()) return own.warnings[0];
            }
            return "";
        });
        CHECK(problems == std::vector<std::string>(processes));
        std::set<std::string> all;
        for (int k = 0; k < keys; ++k) all.insert(hash_of(key_of(k)) + ".cubin");
        const std::set<std::string> names = names_in(cache.settings.folder);
        CHECK(std::includes(all.begin(), all.end(), names.begin(), names.end())); // no temporary files
        if (!pruned) CHECK(names == all);
    }
}

TEST_CASE("beyond the limit the least recently used go, but not what was just stored") {
    const TemporaryFolder folder;
    Cache cache(folder.path());
    const auto bytes = static_cast<std::int64_t>(header_bytes + 2 + 1000); // of a file
    cache.settings.limit_bytes = 5 * bytes;
    const std::string payload(1000, 'x');
    for (int i = 0; i < 5; ++i) {
        cache.store(std::to_string(i) + '\n', payload);
        set_used(file_of(cache, std::to_string(i) + '\n'), 1000 - 100 * i);
    }
    CHECK(names_in(folder.path()).size() == 5);
    CHECK(cache.load("0\n") == payload); // now the last used
    cache.store("5\n", payload);
    CHECK(names_in(folder.path()).size() == 5);
    CHECK(cache.misses("1\n"));
    for (const char *key : {"0\n", "2\n", "3\n", "4\n", "5\n"}) CHECK(is_there(file_of(cache, key)));

    set_used(file_of(cache, "5\n"), 5000); // stored again it is not the oldest any more
    cache.store("5\n", std::string(1000 + static_cast<std::size_t>(2 * bytes), 'y'));
    CHECK(is_there(file_of(cache, "5\n")));
    CHECK(names_in(folder.path()) ==
          std::set{hash_of("0\n") + ".cubin", hash_of("4\n") + ".cubin", hash_of("5\n") + ".cubin"});

    cache.store("6\n", std::string(static_cast<std::size_t>(5 * bytes), 'z')); // more than all
    CHECK(!is_there(file_of(cache, "6\n")));
    CHECK(names_in(folder.path()).size() == 3);
    cache.settings.limit_bytes = bytes;
    cache.store("7\n", payload);
    CHECK(names_in(folder.path()) == std::set{hash_of("7\n") + ".cubin"});
    cache.settings.limit_bytes = 0;
    cache.store("8\n", payload);
    CHECK(cache.misses("8\n"));
}

TEST_CASE("a stored file from the future does not push out the one just stored") {
    const TemporaryFolder folder;
    Cache cache(folder.path());
    cache.settings.limit_bytes = 1500;
    cache.store("0\n", std::string(1000, 'x'));
    set_used(file_of(cache, "0\n"), -100000);
    cache.store("1\n", std::string(1000, 'x'));
    CHECK(names_in(folder.path()) == std::set{hash_of("1\n") + ".cubin"});
}

TEST_CASE("a hit counts as a use, but is not written down every time") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    cache.store("key\n", "payload");
    set_used(file_of(cache, "key\n"), 30);
    CHECK(cache.load("key\n") == "payload");
    CHECK(used_seconds_ago(file_of(cache, "key\n")) >= 30);
    set_used(file_of(cache, "key\n"), 100);
    CHECK(cache.load("key\n") == "payload");
    CHECK(used_seconds_ago(file_of(cache, "key\n")) < 30);
    set_used(file_of(cache, "key\n"), 100);
    CHECK(cache.misses("another key\n"));
    CHECK(used_seconds_ago(file_of(cache, "key\n")) >= 100);
}

TEST_CASE("temporary files go when they are an hour old, others' files never") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    const fs::path in = folder.path();
    const std::string temporary = hash_of("key\n") + ".cubin.host.123.0.ff",
                      kernel = hash_of("key\n") + ".cubin";
    put(in / (temporary + "1.tmp"), "old");
    put(in / (temporary + "2.tmp"), "young");
    put(in / "notes.tmp", "not ours");
    set_used(in / (temporary + "1.tmp"), 3700);
    set_used(in / (temporary + "2.tmp"), 3500);
    set_used(in / "notes.tmp", 100000);
    cache.store("key\n", "payload");
    CHECK(names_in(in) == std::set<std::string>{temporary + "2.tmp", "notes.tmp", kernel});
}

TEST_CASE("the list has the last used first, and nothing that would not be loaded") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    CHECK(cache_list(folder.path()).empty());
    for (const char *key : {"a\n", "b\n", "c\n", "damaged\n"}) cache.store(key, key + std::string(10, 'x'));
    put(file_of(cache, "damaged\n"), std::string(100, 'x'));
    put(folder.path() + "/notes", "not ours");
    set_used(file_of(cache, "a\n"), 200);
    set_used(file_of(cache, "b\n"), 100);
    set_used(file_of(cache, "c\n"), 300);
    const auto entries = cache_list(folder.path());
    REQUIRE(entries.size() == 3);
    const char *const keys[] = {"b\n", "a\n", "c\n"};
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(entries[i].key == keys[i]);
        CHECK(entries[i].file == hash_of(keys[i]) + ".cubin");
        CHECK(entries[i].bytes == static_cast<std::int64_t>(header_bytes) + 2 + 12);
    }
    CHECK(std::abs(time(nullptr) - 100 - entries[0].used_unix) <= 2);
}

TEST_CASE("clearing removes the cache's files and leaves others'") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    const std::string hash = hash_of("key\n");
    std::string upper = hash;
    std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) { return c >= 'a' ? c - 32 : c; });
    upper[0] = 'A';
    const std::set<std::string> others{"notes.txt",         "short.cubin",    hash,
                                       hash + ".cubin.bak", ".cubin",         "x.tmp",
                                       hash + ".tmp",       upper + ".cubin", hash + "0.cubin"};
    for (const std::string &name : others) put(fs::path(folder.path()) / name, "not ours");
    cache.store("key\n", "payload");
    cache.store("another\n", "payload");
    put(fs::path(folder.path()) / (hash + ".cubin.host.1.2.3.tmp"), "left behind");
    CHECK(cache_clear(folder.path()) == 3);
    CHECK(names_in(folder.path()) == others);
    CHECK(cache.misses("key\n"));
    CHECK(cache_clear(folder.path()) == 0);
    CHECK(cache_clear(folder.path() + "/nothing") == 0);
}

TEST_CASE("the folder comes from the environment, the most special variable first") {
    check_variables("/own", "/xdg", "/home/me", "/own");
    check_variables("", "/xdg", "/home/me", ""); // keeps nothing
    check_variables(nullptr, "/xdg", "/home/me", "/xdg/libperm");
    check_variables(nullptr, "relative", "/home/me", "/home/me/.cache/libperm");
    check_variables(nullptr, "", "/home/me", "/home/me/.cache/libperm");
    check_variables(nullptr, nullptr, "/home/me", "/home/me/.cache/libperm");
    if (geteuid() != 0) return run::skip("no HOME: the home of root only");
    for (const char *home : {static_cast<const char *>(nullptr), "", "relative"})
        check_variables(nullptr, nullptr, home, "/root/.cache/libperm");
}
