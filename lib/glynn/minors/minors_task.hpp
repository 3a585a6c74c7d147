// Sub-permanents, or derivatives, of dense matrices as a task: its pieces are those of their sums.
#pragma once

#include "lib/glynn/minors/dense_minors.hpp"
#include "lib/run/task.hpp"

#include <vector>

namespace libperm {

struct Minors {
    std::vector<double> numbers, bounds;
    std::vector<double> permanents, permanent_bounds; // with derivatives
};

class MinorsTask final : public TaskOf<Minors> {
  public:
    // Both must outlive it.
    MinorsTask(const DenseMinors &minors, const Options &options) : minors_(minors), options_(options) {}

    TaskIdentity identity() const override;
    ShardCount shards() const override { return minors_.shards(); }
    KeptAbout about() const override;
    Minors run(PieceStore *store, RunControl &control, const Told &told) const override;

  private:
    const DenseMinors &minors_;
    const Options &options_;
};

} // namespace libperm
