#include "lib/samples/matching_samples.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>

namespace libperm {

MatchingSamples::MatchingSamples(const InputPattern &input, const Values &values, std::int64_t shots,
                                 std::uint64_t seed, const Options &options)
    : plan_(input, values, shots, seed, options),
      threads_(options.threads),
      charge_(&call().memory(), plan_.bytes()) {
    for (std::size_t k = 0; k < plan_.walked(); ++k)
        walks_.push_back(std::make_unique<WalkSampler>(plan_.walks(k), options));
    call().begin(plan_.serial_seconds(), plan_.seconds());
}

void MatchingSamples::draw(std::int64_t count, std::int64_t *columns) {
    if (count < 0 || count > left())
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("{} samples cannot be drawn: of {} for which the sampler was made, {} are left",
                              count, plan_.shots(), left()));
    if (count > 0 && rows() > 0)
        with_threads(threads_, [&] {
            std::int64_t bytes = plan_.bytes();
            for (const auto &walks : walks_) bytes += walks->bytes_for(count);
            charge_.resize(bytes);
            for (const auto &walks : walks_) walks->reach(drawn_, count);
            const auto piece = std::clamp<std::int64_t>(count / threads_, 1, plan_.at_once());
            parallel_for(static_cast<std::uint64_t>((count + piece - 1) / piece), [&](std::uint64_t number) {
                const std::int64_t first = static_cast<std::int64_t>(number) * piece;
                const auto size = static_cast<std::uint32_t>(std::min(piece, count - first));
                draw_piece(drawn_ + first, size, columns + first * rows());
                call().advance(plan_.shot_seconds() * size);
            });
        });
    drawn_ += count;
}

void MatchingSamples::draw_piece(std::int64_t first, std::uint32_t count, std::int64_t *columns) const {
    plan_.draw_numbered(first, count, columns);
    for (std::size_t w = 0; w < walks_.size(); ++w)
        for (std::int64_t k = 0; k < count; ++k)
            plan_.place(w, walks_[w]->columns_of(first + k), columns + k * rows());
}

} // namespace libperm
