#include "preprocess/frontier_slices.hpp"

#include "preprocess/matching.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr std::int32_t most_slots = 64;

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

// Subsets of k of w, by Pascal's triangle: exact below 2^53, and the same everywhere above.
class Binomials {
  public:
    Binomials() {
        for (std::size_t w = 0; w <= most_slots; ++w)
            for (std::size_t k = 0; k <= w; ++k)
                c_[w][k] = k == 0 || k == w ? 1 : c_[w - 1][k - 1] + c_[w - 1][k];
    }
    double operator()(std::int32_t w, std::int32_t k) const { return k < 0 || k > w ? 0 : c_[at(w)][at(k)]; }

  private:
    double c_[most_slots + 1][most_slots + 1] = {};
};

double subsets(std::int32_t w, std::int32_t k) {
    static const Binomials binomials;
    return binomials(w, k);
}

// The steps with an entry of the column that is open in the slot after a step.
std::vector<std::int32_t> steps_of(const FrontierProgram &program, std::int32_t step, std::int32_t slot) {
    std::vector<std::int32_t> steps;
    const auto find = [&](std::int32_t t) -> const FrontierTerm * {
        for (const FrontierTerm &term : program.steps[at(t)].terms)
            if (term.slot == slot) return &term;
        return nullptr;
    };
    for (std::int32_t t = step; t >= 0; --t)
        if (const FrontierTerm *term = find(t)) {
            steps.push_back(t);
            if (term->opens) break;
        }
    std::reverse(steps.begin(), steps.end());
    for (std::int32_t t = step + 1; t < std::ssize(program.steps); ++t)
        if (const FrontierTerm *term = find(t)) {
            steps.push_back(t);
            if (term->closes) break;
        }
    return steps;
}

bool is_open(const FrontierProgram &program, const FixedColumn &fixed) {
    for (std::int32_t t = fixed.step; t >= 0; --t)
        for (const FrontierTerm &term : program.steps[at(t)].terms)
            if (term.slot == fixed.slot) return !term.closes;
    return false;
}

void fix(FrontierProgram &program, const FixedColumn &fixed) {
    const auto is_of_column = [&fixed](const FrontierTerm &t) { return t.slot == fixed.slot; };
    const std::vector<std::int32_t> steps = steps_of(program, fixed.step, fixed.slot);
    const auto cut = std::upper_bound(steps.begin(), steps.end(), fixed.step);
    const auto lost_begin = fixed.before ? cut : steps.begin(), lost_end = fixed.before ? steps.end() : cut;
    for (auto t = lost_begin; t != lost_end; ++t) std::erase_if(program.steps[at(*t)].terms, is_of_column);
    std::vector<FrontierTerm> &end = program.steps[at(fixed.before ? *(cut - 1) : *cut)].terms;
    FrontierTerm &term = *std::find_if(end.begin(), end.end(), is_of_column);
    if (fixed.before) {
        term.closes = true;
        term.least = term.multiplicity;
    } else {
        term.opens = true;
    }
}

// What follows from the terms. The states of a slice are among those of the whole, so their bounds hold too.
void count_again(FrontierProgram &program) {
    std::int32_t width = 0, used = 0;
    for (FrontierStep &step : program.steps) {
        step.width_before = width;
        step.used_before = used++;
        double branches = 0; // entries whose column is free, on average over all states
        for (const FrontierTerm &t : step.terms) {
            branches += t.opens ? 1.0 : 1.0 - static_cast<double>(step.used_before) / step.width_before;
            width += t.opens;
        }
        for (const FrontierTerm &t : step.terms) {
            width -= t.closes;
            used -= t.closes;
        }
        step.width_after = width;
        step.used_after = used;
        step.states_bound = std::min(step.states_bound, subsets(width, used));
        step.expansions_bound =
            std::min(step.expansions_bound, subsets(step.width_before, step.used_before) * branches);
    }
}

