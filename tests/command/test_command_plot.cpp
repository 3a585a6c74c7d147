// The pictures of perm explain --plot: what is in them, and what cannot be drawn.
#include "tests/support/command.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <expat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace command;
using nlohmann::json;
namespace fs = std::filesystem;

bool can_draw() {
    static const bool found = std::system("gnuplot --version >/dev/null 2>&1") == 0;
    if (!found) run::skip("there is no gnuplot here");
    return found;
}

// An SVG file that is well-formed XML.
class Svg {
  public:
    explicit Svg(const std::string &text) {
        const XML_Parser parser = XML_ParserCreate(nullptr);
        XML_SetUserData(parser, this);
        XML_SetElementHandler(parser, begin, end);
        XML_SetCharacterDataHandler(parser, add_text);
        well_formed_ = XML_Parse(parser, text.data(), static_cast<int>(text.size()), 1) == XML_STATUS_OK;
        XML_ParserFree(parser);
    }

    bool well_formed() const { return well_formed_; }
    int images() const { return images_; }
    int filled(const std::string &colour) const { // polygons
        const auto found = fills_.find(colour);
        return found == fills_.end() ? 0 : found->second;
    }
    int hatched() const { return hatched_; }
    bool says(const std::string &text) const {
        return std::any_of(texts_.begin(), texts_.end(),
                           [&](const std::string &t) { return contains(t, text); });
    }

  private:
    static void begin(void *user, const char *name, const char **attributes) {
        Svg &svg = *static_cast<Svg *>(user);
        svg.texts_.emplace_back();
        svg.images_ += std::string(name) == "image";
        if (std::string(name) != "polygon") return;
        for (; *attributes; attributes += 2) {
            if (std::string(attributes[0]) != "fill") continue;
            std::string fill = attributes[1];
            svg.hatched_ += contains(fill, "url(#gpPat");
            std::erase(fill, ' ');
            ++svg.fills_[fill];
        }
    }
    static void end(void *, const char *) {}
    static void add_text(void *user, const char *text, int size) {
        static_cast<Svg *>(user)->texts_.back().append(text, static_cast<std::size_t>(size));
    }

    bool well_formed_ = false;
    int images_ = 0, hatched_ = 0;
    std::map<std::string, int> fills_;
    std::vector<std::string> texts_;
};

const std::string blue = "rgb(0,114,178)", grey = "rgb(153,153,153)", green = "rgb(0,158,115)",
                  sky = "rgb(86,180,233)";

// Without values: of a matrix of ones all lines would be merged, of this one none.
std::string matrix(int n, const std::vector<std::pair<int, int>> &entries) {
    std::ostringstream text;
    text << "%%MatrixMarket matrix coordinate real general\n"
         << n << ' ' << n << ' ' << entries.size() << '\n';
    unsigned state = 1;
    for (const auto &[i, j] : entries) {
        state = state * 1103515245u + 12345u;
        text << i + 1 << ' ' << j + 1 << ' ' << (state >> 16) % 1000 + 1 << '\n';
    }
    return text.str();
}

// Full blocks down the diagonal.
std::vector<std::pair<int, int>> full_blocks(const std::vector<int> &sizes) {
    std::vector<std::pair<int, int>> entries;
    int first = 0;
    for (const int size : sizes) {
        for (int i = 0; i < size; ++i)
            for (int j = 0; j < size; ++j) entries.emplace_back(first + i, first + j);
        first += size;
    }
    return entries;
}

const std::vector<std::string> same_everywhere{"--device", "cpu", "--threads", "2", "--memory", "4G"};

std::vector<std::string> arguments(const std::string &file, const std::vector<std::string> &more) {
    std::vector<std::string> all{"explain", file};
    all.insert(all.end(), same_everywhere.begin(), same_everywhere.end());
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

std::string draw(const Folder &folder, const std::string &name, const std::string &text,
                 const std::string &picture = "out.svg") {
    const Run r = command::run(folder, arguments(folder.write(name, text), {"--plot", folder / picture}));
    CAPTURE(r.err);
    REQUIRE(r.code == 0);
    CHECK(r.err.empty());
    CHECK_FALSE(r.out.empty());
    return folder.read(picture);
}

} // namespace

