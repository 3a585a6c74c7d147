// Computations that are killed, cancelled or stopped and gone on with from their checkpoint: the bits of an
// undisturbed one; and files that are torn, foreign, or cannot be written.
#include "bench/families.hpp"
#include "tests/support/check.hpp"
#include "tests/support/checkpointed.hpp"
#include "tests/support/run.hpp"
#include "tests/support/sealed_bytes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/whole_file.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

using namespace perm::families;
using whole_file::read;
using whole_file::write;
using namespace sealed_bytes;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

std::string previous_of(const std::string &file) { return file + ".previous"; }
bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

// tests/support/checkpointed.cpp under way. It must be waited for.
class Child {
  public:
    Child(const TemporaryFolder &folder, std::vector<std::string> arguments)
        : out_(folder / "stdout"), err_(folder / "stderr") {
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, 1, out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        posix_spawn_file_actions_addopen(&files, 2, err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        const std::string path = PERM_CHECKPOINTED_PATH;
        std::vector<char *> argv{const_cast<char *>(path.c_str())};
        for (std::string &argument : arguments) argv.push_back(argument.data());
        argv.push_back(nullptr);
        const int error = posix_spawn(&pid_, path.c_str(), &files, nullptr, argv.data(), environ);
        posix_spawn_file_actions_destroy(&files);
        REQUIRE(error == 0);
    }
    bool ended() {
        if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
        if (!ended_ && std::chrono::steady_clock::now() > begun_ + longest) fail_stuck();
        return ended_;
    }
    // Its exit code, or minus the signal that killed it.
    int wait() {
        while (!ended()) std::this_thread::sleep_for(1ms);
        return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
    }
    void kill() { ::kill(pid_, SIGKILL); }
    std::string out() const { return read(out_); }
    std::string err() const { return read(err_); }

  private:
    static constexpr std::chrono::seconds longest{300}; // a hundred times what any takes

    void fail_stuck() {
        const std::string at = "/proc/" + std::to_string(pid_) + "/";
        std::string state = read(at + "status");
        for (const auto &task : fs::directory_iterator(at + "task"))
            state += task.path().filename().string() + " waits in " + read(task.path() / "wchan") + "\n";
        kill();
        FAIL("process " << pid_ << " does not end:\n" << state << err());
    }

    const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    std::string out_, err_;
    pid_t pid_ = -1;
    int status_ = 0;
    bool ended_ = false;
};

std::string undisturbed(const TemporaryFolder &folder, const std::string &name, std::uint64_t seed) {
    Child child(folder, {name, std::to_string(seed), "0", ""});
    REQUIRE(child.wait() == 0);
    return child.out();
}

nlohmann::json described(const std::string &file) {
    return nlohmann::json::parse(perm::checkpoint_describe(file, PERM_FORMAT_JSON));
}

// Which of the files written one after the other it is.
std::pair<ino_t, std::int64_t> stamp(const std::string &file) {
    struct stat s {};
    if (stat(file.c_str(), &s) != 0) return {};
    return {s.st_ino, s.st_mtim.tv_sec * 1000000000 + s.st_mtim.tv_nsec};
}

// Killed some moments after some writes of the checkpoint, again and again.
void check_killed(const std::string &name, int kills, Random &random) {
    CAPTURE(name);
    const MemoryFolder folder;
    const std::string file = folder / "kept", seed = std::to_string(random.integer(1, 1000000));
    const std::string truth = undisturbed(folder, name, std::stoull(seed));
    REQUIRE(truth.size() > 50);
    const std::vector<std::string> arguments{name, seed, std::to_string(checkpoint_seconds), file};
    double fraction = 0;
    int finished = 0;
    for (int killed = 0; killed < kills && finished < 10;) {
        Child child(folder, arguments);
        auto written = stamp(file);
        for (std::int64_t writes = random.integer(0, 3); writes > 0 && !child.ended();) {
            std::this_thread::sleep_for(1ms);
            if (stamp(file) == written) continue;
            written = stamp(file);
            --writes;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(random.integer(0, 12000)));
        if (!child.ended()) child.kill();
        const int code = child.wait();
        if (code != -SIGKILL) { // it was faster; begun anew
            CHECK(code == 0);
            CHECK(child.out() == truth);
            CHECK(described(file).at("finished") == true);
            fs::remove(file);
            fs::remove(previous_of(file));
            fraction = 0;
            ++finished;
            continue;
        }
        ++killed;
        if (!fs::exists(file) && !fs::exists(previous_of(file))) continue;
        const double now = described(file).at("fraction");
        if (name == "ryser" || name == "tree" || name == "complex")
            CHECK(now >= fraction); // of one sum of like pieces
        fraction = now;
    }
    Child last(folder, arguments);
    CHECK(last.wait() == 0);
    CHECK(last.out() == truth);
    CHECK(!fs::exists(file + ".writing"));
}

struct Callbacks {
    int polls = 0, until = 1 << 30; // then it is cancelled
    std::vector<double> fractions = {};

