#include "lib/estimates/estimate_shards.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/seal.hpp"
#include "lib/run/piece_fields.hpp"
#include "lib/run/shards_there.hpp"

#include <vector>

namespace libperm {
namespace {

constexpr Seal seal{"PERMESTP", 1, "the partial result", "perm_estimate_run_shard",
                    "run its shard again with this one"};

struct Partial {
    EstimateIdentity of;
    std::string plan; // its digest
    std::int64_t number = 0;
    std::vector<Piece> pieces;

    template <class Archive> void serialize(Archive &ar) { ar(of, plan, number, pieces); }
};

Partial read_partial(std::string_view bytes, std::size_t index) {
    try {
        return content_of<Partial>(seal, bytes);
    } catch (const Error &error) {
        throw Error(error.status(), formatted("partial result {}: {}", index, error.what()));
    }
}

} // namespace

std::string run_estimate_shard(const EstimatePlan &plan, const EstimateIdentity &identity,
                               std::int64_t number, SampleDevices *devices, RunControl &control) {
    PieceStore store(&control.memory());
    plan.run_shard(number, store, devices, control);
    control.finish();
    return sealed(seal, written(Partial{identity, plan.digest(), number, store.pieces()}));
}

MatrixEstimate combine_estimate(const EstimatePlan &plan, const EstimateIdentity &identity,
                                std::span<const std::string_view> partials, RunControl &control,
                                const EstimatePlan::Told &told) {
    const std::string digest = plan.digest();
    ShardsThere there(plan.shards().count);
    PieceStore store(&control.memory());
    for (std::size_t k = 0; k < partials.size(); ++k) {
        const auto require = [k](bool holds, const char *what) {
            if (!holds)
                throw Error(PERM_BAD_ARGUMENT, formatted("partial result {} is of {}: leave it out, and run "
                                                         "the shards that are missing with these",
                                                         k, what));
        };
        Partial partial = read_partial(partials[k], k);
        require(partial.of.matrix == identity.matrix, "another matrix");
        require(partial.of.options == identity.options, "an estimate with other options");
        require(partial.plan == digest,
                "an estimate that was planned otherwise, as versions or machines differ");
        const auto number = static_cast<std::uint64_t>(partial.number); // later ones are not asked for
        if (number < there.count()) there.take(number);
        for (Piece &piece : partial.pieces) store.put(std::move(piece));
    }
    there.require_all();
    MatrixEstimate out = plan.run(&store, nullptr, control, told);
    control.finish();
    return out;
}

} // namespace libperm
