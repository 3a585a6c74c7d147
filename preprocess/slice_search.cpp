// Slices of either kind of program, and the search for those that fit.
#include "preprocess/frontier_slices.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace libperm {
namespace {

bool is_tree(const FrontierProgram &program) { return !program.branches.empty(); }

// A program's tables, and what becomes of them when a line waits in some of them no more.
class Tables {
  public:
    Tables(const FrontierProgram &program, bool ranked)
        : tables_(is_tree(program) ? branch_tables(program) : path_tables(program, ranked)) {
        for (std::size_t t = 0; t < tables_.size(); ++t) {
            states_.push_back(tables_[t].states);
            highest_ = std::max(highest_, states_[t]);
            if (states_[t] == highest_) widest_ = static_cast<std::int32_t>(t);
            work_ += tables_[t].work;
        }
    }

    double highest() const { return highest_; } // states of a table
    std::int32_t widest() const { return widest_; }

    struct Change {
        double work, highest; // 0: no states are left
    };
    Change without(const std::vector<SliceCut::Closed> &closed) const {
        Change change{work_, 0};
        std::vector<double> states = states_;
        for (const SliceCut::Closed &c : closed) {
            const SliceTable &table = tables_[at(c.table)];
            const double lines = c.used ? table.used : table.width - table.used;
            if (table.states > 0 && lines <= 0) return {0, 0};
            const double left = table.states * lines / std::max(1, table.width);
            states[at(c.table)] = left;
            if (table.states > 0) change.work += table.work * (left / table.states - 1);
        }
        change.highest = *std::max_element(states.begin(), states.end());
        return change;
    }

  private:
    const std::vector<SliceTable> tables_;
    std::vector<double> states_;
    double highest_ = 0, work_ = 0;
    std::int32_t widest_ = 0;
};

class Cutter {
  public:
    explicit Cutter(const SliceSearch &search) : search_(search) {}

    std::vector<FrontierSlice> run(const FrontierProgram &program) {
        poll();
        const Part whole = part_of(program, {});
        count(whole, 1);
        if (is_past_limits() || is_hopeless(whole) || !cut(whole)) found_.clear();
        return std::move(found_);
    }

  private:
    // A slice in the making.
    struct Part {
        FrontierProgram program;
        FrontierSlice slice;
        SliceNeeds needs;
    };

    Part part_of(const FrontierProgram &program, const FrontierSlice &slice) const {
        return {program, slice, search_.needs(program)};
    }

    // Into what all slices will come to: those that a part is cut into hardly ever take less time than it
    // did, and none has more than the memory there is.
    void count(const Part &part, int times) {
        seconds_ += times * part.needs.seconds;
        slices_ += times * std::ceil(part.needs.bytes / search_.most_bytes);
    }

    bool is_past_limits() const {
        return seconds_ > search_.most_seconds || slices_ > static_cast<double>(search_.most_slices) ||
               search_.cut_seconds * cuts_ > std::max(5.0, seconds_ / 20);
    }

    // False once the limits forbid the whole.
    bool cut(const Part &part) {
        poll();
        if (is_past_limits()) return false;
        if (part.needs.bytes <= search_.most_bytes) {
            found_.push_back(part.slice);
            return true;
        }
        const std::vector<Part> halves = halves_of(part);
        if (halves.empty()) return false;
        count(part, -1);
        for (const Part &half : halves) count(half, 1);
        return std::all_of(halves.begin(), halves.end(), [this](const Part &half) { return cut(half); });
    }

    // What all slices come to, from a few of them: one that is drawn with probability p stands for 1/p
    // (Knuth, Estimating the efficiency of backtrack programs, Math. Comp. 29, 1975).
    bool is_hopeless(const Part &whole) {
        std::uint64_t random = 0x9e3779b97f4a7c15u;
        double seconds = 0, slices = 0;
        for (int k = 0; k < draws; ++k) {
            const Drawn one = draw(whole, random);
            seconds += one.seconds / one.probability / draws;
            slices += 1 / one.probability / draws;
        }
        return seconds > clearly * search_.most_seconds ||
               slices > clearly * static_cast<double>(search_.most_slices);
    }

