#include "answer.hpp"
#include "commands.hpp"
#include "file_number.hpp"
#include "job.hpp"
#include "output.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace perm {
namespace {

FileNumber number_at(const FileMatrix &a, std::size_t k) {
    if (!a.texts.empty()) return {0, a.texts[k]};
    if (a.pattern) return {1, ""};
    return {a.complex_values.empty() ? a.values[k] : a.complex_values[k], ""};
}

Field field_of(const FileMatrix &a) {
    if (a.pattern || a.integers) return Field::integer;
    return a.complex_values.empty() ? Field::real : Field::complex;
}

FileMatrix identity(std::int64_t n) {
    FileMatrix a;
    a.n_rows = a.n_cols = n;
    a.pattern = true;
    for (std::int64_t i = 0; i < n; ++i) {
        a.col_idx.push_back(i);
        a.row_ptr.push_back(i + 1);
    }
    return a;
}

// The columns of each row, with zeros where one matrix has no entry; `values` of it, in that order.
struct Union {
    std::vector<std::int64_t> row_ptr{0}, col_idx;

    Union(const FileMatrix &a, const FileMatrix &b) {
        const auto row_of = [](const FileMatrix &m, std::int64_t i) {
            return std::ranges::subrange(m.col_idx.begin() + m.row_ptr[static_cast<std::size_t>(i)],
                                         m.col_idx.begin() + m.row_ptr[static_cast<std::size_t>(i) + 1]);
        };
        for (std::int64_t i = 0; i < a.n_rows; ++i) {
            std::ranges::set_union(row_of(a, i), row_of(b, i), std::back_inserter(col_idx));
            row_ptr.push_back(std::ssize(col_idx));
        }
    }
};

// With the entries of both, of this kind of numbers.
FileMatrix spread(const FileMatrix &from, const Union &entries, Field field, bool has_text) {
    FileMatrix to;
    to.n_rows = from.n_rows;
    to.n_cols = from.n_cols;
    to.row_ptr = entries.row_ptr;
    to.col_idx = entries.col_idx;
    to.integers = !has_text && field == Field::integer;
    std::size_t place = 0, next = 0; // in the union, and in the matrix
    for (std::size_t row = 1; row < to.row_ptr.size(); ++row)
        for (; place < static_cast<std::size_t>(to.row_ptr[row]); ++place) {
            const bool is_there =
                next < static_cast<std::size_t>(from.row_ptr[row]) && from.col_idx[next] == to.col_idx[place];
            const FileNumber number = is_there ? number_at(from, next++) : FileNumber{};
            if (has_text)
                to.texts.push_back(text_of(number));
            else if (field == Field::complex)
                to.complex_values.push_back(number.value);
            else
                to.values.push_back(number.value.real());
        }
    return to;
}

// Both with the entries of both, of one kind of numbers.
std::pair<FileMatrix, FileMatrix> side_by_side(const FileMatrix &a, const FileMatrix &b) {
    const bool has_text = !a.texts.empty() || !b.texts.empty();
    const Field x = field_of(a), y = field_of(b);
    const Field field = x == Field::complex || y == Field::complex ? Field::complex
                        : x == Field::real || y == Field::real     ? Field::real
                                                                   : Field::integer;
    const Union both(a, b);
    return {spread(a, both, field, has_text), spread(b, both, field, has_text)};
}

std::pair<FileMatrix, FileMatrix> read_both(const Options &options) {
    const FileMatrix a = read_file(options, options.file);
    if (options.linear.empty() && a.n_rows != a.n_cols)
        throw Error(PERM_BAD_MATRIX,
                    fmt::format("{}: a {} x {} matrix; of square ones there are principal submatrices, for "
                                "others tell by --linear what x stands with",
                                options.file, a.n_rows, a.n_cols));
    const FileMatrix b = options.linear.empty() ? identity(a.n_rows) : read_file(options, options.linear);
    if (a.n_rows != b.n_rows || a.n_cols != b.n_cols)
        throw Error(PERM_BAD_MATRIX,
                    fmt::format("{} is {} x {}, and {} is {} x {}: both have one shape", options.file,
                                a.n_rows, a.n_cols, options.linear, b.n_rows, b.n_cols));
    return side_by_side(a, b);
}

} // namespace

void run_matchings(const Options &given) {
    const Options options = of_matchings(given);
    const Cancellable cancellable(notice_of(options));
    Progress progress(!options.quiet);
    const Stopwatch watch;
    const Input input(options);
    const std::vector<Result> numbers = matchings(input.csr(), library_options(options, progress));
    write_numbers(options, numbers, "matchings", input.csr(), watch.seconds());
}

void run_polynomial(const Options &options) {
    const Cancellable cancellable(notice_of(options));
    Progress progress(!options.quiet);
    const Stopwatch watch;
    auto [constant, linear] = read_both(options);
    const FileView of_x(linear);
    const Input input(options, std::move(constant));
    const std::vector<Result> found =
        polynomial(input.csr(), of_x.csr().values, library_options(options, progress));
    write_numbers(options, found, "coefficients", input.csr(), watch.seconds());
    if (options.json) return;
    const auto missed = [](const Result &one) { return one->tolerance_met == 0; };
    const auto worst = std::ranges::find_if(found, missed);
    if (worst != found.end())
        write_message(fmt::format(
            "{} coefficients miss the tolerance, that of x^{} with a relative error bound of "
            "{:.2g}",
            std::ranges::count_if(found, missed), worst - found.begin(), (*worst)->rel_error_bound));
}

} // namespace perm