    static int cancel(void *user) {
        auto &self = *static_cast<Callbacks *>(user);
        return ++self.polls > self.until;
    }
    static void progress(double fraction, double, void *user) {
        static_cast<Callbacks *>(user)->fractions.push_back(fraction);
    }
};

perm_opts with(perm_opts opts, Callbacks &callbacks) {
    opts.cancel = Callbacks::cancel;
    opts.progress = Callbacks::progress;
    opts.cancel_user = opts.progress_user = &callbacks;
    return opts;
}

perm_opts with(perm_opts opts, const std::string &file) {
    opts.checkpoint = file.c_str();
    opts.checkpoint_seconds = checkpoint_seconds;
    return opts;
}

perm_status compute(const perm_csr &a, const perm_opts &opts, perm::Result *result = nullptr) {
    perm::Result unwanted;
    return perm_compute(&a, &opts, (result ? *result : unwanted).raw());
}

// A sum that takes one thread of this machine five callbacks or more: they come every 100 ms.
const std::string &slow_name() {
    static const std::string name = [] {
        for (int n = 22;; ++n) {
            const std::string candidate = "ryser " + std::to_string(n);
            LargeCase c = checkpointed_case(candidate, 1);
            c.opts.threads = 1;
            perm::Result result = perm::compute(c.csr, c.opts);
            if (result->seconds_run >= 0.5) return candidate;
        }
    }();
    return name;
}
LargeCase slow_case(std::uint64_t seed) {
    LargeCase c = checkpointed_case(slow_name(), seed);
    c.opts.threads = 1;
    return c;
}
LargeCase some_case() { return slow_case(run::seed(9400)); }

// Stopped on its way, with a file and one before it.
void begin(const LargeCase &c, const std::string &file) {
    perm_opts opts = with(c.opts, file);
    const std::string previous = previous_of(file);
    opts.cancel = [](void *path) -> int { return fs::exists(*static_cast<const std::string *>(path)); };
    opts.cancel_user = const_cast<std::string *>(&previous);
    REQUIRE(compute(c.csr, opts) == PERM_CANCELLED);
    REQUIRE(fs::exists(file));
    REQUIRE(fs::exists(previous));
}

std::string torn(std::string bytes, Random &random) {
    if (random.chance(0.5))
        return bytes.substr(0, static_cast<std::size_t>(random.integer(0, std::ssize(bytes) - 1)));
    for (std::int64_t k = random.integer(1, 5); k > 0; --k) {
        char &c = bytes[static_cast<std::size_t>(random.integer(0, std::ssize(bytes) - 1))];
        c = static_cast<char>(c ^ 1 << random.integer(0, 7));
    }
    return bytes;
}

} // namespace

// ---------------------------------------------------------------- killed

TEST_CASE("killed 20 times, and gone on with each time") {
    Random random(run::seed(9401));
    check_killed("ryser", run::sanitized ? 4 : 20, random);
}

