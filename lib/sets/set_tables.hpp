// What a walk over sets of lines does with whole tables, wherever these stand: on the processor or on a
// device, with the same bits.
#pragma once

#include "jit/lanes/set_steps.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/run/call.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace libperm {

// Doubles before a table's first number, in the room that all of them share.
using TablePlace = std::int64_t;

constexpr std::uint64_t chunk_sets = set_chunk * set_block; // whose products are one sum

// Numbers of a table: a block at least, those beyond the sets of its lines being 0.
constexpr std::uint64_t sets_of(std::int32_t lines) {
    return std::uint64_t{1} << std::max(lines, set_block_bits);
}

// By halves: a term is rounded log2 of their number.
inline double sum_by_halves(const double *x, std::size_t count, std::size_t apart) {
    if (count == 0) return 0;
    if (count == 1) return *x;
    return sum_by_halves(x, count / 2, apart) +
           sum_by_halves(x + count / 2 * apart, count - count / 2, apart);
}

struct SetLine {
    std::int32_t bit, lines;
    double unmatched; // its weight
    TablePlace from, to;
};

class SetTables {
  public:
    SetTables() = default;
    virtual ~SetTables() = default;
    SetTables(const SetTables &) = delete;
    SetTables &operator=(const SetTables &) = delete;

    virtual void put_empty_set(TablePlace table) = 0; // the only one that is there; of no lines
    virtual double of_empty_set(TablePlace table) = 0;

    // A step (jit/lanes/set_steps.hpp) whose tables are these; progress goes on by `work`.
    virtual void meet(const SetStep &step, TablePlace before, TablePlace after, std::uint64_t sets_after,
                      double work) = 0;
    // `sums`: one for each chunk of sets, sums_of(step) beside each other.
    virtual void go_back(const SetStep &step, TablePlace before, TablePlace slopes_after, TablePlace slopes,
                         std::uint64_t sets_before, std::vector<double> &sums, double work) = 0;

    // The table without a line from that with it, of 2^lines sets of the others; and the slopes before that,
    // of 2^lines sets, the line among them.
    virtual void close(const SetLine &line) = 0;
    virtual void open(const SetLine &line) = 0;
    virtual void clear_beyond(std::int32_t lines, TablePlace table) = 0; // below a block

    // The sum of x[S] y[S] over the sets without a bit: of each chunk.
    virtual void sum_without(std::int32_t bit, std::uint64_t sets, TablePlace x, TablePlace y,
                             std::vector<double> &sums) = 0;

    virtual double most_of(TablePlace table, std::uint64_t sets) = 0;
    virtual void multiply(TablePlace table, std::uint64_t sets, double by) = 0;
};

// With room for so many doubles: in vectors, on the threads of the arena that it is made in; or on a device,
// where each call throws JitError.
std::unique_ptr<SetTables> set_tables_on_cpu(std::int64_t doubles);
std::unique_ptr<SetTables> set_tables_on_device(std::int64_t doubles, DeviceQueue &queue);

} // namespace libperm
