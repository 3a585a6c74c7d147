// Tables over sets of lines on a device, with the bits that they have on the processor.
#pragma once

#include "jit/queue/device_queue.hpp"
#include "lib/run/run_control.hpp"
#include "lib/sets/set_tables.hpp"

#include <span>

namespace libperm {

class SetTablesOnDevice final : public SetTables { // throws JitError
  public:
    SetTablesOnDevice(DeviceQueue &queue, std::int64_t doubles, RunControl &control);

    void put_empty_set(TablePlace table) override;
    double of_empty_set(TablePlace table) override;
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
    DeviceAddress address(TablePlace table) const;
    template <class Launch> void over_sets(const char *entry, std::uint64_t sets, Launch launch);
    template <class Launch> void over_chunks(const char *entry, Launch launch, std::vector<double> &sums);

    DeviceQueue &queue_;
    RunControl &control_;
    DeviceArray room_, sums_, most_;
};

} // namespace libperm