TEST_CASE("killed in every engine, among blocks, and in a second run") {
    Random random(run::seed(9402));
    // With a sanitizer those whose pieces or runs differ most.
    const std::vector<const char *> names =
        run::sanitized ? std::vector<const char *>{"exact", "slices", "second run", "gradient"}
                       : std::vector<const char *>{"tree",    "exact",    "mpfr",       "mpfr slices",
                                                   "complex", "slices",   "second run", "second run of ryser",
                                                   "blocks",  "gradient", "minors"};
    for (const char *name : names) check_killed(name, 1, random);
}

// ---------------------------------------------------------------- stopped

TEST_CASE("cancelled again and again, with other thread counts; progress never falls") {
    for (const char *name : {"ryser", "blocks", "slices"}) {
        CAPTURE(std::string(name));
        const MemoryFolder folder;
        const std::string file = folder / "kept";
        const LargeCase c = checkpointed_case(name, run::seed(9403));
        perm::Result truth = perm::compute(c.csr, c.opts), result;
        perm_status status = PERM_CANCELLED;
        int cancelled = 0;
        for (; cancelled < 200 && status == PERM_CANCELLED; ++cancelled) {
            // So that planning ends, however slow it is.
            Callbacks callbacks{0, run::sanitized ? 4 * cancelled : cancelled / 4};
            perm_opts opts = with(with(c.opts, file), callbacks);
            opts.threads = 1 + cancelled % 2;
            status = compute(c.csr, opts, &result);
            CHECK(std::is_sorted(callbacks.fractions.begin(), callbacks.fractions.end()));
            if (status != PERM_CANCELLED) break;
            if (!fs::exists(file)) continue; // nothing is done yet
            CHECK(contains(perm_last_error(), file));
            CHECK(described(file).at("finished") == false);
        }
        REQUIRE(status == PERM_OK);
        CHECK(cancelled > 0);
        check_same_answer(*truth.raw(), *result.raw());
        CHECK(described(file).at("finished") == true);
        CHECK(compute(c.csr, with(c.opts, file), &result) == PERM_OK); // once more, at once
        check_same_answer(*truth.raw(), *result.raw());
    }
}

TEST_CASE("the time limit, and gone on; a plan that would be refused is not") {
    const MemoryFolder folder;
    const std::string file = folder / "kept";
    const LargeCase c = some_case();
    perm::Result truth = perm::compute(c.csr, c.opts), result;
    perm_opts opts = with(c.opts, file);
    opts.threads = 1;
    opts.time_limit_seconds = 0.02;
    perm_status status = PERM_REFUSED_TIME;
    int stopped = 0;
    for (; stopped < 200 && status == PERM_REFUSED_TIME; ++stopped) {
        status = compute(c.csr, opts, &result);
        opts.time_limit_seconds *= 1.1; // until it is enough for the plan and a piece
        if (status == PERM_REFUSED_TIME && fs::exists(file)) CHECK(contains(perm_last_error(), file));
    }
    REQUIRE(status == PERM_OK);
    CHECK(stopped > 1);
    check_same_answer(*truth.raw(), *result.raw());

    const LargeCase years = large_case(erdos_renyi(60, 1, Entries::real, 1));
    const perm::Plan plan(years.csr, with(in_precision("ryser", "double"), folder / "years"));
    CHECK(nlohmann::json::parse(plan.explain(PERM_FORMAT_JSON)).at("refused") == false);
}

TEST_CASE("plans: made from the checkpoint, and executed") {
    const MemoryFolder folder;
    const std::string file = folder / "kept";
    const LargeCase c = some_case();
    perm::Result truth = perm::Plan(c.csr, c.opts).execute(c.csr.values);
    {
        Callbacks callbacks{0, 3}; // polls of the plan among them
        const perm::Plan plan(c.csr, with(with(c.opts, file), callbacks));
        perm::Result result;
        CHECK_THROWS_AS(plan.execute(c.csr.values), perm::Error);
    }
    const perm::Plan plan(c.csr, with(c.opts, file));
    for (int again = 0; again < 2; ++again) {
        perm::Result result = plan.execute(c.csr.values);
        check_same_answer(*truth.raw(), *result.raw());
    }
    std::vector<double> others(static_cast<std::size_t>(c.csr.nnz), 0.5);
    CHECK_THROWS_WITH_AS(plan.execute(others.data()), doctest::Contains("other values"), perm::Error);
}

