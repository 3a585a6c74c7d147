#include "lib/execute/graph_minors.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/execute/execute.hpp"
#include "lib/number/ball.hpp"
#include "lib/number/doubles.hpp"
#include "lib/run/call.hpp"
#include "lib/run/placement.hpp"
#include "lib/tape/gradient_entries.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace libperm {
namespace {

// A hafnian in doubles: |re + i im - haf| <= error.
struct Hafnian {
    Scaled re, im, size, error;

    explicit Hafnian(const Outcome &of) : re(of.value), size(of.value), error(of.error) {
        if (!of.wide) return;
        const Tracked parts[] = {tracked_of(of.wide->re), tracked_of(of.wide->im)};
        re = make_scaled(parts[0].value, parts[0].exp2);
        im = make_scaled(parts[1].value, parts[1].exp2);
        if (parts[0].roundings + parts[1].roundings > 0)
            error = (Ball{{}, error} + Ball{{}, make_scaled(of.value.mantissa, of.value.exp2 - double_bits)})
                        .error;
    }
};

// The plan's work with these values, which outlive it; or a plan's that is made for those that are not 0.
class Reduced {
  public:
    Reduced(const Plan &plan, const Values &values, bool is_planned_anew) : plan_(&plan), values_(&values) {
        if (!is_planned_anew) return;
        InputPattern input = plan.input;
        left_ = values;
        simplify(input, left_);
        made_ = make_plan(std::move(input), plan.options, left_);
        plan_ = &made_;
        values_ = &left_;
    }
    Reduced(const Reduced &) = delete;
    Reduced &operator=(const Reduced &) = delete;

    const Plan &plan() const { return *plan_; }
    const Values &values() const { return *values_; }

  private:
    Plan made_;
    Values left_;
    const Plan *plan_;
    const Values *values_;
};

// The hafnians of a plan's graph without the lines of each entry.
class GraphMinors {
  public:
    GraphMinors(const Plan &plan, const void *values)
        : plan_(plan),
          values_(values_for_derivatives(plan.input, values)),
          copies_(copies_of(plan.input, caller_places(plan.input))),
          is_planned_anew_(some_zero(values_) || plan.serial_seconds > dear),
          entries_of_(at(plan.n())) {
        const Pattern &a = plan.input.pattern;
        for (std::int32_t i = 0; i < a.rows; ++i) {
            std::int64_t entry = a.row_begin(i);
            for (const std::int32_t j : a.row(i)) {
                lines_.push_back({i, j});
                entries_of_[at(i)].push_back(at(entry));
                if (j != i) entries_of_[at(j)].push_back(at(entry));
                ++entry;
            }
        }
    }

    std::size_t count() const { return copies_.size(); } // of the caller's values

    // take(c, the value, copies of it, its minor) of each of the caller's values that has an entry.
    void run(const std::function<void(std::size_t, std::size_t, double, const Hafnian &)> &take) {
        std::vector<std::vector<std::size_t>> places(lines_.size()); // of entries that stand for others
        for (std::size_t c = 0; c < copies_.size(); ++c)
            if (copies_[c].count > 0) places[at(copies_[c].entry)].push_back(c);
        for (std::size_t entry = 0; entry < places.size(); ++entry) {
            if (places[entry].empty()) continue;
            const Values left = without_lines_of(entry);
            const Hafnian minor(uncounted([&] { return executed(Reduced(plan_, left, is_planned_anew_)); }));
            call().advance(1);
            for (const std::size_t c : places[entry])
                take(c, entry, static_cast<double>(copies_[c].count), minor);
        }
    }

    // Throws Error if all take too long.
    Outcome whole() {
        call().begin(0, 0);
        const Reduced whole = uncounted([&] { return Reduced(plan_, values_, is_planned_anew_); });
        const double seconds = seconds_of_minors(whole.plan());
        if (whole.plan().refusal == PERM_OK && seconds > plan_.options.refuse_seconds)
            throw refused_for_time(formatted("the derivatives by {} hafnians are", lines_.size() + 1),
                                   seconds, plan_.options);
        call().begin(static_cast<double>(lines_.size()) + 1, seconds);
        Outcome outcome = uncounted([&] { return executed(whole); });
        call().advance(1);
        return outcome;
    }

    const Values &values() const { return values_; }
    const Counts &counts() const { return counts_; }

  private:
    static constexpr double dear = 0.1; // seconds: a plan of what is left takes less, and saves most of them

    static bool some_zero(const Values &values) {
        return std::find(values.real.begin(), values.real.end(), 0.0) != values.real.end() ||
               std::any_of(values.wide.begin(), values.wide.end(),
                           [](const Gaussian &x) { return is_zero(x); });
    }

    Outcome executed(const Reduced &of) {
        Outcome outcome = execute(of.plan(), of.values());
        counts_ += outcome.counts;
        return outcome;
    }

