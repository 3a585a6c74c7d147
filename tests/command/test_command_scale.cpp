// The perm command where work is long or shared out: checkpoints, saved plans, parts of job arrays.
#include "capi/command/part_file.hpp"
#include "tests/support/command.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace command;
using nlohmann::json;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Half a second or so of a matrix of order 29, in 16 pieces.
const Words slow{"--engine", "tree", "--device", "cpu", "--without", "all", "--threads", "1"};
// A tenth of that.
const Words quick{"--engine", "ryser", "--device", "cpu", "--threads", "2"};

Words operator+(Words words, const Words &more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::string permanent(const Folder &folder, const Words &arguments) {
    const Run r = run(folder, arguments + Words{"--quiet"});
    CAPTURE(r.err);
    REQUIRE(r.code == 0);
    return r.out;
}

void check_refused(const Folder &folder, const Words &arguments, const Words &words, int code = 2) {
    const Run r = run(folder, arguments);
    CAPTURE(r.err);
    CHECK(r.code == code);
    CHECK(r.out.empty());
    for (const std::string &word : words) {
        CAPTURE(word);
        CHECK(contains(r.err, word));
    }
}

// Of one matrix, in the folder.
class Array {
  public:
    Array(const Folder &folder, std::string matrix, int of, Words options = quick)
        : folder_(folder), matrix_(std::move(matrix)), of_(of), options_(std::move(options)) {}

    std::string part(int index) const { return folder_ / ("part." + std::to_string(index)); }
    Words arguments(int index) const {
        return Words{"shard", matrix_,    "--of", std::to_string(of_), "--index", std::to_string(index),
                     "-o",    part(index)} +
               options_;
    }
    Run run_part(int index) const { return run(folder_, arguments(index)); }
    void run_parts(const std::vector<int> &indexes) const {
        for (const int index : indexes) {
            const Run r = run_part(index);
            CAPTURE(r.err);
            REQUIRE(r.code == 0);
            CHECK(contains(r.out, "is done"));
        }
    }
    Words combine(const std::vector<int> &indexes) const {
        Words words{"combine"};
        for (const int index : indexes) words.push_back(part(index));
        return words;
    }

  private:
    const Folder &folder_;
    std::string matrix_;
    int of_;
    Words options_;
};

void damage(const std::string &file) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(-3, std::ios::end);
    stream.put('\x55');
}

// Is told to stop once the file is there, and has been for a while; for longer if the process did not write
// it, which has to begin first.
Run stopped(const Folder &folder, const Words &arguments, const std::string &file,
            const std::vector<int> &signals) {
    const bool was_there = fs::exists(file);
    const Process process(arguments, "/dev/null", folder / "stdout", folder / "stderr");
    process.await_handlers();
    const auto wait = [](int milliseconds) {
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    };
    for (int k = 0; k < 2000 && !fs::exists(file); ++k) wait(10);
    for (const int number : signals) {
        wait(was_there ? 150 : 75);
        process.signal(number);
    }
    const int code = process.wait();
    return {code, folder.read("stdout"), folder.read("stderr")};
}

// What stands behind "to go on: ".
std::string advice(const std::string &text) {
    const std::string beginning = "to go on: ";
    const auto at = text.find(beginning);
    REQUIRE(at != text.npos);
    return text.substr(at + beginning.size(), text.find('\n', at) - at - beginning.size());
}

} // namespace

TEST_CASE("a computation that is stopped goes on from its checkpoint with the same digits") {
    const Folder folder;
    const std::string file = folder.write("a matrix.mtx", dense_matrix(long_order));
    const std::string whole = permanent(folder, Words{"compute", file} + slow);
    const std::string checkpoint = folder / "kept";
    const Words arguments =
        Words{"compute", file, "--checkpoint", checkpoint, "--checkpoint-every", "0.02"} + slow;

    for (const int number : {SIGTERM, SIGINT}) {
        const Run r = stopped(folder, arguments, checkpoint, {number});
        CAPTURE(r.err);
        if (r.code == 0) break; // a machine that fast
        CHECK(r.code == 130);
        CHECK(r.out.empty());
        CHECK(contains(r.err, "perm: stopping: "));
        CHECK(contains(r.err, "perm: cancelled; what is done is in " + checkpoint));
        // It can be pasted into a shell.
        const std::string command = advice(r.err);
        CHECK(contains(command, "compute '" + file + "' --checkpoint " + checkpoint));
        const json status = run(folder, {"status", checkpoint, "--json"}).object();
        CHECK(status.at("finished") == false);
        CHECK(status.at("fraction").get<double>() < 1);
        CHECK(contains(run(folder, {"status", checkpoint}).out, "left"));
        REQUIRE(std::system((command + " --quiet > " + (folder / "again")).c_str()) == 0);
        CHECK(folder.read("again") == whole);
        CHECK(run(folder, {"status", checkpoint, "--json"}).object().at("finished") == true);
        fs::remove(checkpoint);
        fs::remove(checkpoint + ".previous");
    }
}