TEST_CASE("plot: a small full matrix, entry by entry") {
    if (!can_draw()) return;
    const Folder folder;
    const std::string text = matrix(6, full_blocks({6}));
    const Svg svg(draw(folder, "full.mtx", text));
    CHECK(svg.well_formed());
    CHECK(svg.says("full.mtx"));
    CHECK(svg.says("n = 6, 36 entries"));
    CHECK(svg.says("1 block to compute"));
    CHECK(svg.says("in the frontier's order"));
    CHECK_FALSE(svg.says("taken apart"));
    CHECK(svg.filled(blue) == 2 * 36);
    CHECK(svg.filled(grey) == 0);
    CHECK(svg.images() == 0);

    const json plan = command::run(folder, arguments(folder / "full.mtx", {"--json"})).object();
    const json &candidates = plan.at("candidates");
    CHECK(svg.filled(green) == 1);
    CHECK(svg.filled(green) + svg.filled(sky) + svg.hatched() == static_cast<int>(candidates.size()));
    for (const json &c : candidates) CHECK(svg.says(c.at("engine").get<std::string>()));
    CHECK(svg.says(", chosen"));
    CHECK_FALSE(plan.contains("picture"));
}

// A random tree of points, half as many more lines between points that follow each other closely, and the
// diagonal.
std::vector<std::pair<int, int>> network(int n) {
    std::vector<std::pair<int, int>> entries;
    unsigned state = 11;
    const auto draw = [&](int below) {
        state = state * 1103515245u + 12345u;
        return static_cast<int>((state >> 16) % static_cast<unsigned>(below));
    };
    std::set<std::pair<int, int>> lines;
    for (int i = 1; i < n; ++i) {
        lines.emplace(i - 1 - draw(std::min(i, 9)), i);
        if (i % 2 == 0) lines.emplace(i - 1 - draw(std::min(i, 20)), i);
    }
    for (int i = 0; i < n; ++i) entries.emplace_back(i, i);
    for (const auto &[i, j] : lines) {
        entries.emplace_back(i, j);
        entries.emplace_back(j, i);
    }
    return entries;
}

TEST_CASE("plot: a frontier on a tree") {
    if (!can_draw()) return;
    const Folder folder;
    const std::string text = matrix(800, network(800)), picture = draw(folder, "network.mtx", text);
    CHECK(picture.size() < 600000);
    const Svg svg(picture);
    CHECK(svg.well_formed());
    const json plan = command::run(folder, arguments(folder / "network.mtx", {"--json"})).object();
    REQUIRE(plan.at("form") == "branches");
    const json &shape = plan.at("candidates").at(0).at("branches");
    CHECK(svg.says("the branches of that block"));
    CHECK(svg.says(shape.at("joins").dump() + " joins, middle sets of up to " + shape.at("width").dump() +
                   " lines"));
    CHECK(svg.says("in the frontier's order"));
    CHECK_FALSE(svg.says("the frontier in that block"));
    CHECK(draw(folder, "network.mtx", text) == picture);
}

TEST_CASE("plot: blocks, and entries in no perfect matching") {
    if (!can_draw()) return;
    const Folder folder;
    auto entries = full_blocks({4, 5, 1});
    entries.insert(entries.end(), {{0, 5}, {2, 8}, {7, 9}});
    const Svg svg(draw(folder, "blocks.mtx", matrix(10, entries)));
    CHECK(svg.well_formed());
    CHECK(svg.says("n = 10, 45 entries"));
    CHECK(svg.says("taken apart: 3 blocks"));
    CHECK(svg.says("3 entries in no perfect matching"));
    CHECK(svg.says("n = 5, 25 entries"));
    CHECK(svg.filled(blue) == 45 + 42 + 25);
    CHECK(svg.filled(grey) == 3);
}

TEST_CASE("plot: what is refused") {
    if (!can_draw()) return;
    const Folder folder;
    const Svg svg(draw(folder, "much.mtx", matrix(80, full_blocks({80}))));
    CHECK(svg.well_formed());
    CHECK(svg.says("refused: too large for the limits"));
    CHECK(svg.says("refused: needs"));
    CHECK(svg.filled(green) == 0);
    CHECK(svg.hatched() > 0);
    CHECK(svg.images() == 1); // 6400 entries are not drawn one by one; no order to show
}

TEST_CASE("plot: nothing to compute") {
    if (!can_draw()) return;
    const Folder folder;
    const Svg diagonal(draw(folder, "diagonal.mtx", matrix(3, {{0, 0}, {1, 1}, {2, 2}})));
    CHECK(diagonal.well_formed());
    CHECK(diagonal.filled(blue) == 3 + 3);
    const Svg singular(draw(folder, "singular.mtx", matrix(3, {{0, 0}, {1, 0}, {2, 2}})));
    CHECK(singular.well_formed());
    CHECK(singular.filled(blue) == 3);
    CHECK(singular.says("no perfect matching"));
    const std::string empty = "%%MatrixMarket matrix coordinate real general\n0 0 0\n";
    CHECK(Svg(draw(folder, "empty.mtx", empty)).says("n = 0, 0 entries"));
}

