#include "jit/kernel/sieve_walk.hpp"

#include "jit/compile/digest.hpp"
#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace libperm {
namespace {

// As many as a step leaves of what a warp takes, beside those that were too few for it.
std::size_t capacity_of(const SieveProgram &program) {
    std::size_t branches = 0;
    for (const SieveProgram::Step &step : program.steps) branches = std::max(branches, step.branches.size());
    return sieve_threads * (branches + 1);
}

std::size_t block_words(const SieveProgram &program, std::size_t step) {
    return program.prefix_words() - program.first_word(step);
}

// Codes by count, each list once: rows of as many entries have the same.
class Tables {
  public:
    std::size_t place(const SieveProgram::Finish &row, std::size_t code) {
        const auto begin = row.codes[code].begin();
        const std::vector<std::uint32_t> table(begin, begin + std::ssize(row.factors));
        const auto [known, is_new] = place_.try_emplace(table, values_.size());
        if (is_new) values_.insert(values_.end(), table.begin(), table.end());
        return known->second;
    }
    std::size_t size() const { return values_.size(); }
    std::string text() const {
        std::string text;
        for (const std::uint32_t x : values_) text += formatted("{}u, ", x);
        return text;
    }

  private:
    std::map<std::vector<std::uint32_t>, std::size_t> place_;
    std::vector<std::uint32_t> values_;
};

// A step's function.
class StepText {
  public:
    StepText(const SieveProgram &program, std::size_t number, Tables &tables)
        : program_(program),
          step_(program.steps[number]),
          in_first_(program.first_word(number)),
          is_last_(number + 1 == program.steps.size()),
          tables_(tables) {}

    std::string text(std::size_t level, std::size_t from, std::size_t to) {
        text_ = formatted("\n__device__ __forceinline__ u32 step_{}(u32 *room, u32 own, bool on, u32 out, "
                          "const u32 *tables, Counts &counts) {{\n",
                          level);
        if (!is_last_) text_ += formatted("    u32 *const to = room + {};\n", to);
        text_ += formatted("    const u32 *const from = room + {} + own;\n", from);
        for (std::uint32_t w = in_first_; w < program_.prefix_words(); ++w)
            text_ += formatted("    const u32 x{} = on ? from[{} * capacity] : 0;\n", w, w - in_first_);
        for (std::size_t i = 0; i < step_.finishes.size(); ++i) {
            const SieveProgram::Finish &row = step_.finishes[i];
            text_ += formatted("    const u32 f{} = x{} >> {} & {}u;\n", i, row.word, row.shift, row.mask);
        }
        for (const SieveProgram::Branch &branch : step_.branches) put(branch);
        return std::move(text_) + "    return out;\n}\n";
    }

  private:
    static std::uint32_t added(const SieveProgram::Branch &branch, const SieveProgram::Finish &row) {
        return branch.adds[row.word] >> row.shift & row.mask;
    }

    void put(const SieveProgram::Branch &branch) {
        text_ += "    {\n        const bool stays = on";
        for (std::size_t i = 0; i < step_.finishes.size(); ++i) {
            const SieveProgram::Finish &row = step_.finishes[i];
            const std::uint32_t add = added(branch, row);
            if (add <= row.vanishes && row.vanishes <= row.mask)
                text_ += formatted(" & (f{} != {}u)", i, row.vanishes - add);
        }
        text_ += ";\n        const u32 place = place_of(stays, out);\n        if (stays) {\n";
        for (std::uint32_t c = 0; c < program_.codes; ++c) {
            text_ += formatted("            const u32 code{} = x{}", c, program_.words + c);
            if (c == 0 && branch.sign != 0) text_ += formatted(" + {}u", branch.sign);
            for (std::size_t i = 0; i < step_.finishes.size(); ++i)
                text_ += formatted(" + tables[{} + f{}]",
                                   tables_.place(step_.finishes[i], c) + added(branch, step_.finishes[i]), i);
            text_ += ";\n";
        }
        is_last_ ? put_count() : put_words(branch);
        text_ += "        }\n    }\n";
    }