TEST_CASE("a time limit leaves a checkpoint as well") {
    const Folder folder;
    const std::string file = folder.write("matrix.mtx", dense_matrix(long_order)),
                      checkpoint = folder / "kept";
    const Words arguments =
        Words{"compute", file, "--checkpoint", checkpoint, "--checkpoint-every", "0.05s"} + slow;
    const std::string whole = permanent(folder, Words{"compute", file} + slow);
    for (double limit = 0.1; !fs::exists(checkpoint); limit *= 2) { // else it was planning
        const Run r = run(folder, arguments + Words{"--time-limit", std::to_string(limit), "--json"});
        if (r.code == 0) break;
        CAPTURE(r.err);
        CHECK(r.code == 3);
        CHECK(contains(r.object().at("error").at("text").get<std::string>(), "to go on: ") ==
              fs::exists(checkpoint));
        CHECK(contains(r.err, "--time-limit"));
    }
    CHECK(permanent(folder, arguments) == whole);
}

TEST_CASE("a second signal stops at once") {
    const Folder folder;
    const std::string file = folder.write("matrix.mtx", dense_matrix(44)); // pieces of minutes
    const Words arguments =
        Words{"compute", file, "--checkpoint", folder / "kept", "--time-limit", "none"} + slow;
    const Run r = stopped(folder, arguments, file, {SIGINT, SIGTERM});
    CHECK(r.code == 130);
    CHECK(r.out.empty());
}

TEST_CASE("a checkpoint that cannot be used is refused with a clear text") {
    const Folder folder;
    const std::string file = folder.write("matrix.mtx", dense_matrix(18));
    const std::string other = folder.write("other.mtx", dense_matrix(13));
    const std::string checkpoint = folder / "kept";
    check_refused(folder, {"compute", file, "--checkpoint", folder / "missing/kept"},
                  {"cannot write", "missing/kept"});
    check_refused(folder, {"compute", file, "--checkpoint", folder.path()}, {"directory"});
    check_refused(folder, {"status", checkpoint}, {"no checkpoint"});
    check_refused(folder, {"status", file}, {"matrix.mtx"});
    check_refused(folder, {"status"}, {"CHECKPOINT"});
    permanent(folder, Words{"compute", file, "--checkpoint", checkpoint} + quick);
    check_refused(folder, Words{"compute", other, "--checkpoint", checkpoint} + quick, {"another matrix"});
    check_usage_error(folder, {"compute", file, "--checkpoint", checkpoint, "--checkpoint-every", "x"},
                      "'x'");
}