TEST_CASE("a second run is gone on with where the machine has other threads and memory") {
    const MemoryFolder folder;
    const std::string file = folder / "kept";
    LargeCase c = large_case(erdos_renyi(run::sanitized ? 17 : 19, 1, Entries::real, run::seed(9404)));
    c.opts = in_precision("frontier", "auto");
    c.opts.tolerance = 1e-30;
    perm::Result truth = perm::compute(c.csr, c.opts), result;
    perm_status status = PERM_CANCELLED;
    for (int k = 0; k < 200 && status == PERM_CANCELLED; ++k) {
        Callbacks callbacks{0, run::sanitized ? 1 + k : 1 + k / 10};
        perm_opts opts = with(with(c.opts, file), callbacks);
        opts.threads = 1 + k % 2;
        if (k % 3 > 0) opts.memory_limit_bytes = (k % 3) << 24;
        status = compute(c.csr, opts, &result);
    }
    REQUIRE(status == PERM_OK);
    CHECK(result->re == truth->re);
    CHECK(result.text() == truth.text());
}

// ---------------------------------------------------------------- torn and foreign

TEST_CASE("a torn file falls back to the one before, which stays until there is another") {
    Random random(run::seed(9405));
    const LargeCase c = some_case();
    perm::Result truth = perm::compute(c.csr, c.opts), result;
    perm_set_log_level(0);
    for (int i = 0; i < (run::sanitized ? 2 : 4); ++i) {
        const MemoryFolder folder;
        const std::string file = folder / "kept";
        begin(c, file);
        const std::string sound = read(previous_of(file));
        if (i == 0)
            fs::remove(file); // between the two renamings
        else
            write(file, torn(read(file), random));
        Callbacks callbacks{0, 0};
        perm_opts opts = with(with(c.opts, file), callbacks);
        opts.checkpoint_seconds = 1000;
        CHECK(compute(c.csr, opts) == PERM_CANCELLED); // written once
        CHECK(read(previous_of(file)) == sound);
        CHECK(compute(c.csr, with(c.opts, file), &result) == PERM_OK);
        check_same_answer(*truth.raw(), *result.raw());
    }
    perm_set_log_level(2);
}

TEST_CASE("both torn: it says so, and leaves them as they are") {
    Random random(run::seed(9406));
    const LargeCase c = some_case();
    const MemoryFolder folder;
    const std::string file = folder / "kept";
    begin(c, file);
    const std::string sound = read(file);
    for (int i = 0; i < 20; ++i) {
        const std::string one = sound.substr(0, sound.size() - 1 - static_cast<std::size_t>(i)),
                          other = torn(sound.substr(0, sound.size() / 2), random);
        write(file, one);
        write(previous_of(file), other);
        CHECK(compute(c.csr, with(c.opts, file)) == PERM_BAD_OPTION);
        CHECK(contains(perm_last_error(), file));
        CHECK(contains(perm_last_error(), "name another file"));
        CHECK(read(file) == one);
        CHECK(read(previous_of(file)) == other);
    }
    write(file, "");
    fs::remove(previous_of(file));
    CHECK(compute(c.csr, with(c.opts, file)) == PERM_BAD_OPTION);
    fs::remove(file);
    fs::create_directory(file);
    CHECK(compute(c.csr, with(c.opts, file)) == PERM_BAD_OPTION);
}

TEST_CASE("of a rectangular matrix, and of one with weights of unmatched lines: gone on from, too") {
    const std::vector<double> weights(7, 0.5);
    for (const std::int64_t n_cols : {7, 9}) {
        CAPTURE(n_cols);
        const perm::Csr a = build(
            7, n_cols, [](std::int64_t i, std::int64_t j) { return 1.0 + static_cast<double>((i * j) % 5); });
        perm_csr view = a.view();
        if (n_cols == 7) view.row_unmatched = weights.data();
        const MemoryFolder folder;
        const std::string file = folder / "kept";
        perm_opts opts = PERM_OPTS_INIT;
        opts.engine = "frontier";
        opts.precision = "exact";
        const std::string whole = perm::compute(view, opts).text();
        opts.checkpoint = file.c_str();
        for (int call = 0; call < 2; ++call) CHECK(perm::compute(view, opts).text() == whole);
    }
}

