// The coefficients from permanents of one pattern with several numbers in x's place, a batch.
#pragma once

#include "lib/execute/batch.hpp"
#include "lib/polynomial/substitution.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace libperm {

class AtPoints : public Substitution {
  public:
    bool is_possible() const { return task_.has_value(); } // values were put
    const Plan &plan_made() const override { return plan_; }
    const Task &task() const override { return *task_; }
    double seconds() const override { return plan_.seconds * static_cast<double>(points_); }

  protected:
    // `values`: of each point those of the entries in the order of the input's pattern, weights behind, of
    // its value_type, one point's behind the other's; they must outlive this, and take so many bytes. Throws
    // Error.
    void put(InputPattern input, const void *values, std::int64_t points, std::int64_t bytes, Options options,
             const std::string *plan);

    // The same with texts: of value k at a point its number there.
    using NumberAt = std::function<Gaussian(std::size_t point, std::size_t k)>;
    void put_texts(const LinearEntries &entries, std::int64_t points, std::int64_t bytes,
                   const Options &options, const std::string *plan, const NumberAt &number);
    bool has_texts() const { return !texts_.empty(); }

    // Of a store of one shard alone: none.
    std::vector<Outcome> outcomes(PieceStore *store) const;

  private:
    Plan plan_;
    IdleTapes idle_tapes_;
    std::int64_t points_ = 0, bytes_ = 0;
    std::vector<std::string> texts_;
    std::vector<const char *> pointers_; // to these
    std::optional<BatchTask> task_;
};

} // namespace libperm
