// A period's table on a device: the same numbers as on the processor (table_on_cpu.hpp).
#pragma once

#include "jit/queue/device_queue.hpp"
#include "lib/periodic/table/table_layout.hpp"
#include "lib/run/call.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libperm {

// The bytes of `tables` tables, each with one number a state.
double table_device_bytes(const TableProgram &program, std::int32_t used, const StateNumbers &numbers,
                          int tables);

class TableOnDevice { // throws JitError
  public:
    TableOnDevice(DeviceQueue &queue, const TableProgram &program, std::int32_t used,
                  const StateNumbers &numbers);

    // Of each entry, coefficient_doubles() of it; `ones`: which are 1. `prime` of residues.
    void take(const std::vector<double> &coefficients, const std::vector<bool> &ones, double prime = 0);

    // The same in each state, but for one; of this table, or of another of its shape.
    void begin(DeviceAddress table, double everywhere);
    void set(DeviceAddress table, std::uint64_t state, double number);
    double number(std::uint64_t state);
    void advance(std::int32_t u); // the program's period u

    DeviceAddress table() const { return table_.address(); }
    const TableLayout &layout() const { return layout_; }
    // Blocks and threads of a kernel that runs over all numbers.
    struct Shape {
        unsigned blocks, threads;
    };
    Shape whole_shape(const char *entry);

  private:
    struct Step {
        TableRow row, open; // sets without p, and those with it
        std::string entry;  // of the former
        bool opens_as_is = false;
    };
    TableRow described(const TableLists &lists, DeviceAddress at) const;
    void launch(const char *entry, TableRow row);

    DeviceQueue &queue_;
    const TableProgram &program_;
    TableLayout layout_;
    StateNumbers numbers_;
    DeviceArray table_, ranks_, lists_;
    std::vector<TableLists> of_step_;
    std::vector<Step> steps_;
};

} // namespace libperm
