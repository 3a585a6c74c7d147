#include "lib/periodic/cell/periodic_matrix.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/struct_size.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

namespace libperm {
namespace {

struct Rectangle {
    Pattern pattern;
    std::vector<Gaussian> values;
};

[[noreturn]] void bad_matrix(const std::string &text) { throw Error(PERM_BAD_MATRIX, text); }

// Counts in the call's memory as long as the charge lives.
class Reading {
  public:
    Reading(MemoryAccount *account, Charge &charge) : account_(account), charge_(charge), steps_() {}

    // What goes wrong in it is told with the name of the part; `check` is asked before numbers are read.
    template <class Check> Rectangle part(const perm_csr *given, const char *name, const Check &check) {
        const auto named = [name](const auto &work) {
            try {
                return work();
            } catch (const Error &error) {
                throw Error(error.status(), formatted("the {}: {}", name, error.what()));
            }
        };
        const InputPattern input = named([&] { return read_rectangle(given, account_); });
        check(input.pattern);
        return named([&] {
            charge_.grow(input.pattern.nnz() * of_entry);
            Values values = read_values(input, given->values, account_);
            Rectangle out{input.pattern, std::move(values.wide)};
            for (const double x : values.real) {
                steps_.take(16);
                out.values.push_back({mpq_class(x), 0});
            }
            return out;
        });
    }

    PolledSteps &steps() { return steps_; }

  private:
    // Short numbers, and what they are read into.
    static constexpr std::int64_t of_entry = 2 * sizeof(Gaussian) + 4 * 32 + sizeof(PeriodicEntry);

    MemoryAccount *account_;
    Charge &charge_;
    PolledSteps steps_;
};

void check_cell(const Pattern &cell) {
    const std::int32_t r = cell.rows;
    if (r == 0) bad_matrix("the cell has no rows: it must have one at least");
    if (cell.cols % r != 0 || cell.cols / r % 2 == 0)
        bad_matrix(
            formatted("the cell has {0} rows and {1} columns: {0} (2 d + 1) it must have, the blocks for "
                      "the cells -d to d side by side",
                      r, cell.cols));
}

// Of the part's columns so many stand before the first one of cell 0; entries that are 0 are left out.
template <class Part>
void take_entries(Part &out, Rectangle given, std::int32_t rows_of_cell, std::int64_t before,
                  PolledSteps &steps) {
    std::size_t k = 0;
    for (std::int32_t i = 0; i < given.pattern.rows; ++i)
        for (const std::int32_t j : given.pattern.row(i)) {
            steps.take(16);
            Gaussian &value = given.values[k++];
            if (is_zero(value)) continue;
            const std::int64_t at = j - before, cell = at / rows_of_cell - (at % rows_of_cell < 0);
            out.entries.push_back(
                {i, static_cast<std::int32_t>(at - cell * rows_of_cell), static_cast<std::int32_t>(cell)});
            out.values.push_back(std::move(value));
        }
}

void take_cell(PeriodicMatrix &out, Rectangle cell, PolledSteps &steps) {
    const std::int32_t r = out.rows = cell.pattern.rows;
    out.reach = cell.pattern.cols / r / 2;
    take_entries(out, std::move(cell), r, std::int64_t{out.reach} * r, steps);
}

// The head's own columns come first, the tail's last; between them, those of the `reach` cells next to it.
PeriodicEnd end_of(const PeriodicMatrix &a, const perm_csr *given, bool is_head, Reading &reading) {
    const std::int64_t inner = std::int64_t{a.reach} * a.rows;
    const char *name = is_head ? "head" : "tail";
    Rectangle part = reading.part(given, name, [&](const Pattern &end) {
        if (end.cols < inner || end.cols > 2 * inner)
            bad_matrix(formatted("the {} has {} columns: {} of the cells next to it, and up to {} of its own",
                                 name, end.cols, inner, inner));
    });
    PeriodicEnd out;
    out.rows = part.pattern.rows;
    out.columns = part.pattern.cols - inner;
    // Counted from the first column of the first cell, or of the one behind the last.
    take_entries(out, std::move(part), a.rows, is_head ? out.columns : inner, reading.steps());
    return out;
}

template <class Is> bool all_values(const PeriodicMatrix &a, const Is &is) {
    return std::all_of(a.values.begin(), a.values.end(), is) &&
           std::all_of(a.head.values.begin(), a.head.values.end(), is) &&
           std::all_of(a.tail.values.begin(), a.tail.values.end(), is);
}

} // namespace

bool PeriodicMatrix::is_nonnegative() const {
    return all_values(*this, [](const Gaussian &x) { return libperm::is_real(x) && x.re > 0; });
}
bool PeriodicMatrix::is_real() const {
    return all_values(*this, [](const Gaussian &x) { return libperm::is_real(x); });
}
bool PeriodicMatrix::has_integers() const {
    return all_values(*this, [](const Gaussian &x) { return is_integer(x); });
}

std::vector<std::uint32_t> kinds_of(const std::vector<Gaussian> &values) {
    const auto less = [](const Gaussian *x, const Gaussian *y) {
        const int re = cmp(x->re, y->re);
        return re != 0 ? re < 0 : cmp(x->im, y->im) < 0;
    };
    std::map<const Gaussian *, std::uint32_t, decltype(less)> known(less);
    std::vector<std::uint32_t> kinds;
    for (const Gaussian &value : values)
        kinds.push_back(known.try_emplace(&value, static_cast<std::uint32_t>(known.size())).first->second);
    return kinds;
}

PeriodicMatrix read_periodic(const perm_periodic *given, MemoryAccount *account, Charge &charge) {
    if (!given) throw Error(PERM_BAD_ARGUMENT, "the periodic matrix is a null pointer");
    const perm_periodic a = read_known(*given, sizeof(perm_periodic), "perm_periodic");
    if (!a.cell) throw Error(PERM_BAD_ARGUMENT, "perm_periodic.cell is a null pointer");
    if (a.joined != 0 && a.joined != 1)
        throw Error(PERM_BAD_ARGUMENT, formatted("perm_periodic.joined is {}: use 0 or 1", a.joined));
    if (a.reserved != 0)
        throw Error(PERM_BAD_ARGUMENT, "perm_periodic.reserved must be 0: start from PERM_PERIODIC_INIT");
    if (a.joined && (a.head || a.tail)) bad_matrix("joined ends have neither a head nor a tail");
    PeriodicMatrix out;
    out.joined = a.joined != 0;
    charge = Charge(account);
    Reading reading(account, charge);
    take_cell(out, reading.part(a.cell, "cell", check_cell), reading.steps());
    if (a.head) out.head = end_of(out, a.head, true, reading);
    if (a.tail) out.tail = end_of(out, a.tail, false, reading);
    const std::int64_t rows = std::int64_t{out.head.rows} + out.tail.rows,
                       columns = out.head.columns + out.tail.columns;
    if (rows != columns)
        bad_matrix(formatted("head and tail have {} rows and {} columns of their own: as many of both there "
                             "must be, for the whole to be square",
                             rows, columns));
    return out;
}

} // namespace libperm