// No permutation takes all its entries from the program's.
bool is_dead(const FrontierProgram &program) {
    Pattern entries;
    std::vector<std::int32_t> column_of(at(program.slots));
    for (const FrontierStep &step : program.steps) {
        for (const FrontierTerm &t : step.terms) {
            if (t.opens) column_of[at(t.slot)] = entries.cols++;
            entries.col.push_back(column_of[at(t.slot)]);
        }
        ++entries.rows;
        entries.row_ptr.push_back(std::ssize(entries.col));
    }
    return maximum_matching(entries).size < entries.rows;
}

// A program's tables, and what becomes of them when a column is not open in some of the steps.
class Tables {
  public:
    explicit Tables(const FrontierProgram &program) : steps_(program.steps), highest_after_(steps_.size()) {
        for (std::size_t t = 0; t < steps_.size(); ++t) {
            highest_before_.push_back(highest_);
            highest_ = std::max(highest_, states(t));
            if (states(t) == highest_) widest_ = static_cast<std::int32_t>(t);
            work_ += work(t, states(t));
        }
        for (std::size_t t = steps_.size(); t-- > 1;)
            highest_after_[t - 1] = std::max(highest_after_[t], states(t));
    }

    double highest() const { return highest_; } // states after a step
    std::int32_t widest() const { return widest_; }

    struct Change {
        double work, highest; // 0: no states are left
    };
    // After the steps first .. end - 1 the column is closed: used, or not yet met.
    Change without(std::int32_t first, std::int32_t end, bool used) const {
        Change change{work_, std::max(highest_before_[at(first)], highest_after_[at(end - 1)])};
        for (std::size_t t = at(first); t < at(end); ++t) {
            const double left = subsets(steps_[t].width_after - 1, steps_[t].used_after - used);
            if (left == 0) return {0, 0};
            change.work += work(t, left) - work(t, states(t));
            change.highest = std::max(change.highest, left);
        }
        return change;
    }

  private:
    double states(std::size_t t) const { return subsets(steps_[t].width_after, steps_[t].used_after); }
    // Each state is written, and read for the entries of the next row.
    double work(std::size_t t, double states) const {
        return states * (t + 1 < steps_.size() ? 1.0 + static_cast<double>(steps_[t + 1].terms.size()) : 1.0);
    }

    const std::vector<FrontierStep> &steps_;
    std::vector<double> highest_before_, highest_after_; // of the steps before it, after it
    double highest_ = 0, work_ = 0;
    std::int32_t widest_ = 0;
};

class Cutter {
  public:
    explicit Cutter(const SliceSearch &search) : search_(search) {}

    std::vector<FrontierSlice> run(const FrontierProgram &program) {
        if (search_.poll) search_.poll();
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
        return seconds_ > search_.most_seconds || slices_ > static_cast<double>(search_.most_slices);
    }

    // False once the limits forbid the whole.
    bool cut(const Part &part) {
        if (search_.poll) search_.poll();
        if (is_past_limits()) return false;
        if (part.needs.bytes <= search_.most_bytes) {
            found_.push_back(part.slice);
            return true;
        }
        if (!can_be_cut(part)) return false;
        const std::vector<Part> halves = halves_of(part);
        count(part, -1);
        for (const Part &half : halves) count(half, 1);
        return std::all_of(halves.begin(), halves.end(), [this](const Part &half) { return cut(half); });
    }

