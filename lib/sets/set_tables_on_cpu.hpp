// Tables over sets of lines on the processor, in vectors, on the threads of the arena that they are made in.
#pragma once

#include "lib/run/run_control.hpp"
#include "lib/sets/set_tables.hpp"

namespace libperm {

class SetTablesOnCpu final : public SetTables {
  public:
    SetTablesOnCpu(std::int64_t doubles, RunControl &control);

    void put_empty_set(TablePlace table) override;
    double of_empty_set(TablePlace table) override { return first_[table]; }
    void meet(const SetStep &step, TablePlace before, TablePlace after, std::uint64_t sets_after,
              double work) override;
    void go_back(const SetStep &step, TablePlace before, TablePlace slopes_after, TablePlace slopes,
                 std::uint64_t sets_before, std::vector<double> &sums, double work) override;
    void close_line(std::int32_t bit, std::int32_t lines, double unmatched, TablePlace from,
                    TablePlace to) override;
    void open_line(std::int32_t bit, std::int32_t lines, double unmatched, TablePlace from,
                   TablePlace to) override;
    void clear_beyond(std::int32_t lines, TablePlace table) override;
    void sum_without(std::int32_t bit, std::uint64_t sets, TablePlace x, TablePlace y,
                     std::vector<double> &sums) override;
    double most_of(TablePlace table, std::uint64_t sets) override;
    void multiply(TablePlace table, std::uint64_t sets, double by) override;

  private:
    RunControl &control_;
    Buffer<double> room_;
    double *first_; // of the places, at the beginning of a cache line
};

} // namespace libperm
