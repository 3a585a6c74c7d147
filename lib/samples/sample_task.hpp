// How the matchings of a matrix are drawn: each of its blocks along the frontier, line by line where it is
// planar or a graph, or by rejection.
#pragma once

#include "lib/run/tasks.hpp"
#include "lib/samples/part_shots.hpp"
#include "lib/samples/walk_sampler.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace libperm {

class SamplePlan {
  public:
    // Of the options threads, limits and seed (of the order search) count. `values` as read_values has them.
    // How they are drawn depends on `shots`; `way`: way() of the same samples elsewhere, which are drawn the
    // same way; none: the quickest. Throws Error.
    SamplePlan(const InputPattern &input, const Values &values, std::int64_t shots, std::uint64_t seed,
               const Options &options, const std::optional<std::string> &way = {});

    std::int32_t rows() const { return rows_; } // of the caller's
    std::int32_t columns() const { return columns_; }
    std::int64_t shots() const { return shots_; }
    double shot_seconds() const { return shot_seconds_; }     // of one thread, what all shots have in common
    double serial_seconds() const { return serial_seconds_; } // all, on one thread
    double seconds() const { return seconds_; }               // all, as predicted, on the options' threads
    std::int64_t bytes() const { return bytes_; }

    std::string way() const;
    std::string way_in_words() const;
    std::string digest() const; // of the way, and of what it came to here

    // Whether there are parts that are not drawn by rejection, of which any shot can be drawn by itself.
    bool has_numbered() const { return walked_.size() < ways_.size() || !certain_.empty(); }
    bool goes_line_by_line() const;                    // some part
    std::uint32_t at_once() const { return at_once_; } // shots of these that are drawn together
    // Of parts that are drawn by rejection.
    std::size_t walked() const { return walked_.size(); }
    const WalkPlan &walks(std::size_t k) const { return *ways_[walked_[k]].walks; }

    // Of shots `first` to first + count - 1 the column of each row, -1 for none, and for those of parts that
    // are drawn by rejection.
    template <class Column>
    void draw_numbered(std::int64_t first, std::uint32_t count, Column *columns) const;

    // Into one shot, of such a part, whose columns these are. Throws Error where they are not.
    template <class Column> void place(std::size_t k, const std::int32_t *walked, Column *columns) const;

  private:
    struct Way { // one of these
        char letter = 0;
        std::unique_ptr<const NumberedShots> shots;
        std::unique_ptr<const WalkPlan> walks = nullptr;
    };
    class Choice;
    void take(Way way, int threads);

    const std::int64_t shots_;
    const std::int32_t rows_, columns_;
    double shot_seconds_ = 0, serial_seconds_ = 0, seconds_ = 0;
    std::int64_t bytes_ = 0;
    std::uint32_t at_once_ = NumberedShots::most_at_once;
    std::vector<SampledPart> parts_;
    std::vector<std::pair<std::int32_t, std::int32_t>> certain_; // rows and columns that every shot has
    std::vector<Way> ways_;                                      // of each part
    std::vector<std::size_t> walked_;                            // parts
};

// Samples of matchings, some at a time: each with the probability that its product has in the sum over all
// (perm_sample).

class MatchingSamples {
  public:
    // As SamplePlan has it; `shots` is how many there will be in all. Options and the call must outlive
    // this. Throws Error, as what follows does.
    MatchingSamples(const InputPattern &input, const Values &values, std::int64_t shots, std::uint64_t seed,
                    const Options &options);

    // The next `count`, whatever was drawn at once before; after an error these again.
    void draw(std::int64_t count, std::int64_t *columns);

    std::int64_t left() const { return plan_.shots() - drawn_; }
    std::int32_t rows() const { return plan_.rows(); } // of the caller's

  private:
    void draw_piece(std::int64_t first, std::uint32_t count, std::int64_t *columns) const;

    const SamplePlan plan_;
    const int threads_;
    Charge charge_; // of the plan, and of what walks hold
    std::int64_t drawn_ = 0;
    std::vector<std::unique_ptr<WalkSampler>> walks_;
};

// Samples of matchings as a task: its pieces are runs of shots along frontiers, and of walks of what is drawn
// by rejection.

// Comes to the column of each row, shot by shot.
class SampleTask final : public TaskOf<std::vector<std::int32_t>> {
  public:
    // How they are drawn is chosen here. `way`: plan() of the same task elsewhere, which goes the same; null:
    // that of the options' checkpoint, or the quickest. The options must outlive it. Throws Error.
    SampleTask(const InputPattern &input, const Values &values, std::int64_t shots, std::uint64_t seed,
               const Options &options, const std::string *way = nullptr);

    std::int64_t count() const { return plan_.shots() * plan_.rows(); } // columns

    TaskIdentity identity() const override;
    ShardCount shards() const override;
    KeptAbout about() const override;
    std::string plan() const override { return plan_.way(); }
    bool is_plan(const std::string &bytes) const override { return bytes == plan_.way(); }
    std::vector<std::int32_t> run(PieceStore *store, const Told &told) const override;

  private:
    double bytes_of_columns(bool are_kept) const; // of all samples
    void require_memory(MemoryBudget &memory) const;

    const Options &options_;
    const SamplePlan plan_;
    std::string matrix_, wish_, way_; // digests
    std::int64_t n_, entries_;
};

} // namespace libperm
