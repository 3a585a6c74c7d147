#include "commands.hpp"
#include "file_number.hpp"
#include "job.hpp"
#include "output.hpp"

#include "lib/base/json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

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

// Both with the entries of both, of one kind of numbers.
std::pair<FileMatrix, FileMatrix> side_by_side(const FileMatrix &a, const FileMatrix &b) {
    const bool has_text = !a.texts.empty() || !b.texts.empty();
    const Field field = std::max(field_of(a), field_of(b), [](Field x, Field y) {
        const auto rank = [](Field f) { return f == Field::integer ? 0 : f == Field::real ? 1 : 2; };
        return rank(x) < rank(y);
    });
    std::pair<FileMatrix, FileMatrix> both;
    for (FileMatrix *to : {&both.first, &both.second}) {
        to->n_rows = a.n_rows, to->n_cols = a.n_cols;
        to->integers = !has_text && field == Field::integer;
    }
    const auto put = [&](FileMatrix &to, std::int64_t column, const FileNumber &number) {
        to.col_idx.push_back(column);
        if (has_text)
            to.texts.push_back(text_of(number));
        else if (field == Field::complex)
            to.complex_values.push_back(number.value);
        else
            to.values.push_back(number.value.real());
    };
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.n_rows); ++i) {
        std::map<std::int64_t, std::pair<FileNumber, FileNumber>> row;
        for (auto k = static_cast<std::size_t>(a.row_ptr[i]); k < static_cast<std::size_t>(a.row_ptr[i + 1]);
             ++k)
            row[a.col_idx[k]].first = number_at(a, k);
        for (auto k = static_cast<std::size_t>(b.row_ptr[i]); k < static_cast<std::size_t>(b.row_ptr[i + 1]);
             ++k)
            row[b.col_idx[k]].second = number_at(b, k);
        for (const auto &[column, numbers] : row) {
            put(both.first, column, numbers.first);
            put(both.second, column, numbers.second);
        }
        for (FileMatrix *to : {&both.first, &both.second})
            to->row_ptr.push_back(static_cast<std::int64_t>(to->col_idx.size()));
    }
    return both;
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

std::string as_json(const std::vector<Result> &coefficients, const perm_csr &a, double seconds) {
    using libperm::Json;
    Json texts = Json::Array(), bounds = Json::Array();
    bool exact = true;
    for (const Result &one : coefficients) {
        texts.push_back(one.text());
        bounds.push_back(one->rel_error_bound);
        exact = exact && one->exact == 1;
    }
    Json out = Json(Json::Object());
    out["coefficients"] = std::move(texts);
    out["rel_error_bounds"] = std::move(bounds);
    out["exact"] = exact;
    out["engine"] = std::string(coefficients.front()->engine);
    out["n_rows"] = a.n_rows;
    out["n_cols"] = a.n_cols;
    out["nnz"] = a.nnz;
    out["seconds"] = Json{{"total", seconds}, {"run", coefficients.front()->seconds_run}};
    return out.written();
}

} // namespace

void run_polynomial(const Options &options) {
    const Cancellable cancellable(notice_of(options));
    Progress progress(!options.quiet);
    const Stopwatch watch;
    auto [constant, linear] = read_both(options);
    const FileView of_x(linear);
    const Input input(options, std::move(constant));
    const std::vector<Result> found =
        polynomial(input.csr(), of_x.csr().values, library_options(options, progress));
    if (options.json) return write_stdout(as_json(found, input.csr(), watch.seconds()));
    std::string out;
    for (std::size_t k = 0; k < found.size(); ++k)
        out += options.quiet          ? found[k].text() + "\n"
               : found[k]->exact == 1 ? fmt::format("{} {}\n", k, found[k].text())
                                      : fmt::format("{} {} relative error at most {:.1e}\n", k,
                                                    found[k].text(), found[k]->rel_error_bound);
    write_stdout(out);
    const auto missed = [](const Result &one) { return one->tolerance_met == 0; };
    const auto worst = std::ranges::find_if(found, missed);
    if (worst != found.end())
        write_message(fmt::format(
            "{} coefficients miss the tolerance, that of x^{} with a relative error bound of "
            "{:.2g}",
            std::ranges::count_if(found, missed), worst - found.begin(), (*worst)->rel_error_bound));
}

} // namespace perm