    void put_words(const SieveProgram::Branch &branch) {
        for (std::uint32_t w = step_.first_word; w < program_.words; ++w) {
            text_ += formatted("            to[{} * capacity + place] = x{}", w - step_.first_word, w);
            text_ += branch.adds[w] != 0 ? formatted(" + {}u;\n", branch.adds[w]) : ";\n";
        }
        for (std::uint32_t c = 0; c < program_.codes; ++c)
            text_ += formatted("            to[{} * capacity + place] = code{};\n",
                               program_.words - step_.first_word + c, c);
    }

    void put_count() {
        std::string cell = formatted("(code0 & {}u)", sieve_sign - 1);
        if (program_.codes > 1) cell += formatted(" + u64{{{}}} * code1", program_.values(0));
        text_ += formatted("            counts.add({}, code0 >> 31 != 0);\n", cell);
    }

    const SieveProgram &program_;
    const SieveProgram::Step &step_;
    const std::uint32_t in_first_;
    const bool is_last_;
    Tables &tables_;
    std::string text_;
};

std::string source_of(const SieveProgram &program, std::size_t first_step) {
    const std::uint64_t cells = sieve_cells(program);
    Tables tables;
    std::string steps, cases;
    std::size_t place = 0;
    for (std::size_t k = first_step; k < program.steps.size(); ++k) {
        const std::size_t next = place + block_words(program, k) * capacity_of(program);
        steps += StepText(program, k, tables).text(k - first_step, place, next);
        cases += formatted("        case {0}: return step_{0}(room, own, on, out, tables, counts);\n",
                           k - first_step);
        place = next;
    }
    return formatted(
               "// libperm: the walk over signs of {} columns and rows in {} steps.\n\n"
               "typedef unsigned long long u64;\ntypedef unsigned int u32;\n\n"
               "constexpr u32 first_word = {}, prefix_words = {}, levels = {}, capacity = {}, table_words = "
               "{}, "
               "near_cells = {};\n"
               "constexpr u64 room_words = {};\n__device__ const u32 table_values[table_words] = {{{}}};\n\n",
               program.prefix_words(), program.steps.size(), program.first_word(first_step),
               program.prefix_words(), program.steps.size() - first_step, capacity_of(program),
               std::max<std::size_t>(1, tables.size()), cells <= near_sieve_cells ? cells : 0,
               sieve_room_words(program, first_step), tables.size() > 0 ? tables.text() : "0") +
           sieve_walk_cuh + steps +
           "\nstruct Steps {\n"
           "    static __device__ __forceinline__ u32 go(u32 step, u32 *room, u32 own, bool on, u32 out,\n"
           "                                             const u32 *tables, Counts &counts) {\n"
           "        switch (step) {\n" +
           cases + "        }\n        return out;\n    }\n};\n" +
           entry_text(sieve_entry, std::to_string(sieve_threads), "const __grid_constant__ SieveWalks all",
                      "    walk_signs<Steps>(all);\n");
}

} // namespace

std::uint64_t sieve_cells(const SieveProgram &program) {
    const std::uint64_t first = program.values(0), others = program.codes > 1 ? program.values(1) : 1;
    return first <= most_sieve_cells / others ? first * others : 0;
}

std::size_t sieve_room_words(const SieveProgram &program, std::size_t first_step) {
    std::size_t words = 0;
    for (std::size_t k = first_step; k < program.steps.size(); ++k)
        words += block_words(program, k) * capacity_of(program);
    return words;
}

KernelRecipe sieve_kernel(const SieveProgram &program, std::size_t first_step) {
    std::string source = source_of(program, first_step);
    return recipe_of("signs without vanishing prefixes " + digest_of_bytes(source),
                     [source] { return source; }, {sieve_entry});
}

} // namespace libperm
