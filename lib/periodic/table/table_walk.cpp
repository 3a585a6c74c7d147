#include "lib/periodic/table/table_walk.hpp"

#include "preprocess/index.hpp"

#include <array>
#include <set>

namespace libperm {
namespace {

RowShape shape_of(const TableLists &lists) {
    return {static_cast<int>(lists.low_entries.size()), static_cast<int>(lists.high_entries.size())};
}

// Compiling a kernel takes longer than a row of few states: then all rows have the same.
std::vector<RowShape> shapes_of(const std::vector<TableLists> &rows, std::uint64_t states) {
    constexpr std::uint64_t large = std::uint64_t{1} << 25;
    std::vector<RowShape> shapes;
    RowShape most;
    for (const TableLists &lists : rows) {
        shapes.push_back(shape_of(lists));
        most = {std::max(most.low, shapes.back().low), std::max(most.high, shapes.back().high)};
    }
    if (states < large) shapes.assign(shapes.size(), most);
    return shapes;
}

constexpr std::size_t alignment = 16;
std::size_t rounded(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }
std::size_t high_bytes(const TableLists &lists) {
    return rounded(lists.high_sets.size() * sizeof lists.high_sets[0]);
}
std::size_t bytes_of(const TableLists &lists) {
    return high_bytes(lists) + rounded(lists.places.size() * sizeof lists.places[0]);
}

} // namespace

double table_device_bytes(const TableProgram &program, std::int32_t used, const StateNumbers &numbers,
                          int tables) {
    constexpr double of_step = 1 << 18; // lists
    return program.states(used) * 8 * numbers.doubles() * tables +
           of_step * static_cast<double>(program.steps.size());
}

TableOnDevice::TableOnDevice(DeviceQueue &queue, const TableProgram &program, std::int32_t used,
                             const StateNumbers &numbers)
    : queue_(queue),
      program_(program),
      layout_(program.slots, used),
      numbers_(numbers),
      table_(queue),
      ranks_(queue),
      lists_(queue) {
    std::size_t bytes = 0;
    for (const TableStep &step : program.steps) {
        of_step_.emplace_back(layout_, step);
        bytes += bytes_of(of_step_.back());
    }
    const std::vector<RowShape> shapes = shapes_of(of_step_, layout_.size());
    std::vector<KernelRecipe> kernels{period_table_kernel(numbers)};
    for (const RowShape &shape : std::set<RowShape>(shapes.begin(), shapes.end()))
        kernels.push_back(period_table_row_kernel(numbers, shape));
    queue.load(kernels);
    table_.reserve(layout_.size() * static_cast<std::size_t>(8 * numbers.doubles()));
    ranks_.reserve(layout_.ranks.size() * sizeof layout_.ranks[0]);
    queue.copy_in(ranks_.address(), layout_.ranks.data(), layout_.ranks.size() * sizeof layout_.ranks[0]);
    lists_.reserve(bytes);
    DeviceAddress next = lists_.address();
    const auto upload = [&](const TableLists &lists) {
        const TableRow row = described(lists, next);
        queue.copy_in(row.high_sets, lists.high_sets.data(),
                      lists.high_sets.size() * sizeof lists.high_sets[0]);
        queue.copy_in(row.places, lists.places.data(), lists.places.size() * sizeof lists.places[0]);
        next += bytes_of(lists);
        return row;
    };
    for (std::size_t k = 0; k < of_step_.size(); ++k)
        steps_.push_back({upload(of_step_[k]), {}, table_entry_of(shapes[k]), false});
}

TableRow TableOnDevice::described(const TableLists &lists, DeviceAddress at_address) const {
    TableRow row{};
    row.table = table_.address();
    row.high_sets = at_address;
    row.places = at_address + high_bytes(lists);
    row.ranks = ranks_.address();
    std::copy_n(layout_.begin.begin(), std::size(row.begin), row.begin);
    std::copy(layout_.sets.begin(), layout_.sets.end(), row.sets);
    std::copy(lists.list_begin.begin(), lists.list_begin.end(), row.list_begin);
    row.low = layout_.low;
    row.used = layout_.used;
    row.number_bits = lists.number_bits;
    row.pivot_high = lists.pivot_high;
    row.pivot_low = lists.pivot_low;
    row.low_terms = static_cast<std::int32_t>(lists.low_entries.size());
    row.high_terms = static_cast<std::int32_t>(lists.high_entries.size());
    std::copy(lists.high_bits.begin(), lists.high_bits.end(), row.high_bit);
    return row;
}

void TableOnDevice::take(const std::vector<double> &coefficients, const std::vector<bool> &ones,
                         double prime) {
    const auto stride = at(coefficient_doubles(numbers_.arithmetic));
    for (std::size_t k = 0; k < steps_.size(); ++k) {
        Step &step = steps_[k];
        const TableStep &of = program_.steps[k];
        step.opens_as_is = of.clears || (of.opened >= 0 && ones[at(of.opened)]);
        step.row.prime = prime;
        step.row.inverse = 1 / prime;
        step.row.is_kept = of.kept >= 0;
        std::fill(std::begin(step.row.coefficients), std::end(step.row.coefficients), 0);
        step.open = step.row;
        const auto put = [&](TableRow &row, std::int32_t entry, std::size_t place) {
            if (entry >= 0)
                std::copy_n(coefficients.begin() + entry * static_cast<std::ptrdiff_t>(stride), stride,
                            row.coefficients + place * stride);
        };
        put(step.open, of.opened, 0);
        put(step.row, of.kept, 0);
        for (std::size_t t = 0; t < of_step_[k].low_entries.size(); ++t)
            put(step.row, of_step_[k].low_entries[t], 1 + t);
        for (std::size_t t = 0; t < of_step_[k].high_entries.size(); ++t)
            put(step.row, of_step_[k].high_entries[t], 1 + table_low + t);
    }
}

TableOnDevice::Shape TableOnDevice::whole_shape(const char *entry) {
    const unsigned threads = queue_.block_threads(table_threads);
    const std::uint64_t needed = (layout_.size() + threads - 1) / threads,
                        at_once = queue_.blocks_at_once(entry, threads);
    return {static_cast<unsigned>(std::min(needed, at_once)), threads};
}

void TableOnDevice::begin(DeviceAddress table, double everywhere) {
    std::uint64_t count = layout_.size();
    const std::array<void *, 3> arguments{&table, &count, &everywhere};
    const Shape shape = whole_shape(table_begin_entry);
    queue_.launch(table_begin_entry, shape.blocks, shape.threads, arguments);
}

void TableOnDevice::set(DeviceAddress table, std::uint64_t state, double number) {
    queue_.copy_in(table + layout_.place(state) * at(8 * numbers_.doubles()), &number, sizeof number);
}

double TableOnDevice::number(std::uint64_t state) {
    double number = 0;
    queue_.copy_out(&number, table_.address() + layout_.place(state) * at(8 * numbers_.doubles()),
                    sizeof number);
    return number;
}

void TableOnDevice::launch(const char *entry, TableRow row) {
    constexpr int most_parts = 5;
    const unsigned threads = queue_.block_threads(table_threads), warps = threads / table_warp;
    const std::uint64_t warps_at_once = std::uint64_t{warps} * queue_.blocks_at_once(entry, threads);
    while (row.parts_log2 < most_parts && (warps_at_once >> (row.number_bits + row.parts_log2)) >= 2)
        ++row.parts_log2;
    const std::uint64_t items = (std::uint64_t{1} << row.number_bits) << row.parts_log2;
    const std::array<void *, 1> arguments{&row};
    queue_.launch(entry, static_cast<unsigned>((items + warps - 1) / warps), threads, arguments);
}

void TableOnDevice::advance(std::int32_t u) {
    for (std::size_t k = program_.begin[at(u)]; k < program_.begin[at(u) + 1]; ++k) {
        launch(steps_[k].entry.c_str(), steps_[k].row);
        if (!steps_[k].opens_as_is) launch(table_open_entry, steps_[k].open);
        call().advance(static_cast<double>(layout_.size()));
    }
}

} // namespace libperm