    // What all slices come to, from a few of them: one that is drawn with probability p stands for 1/p
    // (Knuth, Estimating the efficiency of backtrack programs, Math. Comp. 29, 1975).
    bool is_hopeless(const Part &whole) const {
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
    Drawn draw(Part part, std::uint64_t &random) const {
        double probability = 1;
        const double least = 1 / (draws * clearly * static_cast<double>(search_.most_slices));
        while (probability >= least && part.needs.bytes > search_.most_bytes && can_be_cut(part)) {
            if (search_.poll) search_.poll();
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

    static bool can_be_cut(const Part &part) { return Tables(part.program).highest() > 1; }

    // Without what is dead.
    std::vector<Part> halves_of(const Part &part) const {
        FixedColumn fixed =
            best_cut(part.program, Tables(part.program), part.needs.bytes / search_.most_bytes);
        std::vector<Part> halves;
        for (const bool before : {true, false}) {
            fixed.before = before;
            const FrontierProgram program = slice_of(part.program, {fixed});
            if (is_dead(program)) continue;
            halves.push_back(part_of(program, part.slice));
            halves.back().slice.push_back(fixed);
        }
        return halves;
    }

    // A slice that has a share of the memory it needs must be cut on, and that costs work: about in
    // proportion to the root of what is missing.
    static double price(const Tables::Change &part, double missing) {
        return part.work * std::sqrt(std::max(1.0, missing * part.highest));
    }

    // Of a column that is open where most states are, between two of its entries. `over`: how many times
    // the memory there is the program needs.
    static FixedColumn best_cut(const FrontierProgram &program, const Tables &tables, double over) {
        struct Choice {
            FixedColumn fixed;
            double price;
        };
        std::vector<Choice> choices;
        const double missing = over / tables.highest();
        for (const std::int32_t slot : open_slots(program, tables.widest())) {
            const std::vector<std::int32_t> steps = steps_of(program, tables.widest(), slot);
            for (std::size_t k = 0; k + 1 < steps.size(); ++k)
                choices.push_back({{steps[k], slot, true},
                                   price(tables.without(steps[k], steps.back(), true), missing) +
                                       price(tables.without(steps.front(), steps[k + 1], false), missing)});
        }
        constexpr double near = 1.02; // tables are read along the low slots: better full ones
        const auto cheaper = [](const Choice &x, const Choice &y) { return x.price < y.price; };
        const double enough = near * std::min_element(choices.begin(), choices.end(), cheaper)->price;
        std::erase_if(choices, [enough](const Choice &c) { return c.price > enough; });
        return std::min_element(choices.begin(), choices.end(),
                                [&](const Choice &x, const Choice &y) {
                                    return x.fixed.slot != y.fixed.slot ? x.fixed.slot > y.fixed.slot
                                                                        : cheaper(x, y);
                                })
            ->fixed;
    }

    static std::vector<std::int32_t> open_slots(const FrontierProgram &program, std::int32_t after) {
        std::vector<char> open(at(program.slots), 0);
        for (std::int32_t t = 0; t <= after; ++t)
            for (const FrontierTerm &term : program.steps[at(t)].terms) open[at(term.slot)] = !term.closes;
        std::vector<std::int32_t> slots;
        for (std::int32_t s = 0; s < program.slots; ++s)
            if (open[at(s)]) slots.push_back(s);
        return slots;
    }

    const SliceSearch &search_;
    std::vector<FrontierSlice> found_;
    double seconds_ = 0, slices_ = 0; // so far known: of the slices found and the parts not cut yet
};

} // namespace

FrontierProgram slice_of(const FrontierProgram &program, const FrontierSlice &slice) {
    FrontierProgram part = program;
    for (const FixedColumn &fixed : slice) fix(part, fixed);
    if (!slice.empty()) count_again(part);
    return part;
}

bool has_slice(const FrontierProgram &program, const FrontierSlice &slice) {
    if (program.counts || program.slots > most_slots) return false;
    FrontierProgram part = program;
    for (const FixedColumn &fixed : slice) {
        if (fixed.step < 0 || fixed.step >= std::ssize(part.steps) || !is_open(part, fixed)) return false;
        fix(part, fixed);
    }
    return !is_dead(part);
}

std::vector<FrontierSlice> find_slices(const FrontierProgram &program, const SliceSearch &search) {
    if (program.counts || program.slots > most_slots) return {};
    return Cutter(search).run(program);
}

} // namespace libperm