TEST_CASE("another matrix, other values, other options, another version") {
    const MemoryFolder folder;
    const std::string file = folder / "kept";
    LargeCase c = some_case();
    begin(c, file);
    const std::string bytes = read(file);
    const auto check_refused = [&](const perm_csr &a, const perm_opts &opts, perm_status status,
                                   const char *word) {
        CAPTURE(std::string(word));
        CHECK(compute(a, with(opts, file)) == status);
        CHECK(contains(perm_last_error(), word));
    };
    const LargeCase other = large_case(erdos_renyi(c.csr.n_rows, 0.9, Entries::real, 3)),
                    values = large_case(erdos_renyi(c.csr.n_rows, 1, Entries::real, 3)),
                    smaller = large_case(erdos_renyi(3, 1, Entries::real, 3));
    check_refused(other.csr, c.opts, PERM_BAD_OPTION, "another matrix");
    check_refused(smaller.csr, c.opts, PERM_BAD_OPTION, "another matrix");
    check_refused(values.csr, c.opts, PERM_BAD_OPTION, "other values");
    check_refused(c.csr, in_precision("tree", "double"), PERM_BAD_OPTION, "engine");
    check_refused(c.csr, in_precision("ryser", "dd"), PERM_BAD_OPTION, "precision");
    perm_opts seeded = c.opts;
    seeded.seed = 5;
    check_refused(c.csr, seeded, PERM_BAD_OPTION, "seed");
    CHECK(read(file) == bytes);
    std::string version = bytes;
    version[version_at] = '9';
    write(file, version);
    fs::remove(previous_of(file));
    check_refused(c.csr, c.opts, PERM_UNSUPPORTED, "libperm 9");
    write(file, perm::Plan(c.csr, c.opts).save());
    check_refused(c.csr, c.opts, PERM_BAD_OPTION, "not the checkpoint");
    perm_opts negative = c.opts;
    negative.checkpoint = file.c_str();
    negative.checkpoint_seconds = -1;
    CHECK(compute(c.csr, negative) == PERM_BAD_OPTION);
}

TEST_CASE("forged checkpoints with the right checksum: a result or a status") {
    Random random(run::seed(9407));
    int accepted = 0, refused = 0;
    perm_set_log_level(0);
    for (const char *precision : {"double", "exact", "mpfr:100", "auto"})
        for (const bool large : {false, true}) {
            const MemoryFolder folder;
            const std::string file = folder / "kept";
            const std::int64_t n = !large ? 7 : std::string(precision) == "double" ? 21 : 16;
            LargeCase c = large_case(erdos_renyi(n, 1, Entries::real, random.bits()));
            c.opts = in_precision("ryser", precision);
            c.opts.without = "all";
            REQUIRE(compute(c.csr, with(c.opts, file)) == PERM_OK);
            const std::string sound = read(file);
            for (int i = 0; i < (large ? 8 : 100) * run::multiplier(); ++i) {
                const auto place = [&] {
                    const std::int64_t end = std::ssize(sound) - 8; // the parts stand there
                    return random.integer(random.chance(0.5) ? header_bytes : end - 150, end);
                };
                write(file, forged(sound, place, random));
                fs::remove(previous_of(file));
                std::size_t needed = 0;
                perm_checkpoint_describe(file.c_str(), PERM_FORMAT_JSON, nullptr, 0, &needed);
                const perm_status status = compute(c.csr, with(c.opts, file));
                CHECK(status != PERM_INTERNAL);
                ++(status == PERM_OK ? accepted : refused);
            }
        }
    perm_set_log_level(2);
    MESSAGE(accepted << " gave a result, " << refused << " did not");
    CHECK(accepted > 20);
    CHECK(refused > 20);
}

// ---------------------------------------------------------------- what cannot be written