TEST_CASE("parts in any order and more than once have the digits of one run") {
    const Folder folder;
    const std::string file = folder.write("matrix.mtx", dense_matrix(22));
    const std::string whole = permanent(folder, Words{"compute", file} + quick);
    const Array array(folder, file, 5);
    array.run_parts({3, 0, 4, 2});
    // Nothing else is needed, and nothing else lies about.
    fs::remove(file);
    CHECK(std::none_of(fs::directory_iterator(folder.path()), {}, [](const fs::directory_entry &entry) {
        return entry.path().extension() == ".previous" || entry.path().extension() == ".writing";
    }));
    check_refused(folder, array.combine({0, 2, 3, 4}), {"missing: 1 of 5"});
    check_refused(folder, array.combine({4}), {"missing: 0-3 of 5"});
    check_refused(folder, array.combine({0, 3}), {"missing: 1, 2, 4 of 5"});
    folder.write("matrix.mtx", dense_matrix(22));
    array.run_parts({1});
    CHECK(permanent(folder, array.combine({2, 4, 0, 1, 3})) == whole);
    CHECK(permanent(folder, array.combine({0, 0, 1, 2, 3, 4, 2, 4})) == whole);
    CHECK(permanent(folder, array.combine({0, 1, 2, 3, 4}) + Words{"--threads", "1"}) == whole);

    const Run text = run(folder, array.combine({0, 1, 2, 3, 4}));
    CHECK(contains(text.out, "perm(matrix.mtx) = " + whole));
    const json object = run(folder, array.combine({0, 1, 2, 3, 4}) + Words{"--json"}).object();
    CHECK(object.at("permanent").get<std::string>() + "\n" == whole);
    CHECK(object.at("plan").at("shards").get<int>() > 1);

    SUBCASE("what is done is not done again") {
        const auto before = fs::last_write_time(array.part(1));
        const Run r = array.run_part(1);
        CHECK(r.code == 0);
        CHECK(contains(r.out, "index 1 of 5 was done before"));
        CHECK(fs::last_write_time(array.part(1)) == before);
    }
    SUBCASE("a damaged part is refused, and so is what is none") {
        damage(array.part(2));
        check_refused(folder, array.combine({0, 1, 2, 3, 4}), {array.part(2), "damaged"});
        check_refused(folder, array.arguments(2), {array.part(2), "damaged", "remove"});
        fs::resize_file(array.part(2), 100);
        check_refused(folder, array.combine({0, 1, 2, 3, 4}), {array.part(2)});
        check_refused(folder, {"combine", file}, {"matrix.mtx", "perm shard"});
        check_refused(folder, {"combine", folder / "nothing"}, {"nothing", "No such file"});
        fs::remove(array.part(2));
        array.run_parts({2});
        // What a crash left of a write is passed over.
        folder.write("part.2.writing", "PERM");
        CHECK(permanent(folder, array.combine({0, 1, 2, 3, 4}) + Words{folder / "part.2.writing"}) == whole);
    }
    SUBCASE("parts of something else are refused") {
        const auto check_foreign = [&](const Words &options, const Words &words) {
            const std::string other = folder / "other";
            const Run r = run(folder, Words{"shard", "-o", other} + options);
            CAPTURE(r.err);
            REQUIRE(r.code == 0);
            check_refused(folder, array.combine({0, 1, 2, 3, 4}) + Words{other}, words);
            fs::remove(other);
        };
        const std::string another = folder.write("another.mtx", dense_matrix(21));
        const Words place{"--of", "5", "--index", "1"};
        check_foreign(Words{another} + place + quick, {"another matrix", "another.mtx"});
        std::string changed = dense_matrix(22);
        changed[changed.rfind("0.")] = '1';
        const std::string values = folder.write("values.mtx", changed);
        check_foreign(Words{values} + place + quick, {"other values", "values.mtx"});
        check_foreign(Words{file, "--of", "6", "--index", "1"} + quick, {"another division"});
        check_foreign(Words{file, "--decimal"} + place + quick, {"--decimal"});
        const Words tree{"--engine", "tree", "--device", "cpu"};
        check_foreign(Words{file, "--of", "5", "--index", "4"} + tree,
                      {"another plan", "perm plan", "--plan"});
    }
}

TEST_CASE("a part file is of one index of one matrix") {
    const Folder folder;
    const std::string file = folder.write("matrix.mtx", dense_matrix(18));
    const std::string other = folder.write("other.mtx", dense_matrix(17));
    const std::string out = folder / "part";
    const auto shard = [&](const std::string &matrix, const char *of, const char *index) {
        return Words{"shard", matrix, "--of", of, "--index", index, "-o", out} + quick;
    };
    REQUIRE(run(folder, shard(file, "3", "1")).code == 0);
    check_refused(folder, shard(file, "3", "2"), {"is there", "index 1 of 3"});
    check_refused(folder, shard(file, "4", "1"), {"is there", "index 1 of 3"});
    check_refused(folder, shard(other, "3", "1"), {"is there", "matrix.mtx", "another matrix"});
    check_refused(folder, Words{"shard", file, "--of", "3", "--index", "1", "-o", file},
                  {"matrix.mtx", "perm shard"});
    CHECK(folder.read("matrix.mtx") == dense_matrix(18));
    check_refused(folder, {"shard", file, "--of", "3", "--index", "1", "-o", out, "--engine", "tree"},
                  {out, "another engine"});
    check_refused(folder, shard(file, "3", "3"), {"--index 3 of --of 3"});
    check_refused(folder, shard(file, "0", "0"), {"--of 0"});
    check_refused(folder, shard(file, "99999999999", "0"), {"out of range"});
    check_refused(folder, {"shard", file, "--of", "3", "-o", out}, {"--index"});
    check_refused(folder, {"shard", file, "--of", "3", "--index", "0"}, {"-o"});
    check_refused(folder, {"shard", file, "--of", "3", "--index", "0", "-o", folder / "none/part"},
                  {"cannot write", "none/part"});
    check_refused(folder, {"combine"}, {"PART"});
}

