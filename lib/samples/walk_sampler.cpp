#include "lib/samples/walk_sampler.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/randomness.hpp"
#include "lib/base/system.hpp"
#include "lib/bounds/potential.hpp"
#include "lib/estimates/sampler.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>

namespace libperm {
namespace {

constexpr std::size_t chunk = Sampler::at_once;

LogMatrix logarithms(const Pattern &a, const std::vector<Tracked> &entries) {
    LogMatrix out{a, {}};
    for (const Tracked &x : entries)
        out.log.push_back(std::log(x.value) + static_cast<double>(x.exp2) * std::numbers::ln2);
    return out;
}

class Rejection {
  public:
    Rejection(const Pattern &a, const std::vector<Tracked> &entries, std::uint64_t seed, const Poll &poll)
        : seed_(seed), by_columns_(logarithms(a, entries), poll) {
        Potential by_rows(transposed(logarithms(a, entries)), poll);
        is_transposed_ = by_rows.log_bound() < by_columns_.log_bound();
        if (is_transposed_) by_columns_ = std::move(by_rows);
        sampler_.emplace(by_columns_);
    }

    double seconds_of_chunk() const { return Sampler::seconds_of_chunk(by_columns_); }

    // Of a chunk's walks those that come through, each by the column of each row; how many would on average.
    double draw(std::uint64_t number, std::vector<std::int32_t> &columns) const {
        std::vector<double> values(chunk);
        sampler_->draw(seed_, number, values);
        double sum = 0;
        for (std::size_t k = 0; k < chunk; ++k) {
            sum += values[k];
            if (!(Randomness(~seed_, number * chunk + k).uniform() < values[k])) continue;
            const std::vector<std::int32_t> rows = sampler_->rows_of(seed_, number, k);
            const std::size_t first = columns.size();
            columns.resize(first + rows.size());
            for (std::size_t t = 0; t < rows.size(); ++t) {
                const std::int32_t column = by_columns_.columns()[t];
                const auto [i, j] = is_transposed_ ? std::pair(column, rows[t]) : std::pair(rows[t], column);
                columns[first + static_cast<std::size_t>(i)] = j;
            }
        }
        return sum;
    }

  private:
    std::uint64_t seed_;
    Potential by_columns_; // or of the transpose
    bool is_transposed_ = false;
    std::optional<Sampler> sampler_;
};

} // namespace

std::vector<std::int32_t> walk_samples(const Pattern &a, const std::vector<Tracked> &entries,
                                       std::int64_t shots, std::uint64_t seed, const Options &options,
                                       RunControl &control) {
    constexpr std::uint64_t pilot = 8, most_at_once = 4096; // chunks
    constexpr double most_chunks = 0x1p40;
    const Rejection rejection(a, entries, seed, [&control] { control.poll(); });
    const std::size_t size = static_cast<std::size_t>(a.rows) * static_cast<std::size_t>(shots);
    std::vector<std::int32_t> out;
    double values = 0, chunks = 0;
    while (out.size() < size) {
        // As many as are expected to be wanted, so that few are drawn in vain; what they are does not matter.
        const double left = static_cast<double>(size - out.size()) / a.rows,
                     wanted = chunks == 0  ? static_cast<double>(pilot)
                              : values > 0 ? std::min(1.1 * left * chunks / values + 1, most_chunks)
                                           : most_chunks;
        const double seconds = wanted * rejection.seconds_of_chunk() / options.threads;
        if (chunks > 0 && seconds > options.refuse_seconds)
            throw Error(
                PERM_REFUSED_TIME,
                formatted("the frontier does not fit the memory, and of {:.3g} walks {:.3g} are accepted: {} "
                          "samples "
                          "are predicted to take {}, {} is the limit\n  raise the limit: time_limit_seconds",
                          chunks * static_cast<double>(chunk), values, shots, readable_seconds(seconds),
                          readable_seconds(options.refuse_seconds)));
        if (chunks <= pilot) control.begin(wanted, seconds);
        const auto first = static_cast<std::uint64_t>(chunks),
                   count = static_cast<std::uint64_t>(std::min(wanted, static_cast<double>(most_at_once)));
        std::vector<std::vector<std::int32_t>> found(count);
        std::vector<double> sums(count);
        parallel_for(count, [&](std::uint64_t k) {
            sums[k] = rejection.draw(first + k, found[k]);
            control.advance(1);
        });
        for (std::uint64_t k = 0; k < count; ++k) {
            values += sums[k];
            out.insert(out.end(), found[k].begin(), found[k].end());
        }
        chunks += static_cast<double>(count);
    }
    out.resize(size);
    return out;
}

} // namespace libperm