TEST_CASE("plot: a large matrix takes less than a megabyte") {
    if (!can_draw()) return;
    const Folder folder;
    constexpr int n = 100000;
    std::vector<std::pair<int, int>> entries;
    unsigned state = 7;
    for (int i = 0; i < n; ++i) {
        state = state * 1103515245u + 12345u;
        entries.emplace_back(i, i);
        if (i > 0) entries.emplace_back(i, static_cast<int>(state % static_cast<unsigned>(i)));
    }
    const std::string picture = draw(folder, "large.mtx", matrix(n, entries));
    CHECK(picture.size() < 1000000);
    const Svg svg(picture);
    CHECK(svg.well_formed());
    CHECK(svg.images() == 2);
    CHECK(svg.says("taken apart: 100000 blocks"));
}

TEST_CASE("plot: the same bytes each time, and the other formats") {
    if (!can_draw()) return;
    const Folder folder;
    const std::string text = matrix(9, full_blocks({5, 4}));
    CHECK(draw(folder, "m.mtx", text) == draw(folder, "m.mtx", text));
    CHECK(draw(folder, "m.mtx", text, "out.png").substr(1, 3) == "PNG");
    CHECK(draw(folder, "m.mtx", text, "out.pdf").substr(0, 5) == "%PDF-");
}

TEST_CASE("plot: a title is text and nothing else") {
    if (!can_draw()) return;
    const Folder folder;
    for (const std::string name : {"a<b>&'\"`touch x`$(touch x).mtx", "x\\n@y^{2}_z.mtx", "caf\xe9\n.mtx"}) {
        CAPTURE(name);
        const Svg svg(draw(folder, name, matrix(2, full_blocks({2}))));
        CHECK(svg.well_formed());
        if (name.front() != 'c') CHECK(svg.says(name.substr(0, 5)));
    }
}

TEST_CASE("plot: what cannot be written or drawn") {
    if (!can_draw()) return;
    const Folder folder;
    const std::string file = folder.write("m.mtx", matrix(2, full_blocks({2})));
    for (const std::string name : {"out", "out.jpg", ".svg", "out.SVG.gz"}) {
        const Run r = command::run(folder, arguments(file, {"--plot", folder / name}));
        CAPTURE(name);
        CHECK(r.code == 2);
        CHECK(contains(r.err, ".svg, .png and .pdf"));
    }
    for (const std::string name : {"missing/out.svg", "m.mtx/out.svg"}) {
        const Run r = command::run(folder, arguments(file, {"--plot", folder / name}));
        CHECK(r.code == 2);
        CHECK(contains(r.err, "cannot write"));
        CHECK(r.out.empty());
    }
    CHECK(command::run(folder, arguments(folder / "none.mtx", {"--plot", folder / "out.svg"})).code == 2);
    CHECK(command::run(folder, {"compute", file, "--plot", folder / "out.svg"}).code == 2);
}

TEST_CASE("plot: a gnuplot that fails") {
    const Folder folder;
    const std::string file = folder.write("m.mtx", matrix(2, full_blocks({2})));
    const std::string path = std::getenv("PATH");
    const auto said_of = [&](const std::string &script) {
        const std::string program = folder.write("gnuplot", "#!/bin/sh\n" + script + "\n");
        fs::permissions(program, fs::perms::owner_all);
        setenv("PATH", (folder.path() + ":" + path).c_str(), 1);
        const Run r = command::run(folder, arguments(file, {"--plot", folder / "out.svg"}));
        setenv("PATH", path.c_str(), 1);
        CHECK(r.code == 1);
        CHECK_FALSE(fs::exists(folder / "out.svg"));
        return r.err;
    };
    const std::string ended = said_of("echo no such terminal >&2; exit 3");
    CHECK(contains(ended, "--plot: gnuplot ended with exit status 3"));
    CHECK(contains(ended, "no such terminal"));
    CHECK(contains(said_of("kill -9 $$"), "--plot: gnuplot was ended by signal 9"));
}

TEST_CASE("plot: without gnuplot") {
    const Folder folder;
    const std::string file = folder.write("m.mtx", matrix(2, full_blocks({2})));
    const std::string path = std::getenv("PATH");
    setenv("PATH", folder.path().c_str(), 1);
    const Run r = command::run(folder, arguments(file, {"--plot", folder / "out.svg"}));
    setenv("PATH", path.c_str(), 1);
    CHECK(r.code == 3);
    CHECK(contains(r.err, "gnuplot-nox"));
}
