#include "lib/base/archive.hpp"
#include "lib/glynn/polynomial_sums.hpp"
#include "lib/number/ball.hpp"
#include "lib/polynomial/substitution.hpp"
#include "lib/run/pieces.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace libperm {

// What a piece comes to.
struct PolynomialPart {
    LineSums sums;
};

template <class Archive> void fields(Archive &ar, PolynomialPart &part) {
    for (const std::span<double> table : {part.sums.all_sums(), part.sums.all_masses()})
        ar(cereal::binary_data(table.data(), table.size_bytes()));
    require_read<Archive>(std::ranges::all_of(part.sums.all_masses(), [](double mass) { return mass >= 0; }),
                          "a sum of absolute values");
}

namespace {

class BySigns final : public Substitution {
  public:
    BySigns(const LinearEntries &entries, const Options &options, std::unique_ptr<const PolynomialSums> sums)
        : sums_(std::move(sums)),
          count_(static_cast<int>(entries.degree + 1)),
          plan_(no_plan(entries, options)),
          task_(plan_, engine_name(engine_for(Goal::polynomial)), sums_->seconds(), sums_->pieces().count(),
                [this](PieceStore *store) { parts(store); }) {}

    const Plan &plan() const override { return plan_; }
    const Task &task() const override { return task_; }
    bool is_planned() const override { return false; }
    double seconds() const override { return sums_->seconds() / plan_.options.threads; }

    std::vector<Outcome> coefficients(PieceStore *store) const override {
        const std::vector<PolynomialPart> found_parts = parts(store);
        if (store && store->is_of_one_shard()) return {};
        LineSums all = found_parts.front().sums;
        for (std::size_t k = 1; k < found_parts.size(); ++k) all.add(found_parts[k].sums);
        std::vector<Outcome> out;
        for (int k = 0; k < count_; ++k) {
            const PolynomialSums::Coefficient found = sums_->coefficient(all, k);
            Outcome one;
            one.engine = engine_for(Goal::polynomial);
            one.blocks = one.blocks_computed = 1;
            one.predicted_seconds = seconds();
            one.counts.subsets = sums_->terms();
            if (found.im.mantissa == 0 && found.re_rest.mantissa == 0)
                set_value(one, Ball{found.re, found.error});
            else
                set_value(one, WideBall{{exact_number(found.re) + exact_number(found.re_rest),
                                         exact_number(found.im) + exact_number(found.im_rest)},
                                        found.error});
            out.push_back(std::move(one));
        }
        return out;
    }

  private:
    std::vector<PolynomialPart> parts(PieceStore *store) const {
        const NumberedPieces pieces = sums_->pieces();
        const double share = store ? store->share() : 1, work = static_cast<double>(pieces.count());
        call().begin(share * work, share * seconds());
        CurrentCall own(1, PieceScope{store, {}});
        return parts_of_pieces(pieces.count(), 1, PolynomialPart{sums_->no_sums()},
                               each_on_its_thread([&](std::uint64_t k) {
                                   PolynomialPart part{sums_->piece(pieces[k])};
                                   call().advance(1);
                                   return part;
                               }));
    }

    const std::unique_ptr<const PolynomialSums> sums_;
    const int count_;
    const Plan plan_;
    const SumsTask task_;
};

// A number that is a double in both parts.
std::optional<std::complex<double>> as_double(const Gaussian &x) {
    const std::complex<double> near(x.re.get_d(), x.im.get_d());
    if (!std::isfinite(near.real()) || !std::isfinite(near.imag())) return {};
    if (mpq_class(near.real()) != x.re || mpq_class(near.imag()) != x.im) return {};
    return near;
}

// Kinds of lines: how often each counts, and which of the caller's it is.
struct Kinds {
    Kinds(const LineCounts &counts, std::int32_t lines) : kind_of(at(lines), -1) {
        for (std::int32_t k = 0; k < lines; ++k) {
            if (counts[k] == 0) continue;
            kind_of[at(k)] = static_cast<int>(count.size());
            count.push_back(static_cast<int>(std::min<std::int64_t>(counts[k], most_of_kind + 1)));
        }
    }
    std::vector<int> count, kind_of; // kind_of: -1 where it is none
};

} // namespace

std::unique_ptr<Substitution> by_signs(const LinearEntries &entries, const Options &options) {
    const InputPattern &given = as_given(entries.input);
    const LineCounts row_count = entries.row_count(), column_count = entries.column_count();
    if (entries.input.pattern.one_sided || given.row_weights || given.col_weights ||
        row_count.sum() != column_count.sum() || row_count.sum() > most_polynomial_rows ||
        options.names_engine() || options.device == Device::gpu)
        return nullptr;
    const Kinds rows(row_count, given.pattern.rows), columns(column_count, given.pattern.cols);
    std::map<std::pair<int, int>, std::pair<std::complex<double>, std::complex<double>>> numbers;
    bool is_complex = false;
    for (std::int32_t i = 0; i < given.pattern.rows; ++i)
        for (std::int64_t k = given.pattern.row_begin(i); k < given.pattern.row_begin(i + 1); ++k) {
            const int row = rows.kind_of[at(i)], column = columns.kind_of[at(given.pattern.col[at(k)])];
            const auto c = as_double(entries.constant_at(at(k))), l = as_double(entries.linear_at(at(k)));
            if (!c || !l) return nullptr;
            if (row < 0 || column < 0) continue;
            is_complex = is_complex || c->imag() != 0 || l->imag() != 0;
            numbers[{row, column}] = {*c, *l};
        }
    const auto at_place = [&](int i, int j) {
        const auto found = numbers.find({i, j});
        return found == numbers.end() ? decltype(found->second)() : found->second;
    };
    auto sums = PolynomialSums::of(
        {rows.count, columns.count, static_cast<int>(entries.degree), is_complex,
         options.precision == Precision::dd},
        [&](int i, int j) { return at_place(i, j).first; },
        [&](int i, int j) { return at_place(i, j).second; }, -entries.balanced_radius());
    if (!sums) return nullptr;
    return std::make_unique<BySigns>(entries, options, std::move(sums));
}

} // namespace libperm