TEST_CASE("a part that is stopped goes on where it was") {
    const Folder folder;
    const std::string file = folder.write("matrix.mtx", dense_matrix(long_order));
    const std::string whole = permanent(folder, Words{"compute", file} + slow);
    const Array array(folder, file, 2, slow);
    const auto check_begun = [&](const Run &r, const std::string &why) {
        CAPTURE(r.err);
        CHECK(r.out.empty());
        CHECK(contains(r.err, why));
        CHECK(contains(advice(r.err), "shard " + file));
        check_refused(folder, array.combine({0}), {"missing: 0, 1 of 2", "begun and not finished: 0"});
    };
    const Run limited = run(folder, array.arguments(0) + Words{"--time-limit", "0.05"});
    CHECK(limited.code == 3);
    check_begun(limited, "time limit of 0.05 s");
    const Run cancelled = stopped(folder, array.arguments(0), array.part(0), {SIGTERM});
    if (cancelled.code != 0 && cancelled.out.empty()) { // else it had ended
        CHECK(cancelled.code == 130);
        check_begun(cancelled, "cancelled");
    }
    // From the write before, where the last is damaged.
    if (fs::exists(array.part(0) + ".previous")) {
        damage(array.part(0));
        const Run r = array.run_part(0);
        CHECK(r.code == 0);
        CHECK(contains(r.err, "going on from the one before"));
    }
    CHECK(array.run_part(0).code == 0);
    array.run_parts({1});
    CHECK(permanent(folder, array.combine({0, 1})) == whole);
}

TEST_CASE("a saved plan is everybody's") {
    const Folder folder;
    const std::string file = folder.write("matrix.mtx", dense_matrix(22)), plan = folder / "plan";
    const Run saved = run(folder, Words{"plan", file, "-o", plan} + quick);
    CAPTURE(saved.err);
    REQUIRE(saved.code == 0);
    CHECK(contains(saved.out, "shards"));
    const std::string whole = permanent(folder, Words{"compute", file} + quick);
    CHECK(permanent(folder, {"compute", file, "--plan", plan}) == whole);
    // --plan counts, whatever this machine would choose.
    const Array array(folder, file, 3, {"--plan", plan});
    array.run_parts({0, 1, 2});
    CHECK(permanent(folder, array.combine({0, 1, 2})) == whole);

    const std::string other = folder.write("other.mtx", dense_matrix(21));
    check_refused(folder, {"compute", other, "--plan", plan}, {plan, "another matrix"});
    check_refused(folder, {"compute", file, "--decimal", "--plan", plan}, {"--decimal"});
    check_refused(folder, {"compute", file, "--plan", plan, "--engine", "tree"}, {"another engine"});
    check_refused(folder, {"compute", file, "--plan", array.part(0)}, {"perm plan"});
    check_refused(folder, {"compute", file, "--plan", file}, {"perm plan"});
    check_refused(folder, {"plan", file, "-o", folder / "none/plan"}, {"cannot write"});
    check_refused(folder, {"plan", file}, {"-o"});
}