TEST_CASE("a full disk: the run goes on, warns, and what was written stays") {
    const MemoryFolder folder;
    const std::string file = folder / "kept", seed = "77";
    const std::string truth = undisturbed(folder, slow_name(), 77);
    begin(slow_case(77), file);
    const std::string before = read(file);
    const auto check_full = [&](const std::string &kept, std::vector<std::string> more) {
        std::vector<std::string> arguments{slow_name(), seed, std::to_string(checkpoint_seconds), kept};
        arguments.insert(arguments.end(), more.begin(), more.end());
        Child child(folder, arguments);
        CHECK(child.wait() == 0);
        CHECK(child.out() == truth);
        CHECK(contains(child.err(), "could not be written"));
        CHECK(read(kept) == before);
        CHECK(!fs::exists(kept + ".writing"));
    };
    check_full(file, {"1000"});

    const std::string disk = folder / "disk";
    fs::create_directory(disk);
    const std::string size = "size=" + std::to_string((before.size() / 4096 + 4) * 4096);
    if (mount("none", disk.c_str(), "tmpfs", 0, size.c_str()) != 0)
        return run::skip("a small file system of its own cannot be mounted here");
    fs::copy_file(file, disk + "/kept");
    write(disk + "/others", std::string(5 * 4096, 'x')); // as far as it goes
    check_full(disk + "/kept", {});
    umount(disk.c_str());
}

TEST_CASE("a folder that is not there: refused before the work") {
    const MemoryFolder folder;
    const LargeCase c = some_case();
    CHECK(compute(c.csr, with(c.opts, folder / "none" + "/kept")) == PERM_BAD_OPTION);
    CHECK(contains(perm_last_error(), "cannot be written"));
}

// ---------------------------------------------------------------- described

TEST_CASE("what stands in a checkpoint, for people and as JSON") {
    const MemoryFolder folder;
    const std::string file = folder / "kept";
    const LargeCase c = some_case();
    CHECK(perm_checkpoint_describe(nullptr, PERM_FORMAT_TEXT, nullptr, 0, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_checkpoint_describe(file.c_str(), PERM_FORMAT_TEXT, nullptr, 0, nullptr) == PERM_BAD_OPTION);
    begin(c, file);
    CHECK(perm_checkpoint_describe(file.c_str(), PERM_FORMAT_PICTURE, nullptr, 0, nullptr) ==
          PERM_BAD_ARGUMENT);
    for (const perm_format format : {PERM_FORMAT_TEXT, PERM_FORMAT_JSON}) {
        std::size_t needed = 0;
        REQUIRE(perm_checkpoint_describe(file.c_str(), format, nullptr, 0, &needed) == PERM_OK);
        std::string text(needed, 'x');
        CHECK(perm_checkpoint_describe(file.c_str(), format, text.data(), needed - 1, nullptr) ==
              PERM_BAD_ARGUMENT);
        CHECK(perm_checkpoint_describe(file.c_str(), format, text.data(), needed, nullptr) == PERM_OK);
        CHECK(text.find('\0') == needed - 1);
    }
    const nlohmann::json j = described(file);
    CHECK(j.at("checkpoint") == file);
    CHECK(j.at("n") == c.csr.n_rows);
    CHECK(j.at("nnz") == c.csr.nnz);
    CHECK(contains(j.at("engine"), "ryser"));
    CHECK((j.at("fraction") > 0 && j.at("fraction") < 1));
    CHECK((j.at("parts") > 0 && j.at("seconds") > 0 && j.at("seconds_left") > 0));
    CHECK(j.at("finished") == false);
    const std::string text = perm::checkpoint_describe(file);
    for (const char *word : {"ryser", "left", "%"}) CHECK(contains(text, word));
    REQUIRE(compute(c.csr, with(c.opts, file)) == PERM_OK);
    const nlohmann::json done = described(file);
    CHECK((done.at("finished") == true && done.at("fraction") == 1 && done.at("seconds_left") == 0));
    CHECK(done.at("seconds") > j.at("seconds"));
    CHECK(contains(perm::checkpoint_describe(file), "finished"));
    CHECK(done.at("parts") == 1); // the block's own pieces are forgotten
}
