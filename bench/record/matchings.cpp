// Matchings: sums over all of them, where lines may stay unmatched; numbers of those with k entries;
// probabilities of entries; derivatives, many matrices at once.
#include "bench/record/record.hpp"

#include <fmt/format.h>

#include <utility>

using namespace perm::families;

namespace {

// Nonnegative ones: others have no probabilities.
std::vector<Sample> with_unmatched() {
    const Sample some6 = samples::real("some6", erdos_renyi(6, 0.7, Entries::nonnegative, 101)),
                 some15 = samples::real("some15", permutation_plus(15, 4, Entries::nonnegative, 102)),
                 band24 = samples::real("band24", banded(24, 1, 2, Entries::nonnegative, 103)),
                 wide = samples::real("wide", from_dense({{1, 2, 0, 3}, {0.5, 0, 4, 1}})),
                 twice = samples::repeated(some6, {1, 2, 1, 1, 1, 1}, {1, 1, 1, 1, 2, 1});
    std::vector<Sample> all{some6, some15, band24, wide, twice};
    all.back().name = "twice";
    for (const Sample &sample : {some6, some15, band24, wide, twice})
        for (const auto &[rows, cols] : {std::pair(true, false), {false, true}, {true, true}}) {
            all.push_back(samples::unmatched(sample, rows, cols));
            all.back().name = fmt::format("{}{}/{}{}", sample.name, sample.row_times.empty() ? "" : "_twice",
                                          rows ? "rows" : "", cols ? "cols" : "");
        }
    return all;
}

std::vector<Sample> with_signs() {
    return {samples::unmatched(samples::real("signed7", erdos_renyi(7, 0.7, Entries::real, 104)), true, true),
            samples::unmatched(samples::complex("complex6", erdos_renyi(6, 0.7, Entries::real, 105)), true,
                               false)};
}

std::vector<Sample> counted() {
    return {samples::pattern("grid4x5", grid(4, 5)),
            samples::pattern("ones7", constant(7, 1)),
            samples::real("real8", erdos_renyi(8, 0.6, Entries::real, 106)),
            samples::whole("whole9", erdos_renyi(9, 0.5, Entries::integers, 107)),
            samples::complex("complex6", erdos_renyi(6, 0.7, Entries::real, 108)),
            samples::text("text6", erdos_renyi(6, 0.7, Entries::real, 109), samples::Written::fractions),
            samples::real("wide", from_dense({{1, 2, 0, 3}, {0.5, 0, 4, 1}})),
            samples::repeated(samples::whole("times5", erdos_renyi(5, 1, Entries::integers, 110)),
                              {2, 1, 1, 3, 1}, {1, 2, 2, 1, 2})};
}

void record_numbers(Recorder &to, const Sample &sample) {
    for (const char *precision : {"auto", "exact"})
        to.attempt_each(fmt::format("matchings/{}/{}", sample.name, precision), [&] {
            return perm::matchings(GivenSample(sample).csr(), to.options("auto", precision));
        });
}

// Of the values as they are, and of a batch: these, then those in the other order.
struct Batch {
    static constexpr std::int64_t count = 2;
    std::vector<double> values;
    std::int64_t stride;

    explicit Batch(const Sample &sample)
        : values(sample.doubles),
          stride(std::ssize(sample.doubles) / (sample.type == PERM_VALUE_C128 ? 2 : 1)) {
        values.insert(values.end(), sample.doubles.rbegin(), sample.doubles.rend());
    }
};

void record_marginals(Recorder &to, const Sample &sample, const PlanOf &plan) {
    const auto count = static_cast<std::size_t>(std::ssize(sample.col_idx) + sample.n_rows + sample.n_cols);
    const std::string name = fmt::format("marginals/{}", sample.name);
    to.attempt(name, [&] {
        std::vector<double> marginals(count), bounds(count);
        perm::Result result;
        perm::check(perm_plan_marginals(plan.get(), GivenSample(sample).values(), marginals.data(),
                                        bounds.data(), result.raw()));
        return fmt::format("{} marginals={} bounds={}", result_text(*result.raw()), numbers_text(marginals),
                           numbers_text(bounds));
    });
    to.attempt(name + "/batch", [&] {
        const Batch batch(sample);
        std::vector<double> marginals(Batch::count * count), bounds(Batch::count * count);
        perm::check(perm_plan_marginals_batch(plan.get(), batch.values.data(), batch.stride, Batch::count,
                                              marginals.data(), bounds.data(), nullptr));
        return fmt::format("marginals={} bounds={}", numbers_text(marginals), numbers_text(bounds));
    });
}

void record_gradients(Recorder &to, const Sample &sample, const PlanOf &plan) {
    to.attempt(fmt::format("gradients/{}/batch", sample.name), [&] {
        const Batch batch(sample);
        std::vector<double> gradients(batch.values.size()), bounds(batch.stride * Batch::count);
        perm::check(perm_plan_gradient_batch(plan.get(), batch.values.data(), batch.stride, Batch::count,
                                             gradients.data(), bounds.data(), nullptr));
        return fmt::format("gradients={} bounds={}", numbers_text(gradients), numbers_text(bounds));
    });
}

} // namespace

void record_matchings(Recorder &to) {
    std::vector<Sample> all = with_unmatched();
    for (const Sample &sample : with_signs()) all.push_back(sample);
    for (const Sample &sample : all) {
        for (const char *precision : {"auto", "dd", "exact"})
            to.compute(fmt::format("unmatched/{}/{}", sample.name, precision), sample,
                       to.options("auto", precision));
        const PlanOf plan = plan_of(sample, to.options());
        record_marginals(to, sample, plan);
        record_gradients(to, sample, plan);
    }
    for (const Sample &sample : counted()) record_numbers(to, sample);
}