    static constexpr int draws = 16;
    static constexpr double clearly = 2;

    struct Drawn {
        double seconds, probability;
    };
    // Down the tree, by the share of the work that is there, until it alone says that there are too many.
    Drawn draw(Part part, std::uint64_t &random) {
        double probability = 1;
        const double least = 1 / (draws * clearly * static_cast<double>(search_.most_slices));
        while (probability >= least && part.needs.bytes > search_.most_bytes && !is_past_limits()) {
            poll();
            std::vector<Part> halves = halves_of(part);
            if (halves.empty()) break;
            double all = 0;
            for (const Part &half : halves) all += half.needs.seconds;
            random ^= random >> 12, random ^= random << 25, random ^= random >> 27; // xorshift64*
            const double below = static_cast<double>((random * 0x2545f4914f6cdd1du) >> 11) * 0x1p-53;
            Part &next = below * all < halves.front().needs.seconds ? halves.front() : halves.back();
            probability *= next.needs.seconds / all;
            part = std::move(next);
        }
        return {part.needs.seconds, probability};
    }

    Tables tables_of(const Part &part) const { return {part.program, search_.ranked}; }

    // Without what is dead; none: there is nothing to cut.
    std::vector<Part> halves_of(const Part &part) {
        ++cuts_;
        std::vector<Part> halves;
        std::optional<FixedLine> fixed = best_cut(part);
        for (const bool before : {true, false}) {
            if (!fixed) break;
            fixed->before = before;
            if (!has_slice(part.program, {*fixed})) continue;
            halves.push_back(part_of(slice_of(part.program, {*fixed}), part.slice));
            halves.back().slice.push_back(*fixed);
        }
        return halves;
    }

    // A slice that has a share of the memory it needs must be cut on, and that costs work: about in
    // proportion to the root of what is missing.
    static double price(const Tables::Change &part, double missing) {
        return part.work * std::sqrt(std::max(1.0, missing * part.highest));
    }

    // Of a line that waits where most states are. None: no line can be told apart there.
    std::optional<FixedLine> best_cut(const Part &part) const {
        struct Choice {
            FixedLine fixed;
            double price;
        };
        const Tables tables = tables_of(part);
        if (tables.highest() <= 1) return {};
        const double missing = part.needs.bytes / search_.most_bytes / tables.highest();
        std::vector<Choice> choices;
        for (const SliceCut &cut : is_tree(part.program) ? branch_cuts(part.program, tables.widest())
                                                         : path_cuts(part.program, tables.widest()))
            choices.push_back({cut.fixed, price(tables.without(cut.closed[1]), missing) +
                                              price(tables.without(cut.closed[0]), missing)});
        if (choices.empty()) return {};
        constexpr double near = 1.02; // tables are read along the low slots: better full ones
        const auto cheaper = [](const Choice &x, const Choice &y) { return x.price < y.price; };
        const double enough = near * std::min_element(choices.begin(), choices.end(), cheaper)->price;
        std::erase_if(choices, [enough](const Choice &c) { return c.price > enough; });
        return std::min_element(choices.begin(), choices.end(),
                                [&](const Choice &x, const Choice &y) {
                                    return x.fixed.line != y.fixed.line ? x.fixed.line > y.fixed.line
                                                                        : cheaper(x, y);
                                })
            ->fixed;
    }

    const SliceSearch &search_;
    std::vector<FrontierSlice> found_;
    double cuts_ = 0;                 // that were made
    double seconds_ = 0, slices_ = 0; // so far known: of the slices found and the parts not cut yet
};

} // namespace

FrontierProgram slice_of(const FrontierProgram &program, const FrontierSlice &slice) {
    return is_tree(program) ? branch_slice(program, slice) : path_slice(program, slice);
}

bool has_slice(const FrontierProgram &program, const FrontierSlice &slice) {
    return is_tree(program) ? has_branch_slice(program, slice) : has_path_slice(program, slice);
}

std::vector<FrontierSlice> find_slices(const FrontierProgram &program, const SliceSearch &search) {
    return Cutter(search).run(program);
}

} // namespace libperm
