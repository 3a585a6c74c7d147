// Files that are written while others read and write them, and what stands in a file's place: links, devices,
// pipes, folders.
#include "lib/base/durable_file.hpp"
#include "tests/support/at_once.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

using namespace libperm;
namespace fs = std::filesystem;

namespace {

std::string contents(char c) { return std::string(100'000, c); }

bool is_whole(const std::string &bytes) {
    return bytes.size() == contents('a').size() && bytes.find_first_not_of(bytes[0]) == bytes.npos;
}

std::error_code write_error(const std::string &file) {
    try {
        write_durably(file, "new");
        return {};
    } catch (const std::system_error &error) {
        return error.code();
    }
}

bool is_unreadable(const std::string &file) {
    try {
        read_file(file);
        return false;
    } catch (const std::system_error &) {
        return true;
    }
}

int files_in(const std::string &folder) {
    return static_cast<int>(std::distance(fs::directory_iterator(folder), {}));
}

} // namespace

TEST_CASE("threads and processes that write one file and read it: always a whole one") {
    const TemporaryFolder folder;
    const std::string file = folder / "kept";
    write_durably(file, contents('z'));
    const int writes = run::sanitized ? 10 : 40;
    const pid_t other = fork(); // with the same counter of temporary names
    if (other == 0) {
        int status = 0;
        try {
            for (int k = 0; k < writes; ++k) write_durably(file, contents('y'));
        } catch (...) {
            status = 1;
        }
        _exit(status);
    }
    std::atomic<int> torn = 0;
    at_once(6, [&](std::size_t t) {
        for (int k = 0; k < writes; ++k) {
            if (t < 4) write_durably(file, contents(static_cast<char>('a' + t)));
            if (!is_whole(read_file(file))) ++torn;
        }
    });
    int status = 1;
    REQUIRE(waitpid(other, &status, 0) == other);
    CHECK(status == 0);
    CHECK(torn == 0);
    CHECK(is_whole(read_file(previous_of(file))));
    CHECK(files_in(folder.path()) == 2); // nothing else is left
}

TEST_CASE("links laid under the names of what is being written are not followed") {
    const TemporaryFolder folder;
    const std::string file = folder / "kept", victim = folder / "victim";
    std::ofstream(victim) << "precious";
    const auto lay = [&](const std::string &of) {
        for (int k = 0; k < 2000; ++k)
            fs::create_symlink(victim,
                               of + "." + std::to_string(getpid()) + "." + std::to_string(k) + ".writing");
    };
    lay(file);
    write_durably(file, "one");
    write_durably(file, "two");
    CHECK(read_file(file) == "two");
    CHECK(read_file(previous_of(file)) == "one");
    CHECK(read_file(victim) == "precious");
}

TEST_CASE("what killed processes left of writing a file goes with the next write") {
    const TemporaryFolder folder;
    const std::string file = folder / "kept";
    const pid_t killed = fork();
    if (killed == 0) _exit(0);
    REQUIRE(waitpid(killed, nullptr, 0) == killed); // its number is nobody's now
    const auto left_by = [&](const std::string &numbers) { return file + "." + numbers + ".writing"; };
    const std::string of_killed = left_by(std::to_string(killed) + ".0"),
                      of_the_same_number = left_by(std::to_string(getpid()) + ".4000000000"),
                      of_one_that_writes = left_by(std::to_string(getppid()) + ".0"),
                      others = left_by("of.mine"),
                      of_another_file = folder / "kept2." + std::to_string(killed) + ".0.writing";
    for (const std::string &name :
         {of_killed, of_the_same_number, of_one_that_writes, others, of_another_file})
        std::ofstream(name) << "begun";
    write_durably(file, "new");
    CHECK(!fs::exists(of_killed));
    CHECK(!fs::exists(of_the_same_number));
    CHECK(fs::exists(of_one_that_writes));
    CHECK(fs::exists(others));
    CHECK(fs::exists(of_another_file));
    CHECK(read_file(file) == "new");
}

TEST_CASE("a link in the file's place is replaced, and what it names stays") {
    const TemporaryFolder folder;
    const std::string file = folder / "kept", target = folder / "target";
    std::ofstream(target) << "old";
    fs::create_symlink(target, file);
    CHECK(read_file(file) == "old");
    write_durably(file, "new");
    CHECK(fs::is_regular_file(fs::symlink_status(file)));
    CHECK(read_file(file) == "new");
    CHECK(read_file(target) == "old");
    CHECK(read_file(previous_of(file)) == "old");
    fs::remove(file);
    fs::create_symlink(folder / "nothing", file); // one that leads nowhere
    write_durably(file, "newer");
    CHECK(read_file(file) == "newer");
    CHECK(!fs::exists(folder / "nothing"));
}

TEST_CASE("devices, pipes and folders are neither read nor replaced") {
    const TemporaryFolder folder;
    for (const std::string device : {"/dev/zero", "/dev/full", "/dev/null"}) {
        CAPTURE(device);
        const std::string file = folder / "device"; // by a link: root might do away with the device itself
        fs::create_symlink(device, file);
        CHECK(is_unreadable(file));
        CHECK(write_error(file).message().find("no plain file") != std::string::npos);
        CHECK(fs::is_symlink(file));
        CHECK(files_in(folder.path()) == 1);
        fs::remove(file);
    }
    const std::string pipe = folder / "pipe", inner = folder / "folder";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(is_unreadable(pipe)); // and nobody waits for a writer
    CHECK(write_error(pipe));
    CHECK(fs::is_fifo(pipe));
    fs::create_directory(inner);
    CHECK(is_unreadable(inner));
    CHECK(write_error(inner) == std::errc::is_a_directory);
    CHECK(is_unreadable(folder / "nothing"));
    CHECK(write_error(folder / "none/kept") == std::errc::no_such_file_or_directory);
    CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("where the one before cannot be kept, the file stays as it was") {
    const TemporaryFolder folder;
    const std::string file = folder / "kept";
    write_durably(file, "old");
    fs::create_directory(previous_of(file));
    CHECK(write_error(file));
    CHECK(read_file(file) == "old");
    CHECK(files_in(folder.path()) == 2);
    write_durably(file, "new", true); // a torn one is not to be kept
    CHECK(read_file(file) == "new");
}

TEST_CASE("a folder for reading only: an error, and the file stays") {
    const TemporaryFolder folder;
    const std::string file = folder / "kept";
    write_durably(file, "old");
    REQUIRE(chmod(folder.path().c_str(), 0555) == 0);
    const pid_t child = fork();
    if (child == 0) {
        constexpr uid_t nobody = 65534;
        if (geteuid() == 0 && seteuid(nobody) != 0) _exit(2);
        _exit(write_error(file) == std::errc::permission_denied ? 0 : 1);
    }
    int status = 1;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(chmod(folder.path().c_str(), 0700) == 0);
    CHECK(status == 0);
    CHECK(read_file(file) == "old");
    CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("which files are to be removed") {
    const TemporaryFolder folder;
    const std::string file = folder / "kept";
    write_durably(file, "one");
    CHECK(those_kept(file) == "this one");
    write_durably(file, "two");
    CHECK(those_kept(file) == "this one and " + file + ".previous");
}
