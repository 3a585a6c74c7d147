// Glynn's sum for dense matrices that stand one behind the other: numbers and their bounds, and nothing
// else.
#pragma once

#include "lib/glynn/calls/request.hpp"

#include <perm.h>

#include <optional>

namespace libperm {

class DenseNumbers {
  public:
    // None where the shape, the multiplicities or the options are for other roads.
    static std::optional<DenseNumbers> of(const perm_dense &a, const perm_opts *opts);

    // False: matrix k is to be computed otherwise. A matrix has the same bits in any list and on any number
    // of threads. `watch` is asked by what takes long: of several matrices at once, none that has callbacks.
    bool put(std::int64_t k, double *number, double &bound, const CallWatch &watch) const;

    double terms() const;                    // of each
    int threads() const { return threads_; } // of the call
    bool shares_threads() const;             // one matrix among them
    const SmallRequest &request() const { return request_; }

  private:
    DenseNumbers(const perm_dense &a, const SmallRequest &request);

    const perm_dense &a_;
    const SmallRequest request_;
    const int n_, threads_;
};

} // namespace libperm