TEST_CASE("parts hold numbers of every kind") {
    const Folder folder;
    const std::string banner = "%%MatrixMarket matrix ";
    const auto check_same = [&](const std::string &text, const Words &options) {
        const std::string file = folder.write("matrix.mtx", banner + text);
        const std::string plan = folder / "plan"; // of which they are: perm compute needs none
        REQUIRE(run(folder, Words{"plan", file, "-o", plan} + options).code == 0);
        const std::string whole = permanent(folder, Words{"compute", file, "--plan", plan} + options);
        const Array array(folder, file, 3, options);
        array.run_parts({0, 1, 2});
        CHECK(permanent(folder, array.combine({2, 1, 0})) == whole);
        fs::remove(plan);
        for (const int index : {0, 1, 2}) fs::remove(array.part(index));
    };
    check_same("coordinate real general\n2 2 4\n1 1 0.1\n1 2 2\n2 1 3\n2 2 1e-3\n", {"--decimal"});
    check_same("coordinate integer general\n2 2 3\n1 1 123456789012345678901234567890\n2 1 5\n2 2 7\n", {});
    check_same("array integer general\n3 3\n1\n2\n3\n4\n5\n6\n7\n8\n-10\n", {});
    if (is_sanitized) return;
    check_same("array complex general\n2 2\n1 1\n0 2\n3 0\n0.5 0.25\n", {});
    check_same("coordinate pattern general\n3 3 7\n1 1\n1 2\n2 2\n2 3\n3 1\n3 3\n2 1\n",
               {"--row-multiplicity", "2,1,1", "--col-multiplicity", "1,2,1"});
    check_same("coordinate real general\n2 2 1\n1 1 1\n", {}); // 0
    check_same("coordinate real general\n0 0 0\n", {});
    std::string rows; // sliced frontier
    for (int i = 0; i < 24; ++i)
        for (const int offset : {0, 1, 4, 9, 11, 16, 18})
            rows += std::to_string(i + 1) + " " + std::to_string((i + offset) % 24 + 1) + "\n";
    check_same("coordinate pattern general\n24 24 168\n" + rows,
               {"--engine", "frontier", "--device", "cpu", "--memory", "100K", "--without", "all"});
}

TEST_CASE("explain tells shards, for GPUs that are not there too") {
    const Folder folder;
    const std::string file = folder.write("matrix.mtx", dense_matrix(40));
    const json one = run(folder, {"explain", file, "--engine", "tree", "--json"}).object();
    CHECK(one.at("shards").get<int>() > 1);
    CHECK(one.at("shard_seconds").get<double>() > 0);
    const auto for_gpus = [&](const char *count) {
        return run(folder, {"explain", file, "--engine", "tree", "--gpus", count, "--json"}).object();
    };
    const json first = for_gpus("1"), many = for_gpus("192");
    CHECK(many.at("shards") == first.at("shards"));
    CHECK(many.at("shards").get<int>() > 1);
    CHECK(many.at("gpus") == 192);
    CHECK(contains(run(folder, {"explain", file, "--engine", "tree"}).out, " shards of "));
    check_usage_error(folder, {"explain", file, "--gpus", "-2"}, "gpus");
}

TEST_CASE("an estimate by an array of jobs, and with a checkpoint") {
    const Folder folder;
    std::string text = "%%MatrixMarket matrix coordinate real general\n40 40 1560\n";
    for (int i = 1; i <= 40; ++i)
        for (int j = 1; j <= 40; ++j)
            if (i != j) text += std::to_string(i) + " " + std::to_string(j) + " 1\n";
    const std::string matrix = folder.write("m.mtx", text);
    const Words options{"--without", "merge,periodic,structure", "--epsilon", "0.0005", "--seed", "3"};
    const std::string whole = permanent(folder, Words{"estimate", matrix} + options);
    const Array jobs(folder, matrix, 3, options + Words{"--estimate"});
    jobs.run_parts({2, 0});
    check_refused(folder, jobs.combine({0, 2}), {"missing: 1 of 3"});
    jobs.run_parts({1});
    CHECK(permanent(folder, jobs.combine({1, 2, 0, 1})) == whole);
    const Run again = jobs.run_part(1);
    CHECK(contains(again.out, "was done before"));
    CHECK(contains(again.out, "of the estimate's"));
    const json combined = run(folder, jobs.combine({0, 1, 2}) + Words{"--json"}).object();
    CHECK(combined["n_rows"] == 40);
    CHECK(combined["epsilon"] == 0.0005);
    // A file of perm shard is what run_shard gives, of several shards.
    const perm::Task task = perm::Task::load(perm::read_part(jobs.part(0), folder.read("part.0")).task);
    const perm_estimated together =
        task.combine_estimate({folder.read("part.2"), folder.read("part.0"), folder.read("part.1")});
    CHECK(std::to_string(together.samples) == std::to_string(combined["samples"].get<std::int64_t>()));
    CHECK(together.mantissa_re == combined["mantissa"].get<double>());
    // Others' parts.
    const Array other(folder, matrix, 3, options + Words{"--estimate", "--delta", "0.1"});
    check_refused(folder, other.arguments(1), {"with other options", "remove"});
    check_refused(folder, Array(folder, matrix, 3, quick).arguments(1), {"of an estimate", "remove"});
    fs::rename(jobs.part(1), folder / "kept");
    other.run_parts({1});
    check_refused(folder, jobs.combine({0, 1, 2}), {"part.1", "an estimate with other options"});
    check_refused(folder,
                  Words{"shard", matrix, "--estimate", "--plan", "x", "--of", "1", "--index", "0", "-o", "y"},
                  {"--plan"});
    // No part is begun that could not be an estimate's, or that was meant to be one.
    const Array refused(folder, matrix, 8, options + Words{"--estimate", "--method", "none"});
    check_refused(folder, refused.arguments(7), {"none", "rejection"});
    CHECK(!fs::exists(refused.part(7)));
    check_usage_error(folder, {"shard", matrix, "--epsilon", "0.1", "--of", "1", "--index", "0", "-o", "y"},
                      "--estimate");
    const Array expanding(folder, matrix, 9, options + Words{"--estimate", "--decompose", "paper"});
    check_refused(folder, expanding.arguments(7), {"decompose paper: an estimate is drawn from samples"});
    CHECK(!fs::exists(expanding.part(7)));

    const std::string file = folder / "checkpoint";
    const Words kept = Words{"estimate", matrix, "--checkpoint", file} + options;
    CHECK(permanent(folder, kept) == whole);
    const Run status = run(folder, {"status", file});
    CHECK(contains(status.out, "an estimate of a matrix of order 40"));
    CHECK(contains(status.out, "finished"));
    CHECK(permanent(folder, kept) == whole);
    const std::string killed = folder / "killed";
    const Words again_and_again =
        Words{"estimate", matrix, "--checkpoint", killed, "--checkpoint-every", "0.01"} + options;
    for (int k = 0; k < 2; ++k) stopped(folder, again_and_again, killed, {SIGKILL});
    CHECK(permanent(folder, again_and_again) == whole);
    check_refused(folder, kept + Words{"--epsilon", "0.1"}, {"--epsilon"});
    check_refused(folder, Words{"estimate", matrix, "--checkpoint", file}, {"other options", "remove"});
    check_refused(folder, Words{"compute", matrix, "--checkpoint", file}, {"perm_estimate"});
}

