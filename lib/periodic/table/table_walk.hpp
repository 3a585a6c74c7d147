// A period's table, carried along in place (table_program.hpp): on the processor in any kind of numbers, or
// on a device, where they are the same.
#pragma once

#include "jit/queue/device_queue.hpp"
#include "lib/number/doubles.hpp"
#include "lib/periodic/table/table_program.hpp"
#include "lib/run/call.hpp"
#include "lib/run/numbered_sum.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace libperm {

// `Numbers` as PeriodWalk has them; `ones`: which factors are 1.
template <class Numbers> class TableOnCpu {
  public:
    using Number = typename Numbers::Number;
    using Factor = typename Numbers::Factor;

    TableOnCpu(const TableProgram &program, std::int32_t used, const Numbers &numbers,
               const std::vector<Factor> &factors, const std::vector<bool> &ones)
        : program_(&program),
          layout_(program.slots, used),
          numbers_(&numbers),
          factors_(&factors),
          ones_(&ones),
          charge_(&call().memory(), static_cast<std::int64_t>(layout_.size() * sizeof(Number))),
          x_(layout_.size()) {}

    void begin(const Number &everywhere) { std::fill(x_.begin(), x_.end(), everywhere); }
    void set(std::uint64_t state, const Number &number) { x_[layout_.place(state)] = number; }
    Number number(std::uint64_t state) const { return x_[layout_.place(state)]; }
    std::vector<Number> &numbers() { return x_; }

    // The program's period u.
    void advance(std::int32_t u) {
        for (const TableStep &step : program_->steps_of(static_cast<std::size_t>(u))) {
            const TableLists lists(layout_, step);
            blocks_of(lists, [&](std::uint32_t set) { fill(lists, step, set); });
            if (!opens_as_is(step)) blocks_of(lists, [&](std::uint32_t set) { open(lists, step, set); });
        }
    }

  private:
    bool opens_as_is(const TableStep &step) const {
        return step.clears || (step.opened >= 0 && (*ones_)[static_cast<std::size_t>(step.opened)]);
    }
    template <class Work> void blocks_of(const TableLists &lists, const Work &work) {
        const std::uint64_t all = std::uint64_t{1} << lists.number_bits;
        const NumberedPieces pieces = NumberedPieces::so_many(all, std::min<std::uint64_t>(all, 256));
        parallel_for(pieces.count(), [&](std::uint64_t p) {
            call().advance(0.5 * static_cast<double>(layout_.size()) / static_cast<double>(pieces.count()));
            with_fma([&] {
                for (std::uint64_t n = pieces[p].first; n < pieces[p].last; ++n) work(lists.high_set(n));
            });
        });
    }
    struct List {
        const std::uint16_t *places;
        std::uint32_t size;
    };
    static List list_of(const TableLists &lists, int size) { // empty: there are no low sets of this size
        if (size < 0 || size > table_low) return {nullptr, 0};
        const std::uint32_t begin = lists.list_begin[static_cast<std::size_t>(size)];
        return {lists.places.data() + begin, lists.list_begin[static_cast<std::size_t>(size) + 1] - begin};
    }
    int low_size(std::uint32_t set) const { return layout_.used - std::popcount(set); }

    void fill(const TableLists &lists, const TableStep &step, std::uint32_t set) {
        const List list = list_of(lists, low_size(set));
        if (list.size == 0) return;
        Number *own = x_.data() + layout_.block(set);
        const std::uint32_t pivot = set | lists.pivot_high;
        const Number *base = layout_.has_block(pivot) ? x_.data() + layout_.block(pivot) : nullptr;
        const Number *of_term[table_high];
        for (std::size_t t = 0; t < lists.high_bits.size(); ++t)
            of_term[t] =
                set & lists.high_bits[t] ? x_.data() + layout_.block(pivot ^ lists.high_bits[t]) : nullptr;
        const auto term = [&](std::int32_t entry, const Number &x) {
            return numbers_->multiply((*factors_)[static_cast<std::size_t>(entry)], x);
        };
        for (std::uint32_t r = 0; r < list.size; ++r) {
            Number sum = Numbers::zero();
            if (step.kept >= 0) sum = term(step.kept, own[list.places[r]]);
            const std::uint16_t *from = list.places + r + lists.list_size();
            const std::uint16_t with_pivot = *from;
            for (const std::int32_t entry : lists.low_entries) {
                from += lists.list_size();
                if (*from != table_no_place) sum = numbers_->add(sum, term(entry, base[*from]));
            }
            for (std::size_t t = 0; t < lists.high_bits.size(); ++t)
                if (of_term[t]) sum = numbers_->add(sum, term(lists.high_entries[t], of_term[t][with_pivot]));
            own[list.places[r]] = sum;
        }
    }
    void open(const TableLists &lists, const TableStep &step, std::uint32_t set) {
        set |= lists.pivot_high;
        const List list = list_of(lists, low_size(set) - lists.pivot_low);
        if (list.size == 0) return;
        Number *own = x_.data() + layout_.block(set);
        for (std::uint32_t r = 0; r < list.size; ++r) {
            Number &x = own[list.places[r + lists.list_size()]];
            x = step.opened < 0 ? Numbers::zero()
                                : numbers_->multiply((*factors_)[static_cast<std::size_t>(step.opened)], x);
        }
    }

    const TableProgram *program_;
    TableLayout layout_;
    const Numbers *numbers_;
    const std::vector<Factor> *factors_;
    const std::vector<bool> *ones_;
    Charge charge_;
    std::vector<Number> x_;
};

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
