// Files from outside, sealed as the command seals them and never written by it; and devices in their place.
#include "capi/command/part_file.hpp"
#include "tests/support/command.hpp"

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

    // Sealed again.
    void change_plan(const std::function<void(perm::PlanFile &)> &change) const {
        perm::PlanFile content = perm::read_plan_file(plan);
        change(content);
        perm::write_plan_file(plan, content);
    }
    void change_part(const std::function<void(perm::PartFile &)> &change) const {
        perm::PartFile content = perm::read_part_file(part);
        change(content);
        perm::write_part_file(part, content);
        perm::forget_previous(part);
    }
    Words compute() const { return {"compute", matrix, "--plan", plan}; }
    Words combine() const { return {"combine", part}; }
    Words shard() const { return Words{"shard", matrix, "--of", "1", "--index", "0", "-o", part}; }
};

const std::string decimals = "%%MatrixMarket matrix array real general\n2 2\n0.1\n3\n2\n1e-3\n";

} // namespace

TEST_CASE("a sealed plan of another matrix is not believed") {
    const std::string rows = "%%MatrixMarket matrix coordinate pattern general\n2 2 4\n1 1\n1 2\n2 1\n2 2\n";
    const Files files(dense_matrix(9)), larger(dense_matrix(12)), smaller(dense_matrix(4)), ones(rows);
    for (const Files *other : {&larger, &smaller, &ones}) {
        const std::string bytes = perm::read_plan_file(other->plan).plan;
        files.change_plan([&](perm::PlanFile &plan) { plan.plan = bytes; });
        check_refused(files.folder, files.compute(), {files.plan, "another matrix", "rows and columns"});
        files.change_part([&](perm::PartFile &part) { part.plan.plan = bytes; });
        check_refused(files.folder, files.combine(), {files.part, "another matrix"});
        check_refused(files.folder, files.shard(), {files.part, "another matrix"});
    }
    files.change_plan([&](perm::PlanFile &plan) { plan.plan = "no plan"; });
    check_refused(files.folder, files.compute(), {files.plan, "perm_plan_save"});
}

TEST_CASE("of the same sizes, too: other entries, other numbers, other multiplicities") {
    const std::string size = "%%MatrixMarket matrix coordinate pattern general\n3 3 5\n1 1\n2 2\n3 3\n",
                      counts = "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 1\n2 2 1\n3 3 1\n";
    const Files one(size + "1 2\n2 1\n");
    const auto check_foreign = [&](const Files &other, const std::string &what) {
        const std::string bytes = perm::read_plan_file(other.plan).plan;
        one.change_plan([&](perm::PlanFile &plan) { plan.plan = bytes; });
        check_refused(one.folder, one.compute(), {"another matrix", what});
        one.change_part([&](perm::PartFile &part) { part.plan.plan = bytes; });
        check_refused(one.folder, one.combine(), {"another matrix", what});
    };
    check_foreign(Files(size + "1 3\n3 1\n"), "entries");
    check_foreign(Files(counts + "1 2 1\n2 1 1\n"), "kind of numbers");
    check_foreign(Files(size + "1 2\n2 1\n",
                        quick + Words{"--row-multiplicity", "1,1,1", "--col-multiplicity", "1,1,1"}),
                  "multiplicities");
}

TEST_CASE("a matrix that is none, and values that are not its, in a sealed part") {
    const Files files(dense_matrix(9)), text(decimals, quick + Words{"--decimal"});
    const auto check_damaged = [](const Files &of, const std::function<void(perm::PartFile &)> &change,
                                  const std::string &word = "damaged") {
        const perm::PartFile sound = perm::read_part_file(of.part);
        of.change_part(change);
        check_refused(of.folder, of.combine(), {word});
        perm::PartFile again = sound;
        perm::write_part_file(of.part, again);
        perm::forget_previous(of.part);
    };
    CHECK(run(text.folder, text.combine()).code == 0);
    // Made with --decimal, holding doubles: once a crash.
    check_damaged(text, [](perm::PartFile &part) { part.values = {{0.1, 2, 3, 0.001}, {}, {}}; });
    check_damaged(text, [](perm::PartFile &part) { part.values.texts.pop_back(); });
    check_damaged(
        text, [](perm::PartFile &part) { part.values.texts[1] = "no number"; }, "no number");
    check_damaged(files, [](perm::PartFile &part) { part.values.doubles.pop_back(); });
    check_damaged(files, [](perm::PartFile &part) { part.values.doubles.push_back(1); });
    check_damaged(files, [](perm::PartFile &part) { part.values = {}; });
    check_damaged(files, [](perm::PartFile &part) { part.values.integers.assign(81, 1); });
    check_damaged(files, [](perm::PartFile &part) { part.plan.pattern.value_type = PERM_VALUE_C128; });
    check_damaged(files, [](perm::PartFile &part) { part.plan.pattern.value_type = 77; });
    check_damaged(files, [](perm::PartFile &part) { part.plan.pattern.row_ptr.clear(); });
    check_damaged(
        files, [](perm::PartFile &part) { part.plan.pattern.row_ptr.pop_back(); }, "cannot hold");
    check_damaged(
        files, [](perm::PartFile &part) { part.plan.pattern.row_ptr[3] = 1 << 30; }, "row_ptr");
    check_damaged(
        files, [](perm::PartFile &part) { part.plan.pattern.col_idx[3] = -7; }, "col_idx");
    check_damaged(files, [](perm::PartFile &part) { part.plan.pattern.col_multiplicity = {1}; });
    check_damaged(files, [](perm::PartFile &part) { part.plan.pattern.n_cols = -1; });
    CHECK(run(files.folder, files.combine()).code == 0);
}

TEST_CASE("a part's place among the others") {
    const Files files(dense_matrix(22));
    const std::string copy = files.folder / "copy";
    fs::copy_file(files.part, copy);
    const auto make_sound = [&] { fs::copy_file(copy, files.part, fs::copy_options::overwrite_existing); };
    const auto check_wrong = [&](std::int64_t of, std::int64_t index) {
        CAPTURE(of);
        files.change_part([&](perm::PartFile &part) {
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

    const std::size_t shards = perm::read_part_file(files.part).partials.size();
    REQUIRE(shards > 1);
    files.change_part([&](perm::PartFile &part) { // the first half's shards are all of them
        part.of = 2;
    });
    check_refused(files.folder, files.combine(), {files.part, "shards that are not those"});
    make_sound();
    files.change_part([&](perm::PartFile &part) {
        auto one = part.partials.extract(part.partials.begin());
        one.key() = -5;
        part.partials.insert(std::move(one));
    });
    check_refused(files.folder, files.combine(), {"shards that are not those"});
    check_refused(files.folder, files.shard(), {"shards that are not those"});
}

TEST_CASE("more parts than shards: who is missing is told at once, and none is that has none") {
    const Files files(dense_matrix(22));
    const std::int64_t shards = std::ssize(perm::read_part_file(files.part).partials);
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
                                      std::int64_t{1000}, perm::most_parts})
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