TEST_CASE("numbers of matchings by an array of jobs") {
    const Folder folder;
    std::string text = "%%MatrixMarket matrix coordinate pattern general\n14 14 98\n";
    for (int i = 0; i < 14; ++i)
        for (const int offset : {0, 1, 2, 5, 6, 9, 11})
            text += std::to_string(i + 1) + " " + std::to_string((i + offset) % 14 + 1) + "\n";
    const std::string matrix = folder.write("m.mtx", text);
    const std::string whole = permanent(folder, {"matchings", matrix});
    CHECK(std::count(whole.begin(), whole.end(), '\n') == 15);
    const Array jobs(folder, matrix, 2, {"--matchings"});
    jobs.run_parts({1});
    const Run missing = run(folder, jobs.combine({1}));
    jobs.run_parts({0});
    CHECK(permanent(folder, jobs.combine({1, 0})) == whole);
    if (missing.code != 0) CHECK(contains(missing.err, "missing: 0 of 2"));
    const json combined = run(folder, jobs.combine({0, 1}) + Words{"--json"}).object();
    CHECK(combined["matchings"].size() == 15);
    CHECK(combined["nnz"] == 98);
    check_refused(folder, Array(folder, matrix, 2).arguments(1), {"numbers of matchings", "remove"});
    check_refused(folder, Array(folder, matrix, 2, {"--estimate"}).arguments(1), {"another", "remove"});
    check_refused(folder, jobs.arguments(0) + Words{"--estimate"}, {"--estimate"});
}

TEST_CASE("a part that no shard falls to says so") {
    const Folder folder;
    const std::string file = folder.write("a.mtx", "%%MatrixMarket matrix array integer general\n1 1\n5\n");
    int idle = 0, done = 0;
    Words combine{"combine"};
    for (const char *index : {"0", "1", "2"}) {
        const std::string part = folder / ("part" + std::string(index));
        const Run r = run(folder, {"shard", file, "--of", "3", "--index", index, "-o", part});
        CHECK(r.code == 0);
        idle += contains(r.out, "it has nothing to do, for there is 1 shard in all");
        done += contains(r.out, "is done: 1 of the plan's 1 shards");
        combine.push_back(part);
    }
    CHECK(idle == 2);
    CHECK(done == 1);
    CHECK(contains(run(folder, combine).out, "= 5\n"));
}
