// Marginals by tables over sets of lines, forwards and back, with few of the tables kept.
//
// The walk meets the lines of one side one by one. Before line t, F[t][S] is the sum over all matchings of
// those before it to the set S of the lines that wait, the others being closed: matched or left at their
// weight. G[t][S] is that over all ways to go on from there, so that value = sum of F[t][S] G[t][S] for every
// t, and
//
//     P(line t matched to j)  = a[t,j] sum_S F[t][S] G'[t][S + j] / value,      S without j,
//     P(line t stays unmatched) = u[t] sum_S F[t][S] G'[t][S] / value,
//     P(j stays unmatched) = sum_S F'[t][S] G'[t][S] / value,    S without j, where t is the last with j,
//
// F', G' after the line and before anything is closed. All terms are nonnegative: nothing cancels, and each
// number has a relative error of its roundings alone.
#pragma once

#include "jit/queue/device_queue.hpp"
#include "lib/input/options.hpp"
#include "lib/number/scaled.hpp"
#include "lib/run/call.hpp"
#include "lib/run/placement.hpp"
#include "lib/sets/set_plan.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace libperm {

struct SetValue { // the sum over all matchings
    Scaled value;
    double rel_error_bound = 0;
};

class SetGradient {
  public:
    // The matrix is as it was given, without multiplicities. Null: the tables would be too large for any
    // machine.
    static std::unique_ptr<const SetGradient> of(const InputPattern &given, const Options &options);

    // values: as a plan is given them, each finite and not negative. To `marginals` entries, rows and
    // columns; `bounds` may be null. On the threads of the arena that it is called in, with the same bits for
    // any number of them. None: the weights lie so far apart that doubles might lose them, and nothing is
    // written. So it is where the value is 0. With a device on that, with the same bits: throws JitError.
    std::optional<SetValue> run(const double *values, double *marginals, double *bounds,
                                DeviceQueue *device = nullptr) const;

    Work work(const Options &options) const; // to be placed

    double serial_seconds() const; // predicted
    double seconds(int threads) const;
    double operations() const { return layers_.operations(); }
    double states() const { return layers_.states(); }
    double peak_states() const;
    std::int64_t bytes() const { return bytes_; }
    std::int64_t device_bytes() const { return 8 * doubles(); }
    bool fits(const Options &options) const { return bytes_ <= options.memory_limit; }

  private:
    class Walk;

    SetGradient(const InputPattern &given, SetLayers layers, KeptTables kept);

    std::int64_t doubles() const { return kept_.kept + kept_.between + 3 * scratch_; } // of all tables

    std::int64_t value_count_, marginal_count_;
    SetLayers layers_;
    KeptTables kept_;
    std::int64_t scratch_ = 0; // doubles of one of three tables beside those that are kept
    std::int64_t bytes_ = 0;
};

// The caller's values as doubles, as they are; null if they are no doubles, or not all finite and real
// numbers of 0 or more. `own`: where they stand if they have to be changed.
const double *plain_weights(const InputPattern &given, const void *values, std::vector<double> &own);

} // namespace libperm
