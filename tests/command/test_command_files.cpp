// Files from outside, sealed as the command seals them and never written by it; and devices in their place.
#include "capi/command/part_file.hpp"
#include "tests/support/command.hpp"
#include "tests/support/whole_file.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace command;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const Words quick{"--engine", "ryser", "--device", "cpu", "--threads", "2"};

Words operator+(Words words, const Words &more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

void check_refused(const Folder &folder, const Words &arguments, const Words &words) {
    const Run r = run(folder, arguments);
    CAPTURE(r.err);
    CHECK(r.code == 2);
    CHECK(r.out.empty());
    for (const std::string &word : words) {
        CAPTURE(word);
        CHECK(contains(r.err, word));
    }
}

std::string must(const Folder &folder, const Words &arguments) {
    const Run r = run(folder, arguments);
    CAPTURE(r.err);
    REQUIRE(r.code == 0);
    return r.out;
}

// A matrix, its plan and one part that is all of it, each in a file.
struct Files {
    Folder folder;
    std::string matrix, plan = folder / "plan", part = folder / "part";

    explicit Files(const std::string &text, const Words &options = quick)
        : matrix(folder.write("matrix.mtx", text)) {
        must(folder, Words{"plan", matrix, "-o", plan} + options);
        must(folder,
             Words{"shard", matrix, "--of", "1", "--index", "0", "-o", part, "--plan", plan} + options);
    }

    perm::Part content() const { return perm::read_part(part, whole_file::read(part)); }
    // Sealed again.
    void change_part(const std::function<void(perm::Part &)> &change) const {
        perm::Part changed = content();
        change(changed);
        perm::write_part_file(part, changed);
        perm::forget_previous(part);
    }
    Words compute() const { return {"compute", matrix, "--plan", plan}; }
    Words combine() const { return {"combine", part}; }
    Words shard() const { return Words{"shard", matrix, "--of", "1", "--index", "0", "-o", part}; }
};

} // namespace

TEST_CASE("a plan or a part of another matrix is not believed") {
    const std::string rows = "%%MatrixMarket matrix coordinate pattern general\n2 2 4\n1 1\n1 2\n2 1\n2 2\n";
    const Files files(dense_matrix(9)), larger(dense_matrix(12)), smaller(dense_matrix(4)), ones(rows);
    for (const Files *other : {&larger, &smaller, &ones}) {
        check_refused(files.folder, {"compute", files.matrix, "--plan", other->plan},
                      {other->plan, "another matrix", "rows and columns"});
        const std::string task = other->content().task;
        files.change_part([&](perm::Part &part) { part.task = task; });
        check_refused(files.folder, files.combine(), {files.part, "another matrix"});
        check_refused(files.folder, files.shard(), {files.part, "another matrix", "rows and columns"});
    }
    files.change_part([&](perm::Part &part) { part.task = "no task"; });
    check_refused(files.folder, files.combine(), {files.part, "perm_task_save"});
    // A plan is a task without values.
    const std::string plan = whole_file::read(files.plan);
    files.change_part([&](perm::Part &part) { part.task = plan; });
    check_refused(files.folder, files.combine(), {files.part, "not the values"});
    files.change_part([&](perm::Part &part) { part.task.back() ^= 1; });
    check_refused(files.folder, files.combine(), {files.part, "damaged"});
}

TEST_CASE("of the same sizes, too: other entries, other numbers, other multiplicities") {
    const std::string size = "%%MatrixMarket matrix coordinate pattern general\n3 3 5\n1 1\n2 2\n3 3\n",
                      counts = "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 1\n2 2 1\n3 3 1\n";
    const Files one(size + "1 2\n2 1\n");
    const auto check_foreign = [&](const Files &other, const std::string &what) {
        check_refused(one.folder, {"compute", one.matrix, "--plan", other.plan}, {"another matrix", what});
        const std::string task = other.content().task;
        one.change_part([&](perm::Part &part) { part.task = task; });
        check_refused(one.folder, one.shard(), {"another matrix", what});
        check_refused(one.folder, one.combine(), {one.part, "another matrix"});
    };
    check_foreign(Files(size + "1 3\n3 1\n"), "entries");
    check_foreign(Files(counts + "1 2 1\n2 1 1\n"), "kinds of numbers");
    check_foreign(Files(size + "1 2\n2 1\n",
                        quick + Words{"--row-multiplicity", "1,1,1", "--col-multiplicity", "1,1,1"}),
                  "multiplicities");
}

TEST_CASE("files of formats that are no more") {
    const Files files(dense_matrix(9));
    const auto check_old = [&](const std::string &file, const char *word, const Words &arguments) {
        const std::string sound = whole_file::read(file);
        std::string old = word + sound.substr(8);
        old[8 + 1] = 2; // its number
        whole_file::write(file, old);
        const Run r = run(files.folder, arguments);
        CAPTURE(r.err);
        CHECK(r.code == 3);
        CHECK(contains(r.err, file + ": "));
        CHECK(contains(r.err, "is of format 2, this libperm reads"));
        whole_file::write(file, sound);
    };
    check_old(files.plan, "PERMPLNF", files.compute());
    check_old(files.plan, "PERMTASK", files.compute());
    check_old(files.part, "PERMJOBS", files.combine());
    must(files.folder, files.compute());
    must(files.folder, files.combine());
}