    Values without_lines_of(std::size_t entry) const {
        Values values = values_;
        const auto set = [&values](std::size_t k, int x) {
            if (values.wide.empty())
                values.real[k] = x;
            else
                values.wide[k] = {x, 0};
        };
        for (const std::int32_t line : lines_[entry])
            for (const std::size_t k : entries_of_[at(line)]) set(k, 0);
        set(entry, 1);
        return values;
    }

    const Plan &plan_;
    const Values values_; // by entry of the plan's pattern
    const std::vector<EntryCopies> copies_;
    const bool is_planned_anew_;
    std::vector<std::array<std::int32_t, 2>> lines_;   // of each entry
    std::vector<std::vector<std::size_t>> entries_of_; // of each line
    Counts counts_;
};

TapeAnswer answer_of_whole(const Hafnian &whole, Outcome of, const GraphMinors &minors, Outcome &outcome) {
    TapeAnswer answer;
    answer.re = whole.re;
    answer.im = whole.im;
    answer.exact = whole.error.mantissa == 0;
    answer.set_error(whole.size, whole.error);
    outcome = std::move(of);
    outcome.wide.reset();
    outcome.value = answer.re;
    outcome.error = answer.error;
    outcome.rel_error_bound = answer.rel_error_bound;
    outcome.exact = answer.exact;
    outcome.counts = minors.counts();
    return answer;
}

// The value times its derivative over the hafnian, none of them below 0.
double share_of(const Tracked &value, double copies, const Hafnian &minor, const Hafnian &whole,
                double &bound) {
    const auto over_whole = [&](const Scaled &x) {
        return to_double(make_scaled(value.value * copies * x.mantissa / whole.re.mantissa,
                                     value.exp2 + x.exp2 - whole.re.exp2));
    };
    const double share = std::max(0.0, over_whole(minor.re)), off = over_whole(minor.error),
                 of_whole = to_double_up(make_scaled(whole.error.mantissa / whole.re.mantissa * (1 + 0x1p-50),
                                                     whole.error.exp2 - whole.re.exp2));
    bound = of_whole < 1 ? (off + share * (of_whole + 0x1p-48)) / (1 - of_whole) * (1 + 0x1p-40) + 0x1p-1020
                         : infinity;
    return share;
}

} // namespace

double seconds_of_minors(const Plan &plan) {
    constexpr double of_entry = 1e-7; // read, and taken out
    const auto entries = static_cast<double>(plan.input.pattern.nnz());
    return (entries + 1) * (call_seconds + of_entry * entries + plan.serial_seconds);
}

TapeAnswer gradient_by_minors(const Plan &plan, const void *values, double *gradient, double *error_bounds,
                              Outcome &outcome) {
    GraphMinors minors(plan, values);
    const std::size_t parts = plan.input.value_type == PERM_VALUE_C128 ? 2 : 1;
    const Outcome whole = minors.whole();
    std::vector<double> numbers(minors.count() * parts, 0.0), bounds(minors.count(), 0.0);
    minors.run([&](std::size_t c, std::size_t, double copies, const Hafnian &minor) {
        const Ball times = ball_of(tracked(copies));
        const Ball re = Ball{minor.re, minor.error} * times, im = Ball{minor.im, {}} * times;
        double bound = to_double_up((Ball{{}, re.error} + Ball{{}, im.error}).error);
        numbers[c * parts] = rounded(re.value, bound);
        if (parts == 2) numbers[c * parts + 1] = rounded(im.value, bound);
        bounds[c] = bound;
    });
    std::copy(numbers.begin(), numbers.end(), gradient);
    if (error_bounds) std::copy(bounds.begin(), bounds.end(), error_bounds);
    return answer_of_whole(Hafnian(whole), whole, minors, outcome);
}

TapeAnswer marginals_by_minors(const Plan &plan, const void *values, double *marginals, double *error_bounds,
                               Outcome &outcome) {
    GraphMinors minors(plan, values);
    const Outcome of_whole = minors.whole();
    const Hafnian whole(of_whole);
    if (whole.re.mantissa > 0) {
        std::vector<double> shares(minors.count(), 0.0), bounds(minors.count(), 0.0);
        minors.run([&](std::size_t c, std::size_t entry, double copies, const Hafnian &minor) {
            const Values &given = minors.values();
            const Tracked value =
                given.wide.empty() ? tracked(given.real[entry]) : tracked_of(given.wide[entry].re);
            shares[c] = share_of(value, copies, minor, whole, bounds[c]);
        });
        put_marginals(as_given(plan.input), shares, marginals);
        if (error_bounds) put_marginals(as_given(plan.input), bounds, error_bounds);
    }
    return answer_of_whole(whole, of_whole, minors, outcome);
}

} // namespace libperm
