#include "bench/named_matrix.hpp"

#include "bench/families.hpp"
#include "capi/command/matrix_file.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <vector>

namespace {

namespace families = perm::families;
using families::Entries;

struct Family {
    std::size_t min_numbers, max_numbers;
    std::function<perm::Csr(const std::vector<int> &)> make;
};

// A family's name is followed by its numbers: grid8x8, er40_30.
const std::map<std::string, Family> &named_families() {
    using Numbers = const std::vector<int> &;
    constexpr Entries some = Entries::nonnegative;
    static const std::map<std::string, Family> table{
        {"mycielskian", {1, 1, [](Numbers k) { return families::mycielskian(k[0]); }}},
        {"hypercube", {1, 1, [](Numbers d) { return families::hypercube(d[0]); }}},
        {"aztec", {1, 1, [](Numbers k) { return families::aztec_diamond(k[0]); }}},
        {"ones", {1, 1, [](Numbers n) { return families::constant(n[0], 1.0); }}},
        {"constant",
         {2, 2, [](Numbers n) { return families::constant(n[0], n[1] / 100.0); }}}, // order, percent
        {"grid", {2, 3, [](Numbers n) { return families::grid(n[0], n[1], n.size() > 2 ? n[2] : 1); }}},
        // order, entries beside the diagonal on either side
        {"banded", {2, 2, [](Numbers n) { return families::banded(n[0], n[1], n[1], some, 1); }}},
        {"er",
         {2, 2, [](Numbers n) { return families::erdos_renyi(n[0], n[1] / 100.0, some, 1); }}}, // percent
        {"signed",
         {2, 2, [](Numbers n) { return families::erdos_renyi(n[0], n[1] / 100.0, Entries::real, 1); }}},
        {"power", {1, 1, [](Numbers n) { return families::power_network(n[0], some, 1); }}},
        {"roads", {1, 1, [](Numbers n) { return families::roads(n[0], some, 1); }}},
        {"blocktree", {2, 2, [](Numbers n) { return families::block_tree(n[0], n[1], some, 1); }}},
        {"div", {1, 1, [](Numbers n) { return families::divisors(n[0]); }}},
        {"process", {1, 1, [](Numbers n) { return families::process(n[0], some, 1); }}},
        {"mesh",
         {2, 3,
          [](Numbers n) {
              return n.size() > 2 ? families::mesh3d(n[0], n[1], n[2], some, 1)
                                  : families::mesh2d(n[0], n[1], some, 1);
          }}},
        {"mesh9p", {2, 2, [](Numbers n) { return families::mesh2d9(n[0], n[1], some, 1); }}},
        // number of blocks, their order, percent of entries
        {"blocks",
         {3, 3, [](Numbers n) { return families::block_triangular(n[0], n[1], n[2] / 100.0, some, 1); }}},
        {"chain",
         {3, 3, [](Numbers n) { return families::chain_of_blocks(n[0], n[1], n[2] / 100.0, some, 1); }}},
        {"hanging",
         {2, 2, [](Numbers n) { return families::degree_chains(n[0], n[1], some, 1); }}}, // order, core
        // order, kinds of rows, kinds of columns
        {"repeated", {3, 3, [](Numbers n) { return families::repeated_lines(n[0], n[1], n[2], some, 1); }}},
        {"proportional",
         {3, 3, [](Numbers n) { return families::proportional_lines(n[0], n[1], n[2], some, 1); }}},
    };
    return table;
}

std::optional<Matrix> family_member(const std::string &name) {
    const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    const auto first_digit = std::find_if(name.begin(), name.end(), digit);
    const auto family = named_families().find(std::string(name.begin(), first_digit));
    if (family == named_families().end()) return std::nullopt;

    std::vector<int> numbers;
    for (auto at = first_digit; at != name.end();) {
        const auto end = std::find_if_not(at, name.end(), digit);
        if (end == at || end - at > 6) return std::nullopt;
        numbers.push_back(std::stoi(std::string(at, end)));
        at = end == name.end() ? end : end + 1; // over the x or _ between two numbers
    }
    const auto &[min_numbers, max_numbers, make] = family->second;
    if (numbers.size() < min_numbers || numbers.size() > max_numbers) return std::nullopt;
    return Matrix{name, "generated", [make = make, numbers] { return make(numbers); }};
}

} // namespace

std::optional<Matrix> find_matrix(const std::string &name) {
    namespace fs = std::filesystem;
    fs::path file = name;
    if (const char *folder = std::getenv("PERM_MATRIX_DIR"); folder && !fs::is_regular_file(file))
        file = fs::path(folder) / (name + ".mtx");
    if (fs::is_regular_file(file))
        return Matrix{file.stem().string(), file.string(),
                      [file] { return perm::read_matrix_file(file.string()); }};
    return family_member(name);
}