TEST_CASE("a part's place among the others") {
    const Files files(dense_matrix(22));
    const std::string copy = files.folder / "copy";
    fs::copy_file(files.part, copy);
    const auto make_sound = [&] { fs::copy_file(copy, files.part, fs::copy_options::overwrite_existing); };
    const auto check_wrong = [&](std::int64_t of, std::int64_t index) {
        CAPTURE(of);
        files.change_part([&](perm::Part &part) {
            part.of = of;
            part.index = index;
        });
        check_refused(files.folder, files.combine(), {files.part, "damaged"});
        check_refused(files.folder, files.shard(), {files.part, "damaged"});
        make_sound();
    };
    constexpr std::int64_t large = std::int64_t{1} << 62;
    check_wrong(0, 0);
    check_wrong(large, 0);
    check_wrong(-1, 0);
    check_wrong(3, 3);
    check_wrong(3, -1);
    check_wrong(-large, -large);

    REQUIRE(files.content().shards.size() > 1);
    const std::string whole = must(files.folder, files.combine() + Words{"--quiet"});
    files.change_part([&](perm::Part &part) { // the first half's shards are all of them
        part.of = 2;
    });
    CHECK(must(files.folder, files.combine() + Words{"--quiet"}) == whole);
    make_sound();
    files.change_part([&](perm::Part &part) { part.shards.front().number = std::uint64_t(-5); });
    check_refused(files.folder, files.combine(), {files.part, "it is of shard 18446744073709551611"});
    make_sound();
    files.change_part([&](perm::Part &part) { part.shards.front().pieces.pop_back(); });
    check_refused(files.folder, files.combine(), {files.part, "damaged", "a shard's pieces"});
    make_sound();
    files.change_part([&](perm::Part &part) { part.shards.pop_back(); });
    check_refused(files.folder, files.combine(), {"missing: 0 of 1 (begun and not finished: 0)"});
    must(files.folder, files.shard() + quick); // does what is missing
    CHECK(must(files.folder, files.combine() + Words{"--quiet"}) == whole);
}

TEST_CASE("more parts than shards: who is missing is told at once, and none is that has none") {
    const Files files(dense_matrix(22));
    const std::int64_t shards = std::ssize(files.content().shards);
    const auto part = [&](std::int64_t of, std::int64_t index) {
        return files.folder / (std::to_string(index) + "." + std::to_string(of));
    };
    const auto shard = [&](std::int64_t of, std::int64_t index) {
        const std::string n = std::to_string(of), k = std::to_string(index);
        return Words{"shard", files.matrix, "--of",          n,        "--index",
                     k,       "-o",         part(of, index), "--plan", files.plan};
    };
    constexpr std::int64_t many = 2'000'000'000;
    must(files.folder, shard(many, 7)); // it has no shard
    const std::string whole = must(files.folder, files.combine() + Words{"--quiet"});
    const Run r = run(files.folder, {"combine", part(many, 7)});
    CHECK(r.code == 2);
    CHECK(contains(r.err, " of 2000000000: run perm shard with these"));
    const auto listed = std::count(r.err.begin(), r.err.end(), ',');
    CHECK(listed + 1 >= shards); // each in an index of its own

    // Each index that has one, found as the shards are numbered.
    Words all{"combine"};
    for (std::int64_t k = 0, of = shards + 3; k < of; ++k)
        if (perm::first_shard(shards, of, k) < perm::first_shard(shards, of, k + 1)) {
            must(files.folder, shard(of, k));
            all.push_back(part(of, k));
            CHECK(perm::index_of(perm::first_shard(shards, of, k), shards, of) == k);
        }
    CHECK(must(files.folder, all + Words{"--quiet"}) == whole);
    all.erase(all.begin() + 2);
    check_refused(files.folder, all, {"missing: "});
}

TEST_CASE("the shards' indexes, however many of each there are") {
    for (const std::int64_t shards : {1, 2, 7, 64, 65536})
        for (const std::int64_t of : {std::int64_t{1}, std::int64_t{2}, std::int64_t{5}, std::int64_t{64},
                                      std::int64_t{1000}, perm::Part::most})
            for (std::int64_t shard = 0; shard < shards; shard += 1 + shards / 100) {
                const std::int64_t k = perm::index_of(shard, shards, of);
                CHECK((perm::first_shard(shards, of, k) <= shard &&
                       shard < perm::first_shard(shards, of, k + 1)));
            }
}

TEST_CASE("devices and pipes where files are expected") {
    const Files files(dense_matrix(9));
    const std::string pipe = files.folder / "pipe";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    for (const std::string device : {"/dev/zero", "/dev/full", "/dev/null"}) {
        CAPTURE(device);
        const std::string file =
            files.folder / "device"; // by a link: root might do away with the device itself
        fs::create_symlink(device, file);
        check_refused(files.folder, {"compute", files.matrix, "--plan", file}, {file, "no plain file"});
        check_refused(files.folder, {"combine", files.part, file}, {file, "no plain file"});
        check_refused(files.folder, {"plan", files.matrix, "-o", file}, {file, "no plain file"});
        check_refused(files.folder, {"compute", files.matrix, "--checkpoint", file}, {file, "no plain file"});
        check_refused(files.folder, {"status", file}, {file, "no plain file"});
        check_refused(files.folder, {"shard", files.matrix, "--of", "1", "--index", "0", "-o", file},
                      {file, "no plain file"});
        CHECK(fs::is_symlink(file));
        fs::remove(file);
    }
    check_refused(files.folder, {"compute", files.matrix, "--plan", pipe}, {pipe, "no plain file"});
    check_refused(files.folder, {"plan", files.matrix, "-o", pipe}, {pipe, "no plain file"});
    check_refused(files.folder, {"compute", "/dev/zero"}, {"/dev/zero", "longer than"});
    check_refused(files.folder, {"compute", "/dev/null"}, {"/dev/null", "banner"});
    check_refused(files.folder, {"explain", files.matrix, "--machine", "/dev/zero"}, {"/dev/zero", "longer"});
    check_refused(files.folder, {"explain", files.matrix, "--machine", files.folder.path()}, {"cannot read"});
}
