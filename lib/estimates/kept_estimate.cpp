#include "lib/estimates/kept_estimate.hpp"

#include "lib/estimates/estimate_shards.hpp"
#include "lib/execute/kept_pieces.hpp"

#include <utility>

namespace libperm {

MatrixEstimate run_kept(const EstimatePlan &plan, const EstimateIdentity &identity, const InputPattern &input,
                        const Options &options, SampleDevices *devices, RunControl &control,
                        const EstimatePlan::Told &told) {
    if (options.checkpoint.empty()) {
        MatrixEstimate out = plan.run(nullptr, devices, control, told);
        control.finish();
        return out;
    }
    KeptAbout about;
    about.n = input.pattern.rows;
    about.entries = input.pattern.nnz();
    about.way = plan.method();
    about.seconds = plan.seconds();
    KeptPieces kept(options, control, identity_of(plan, identity), std::move(about));
    const auto tell = [&](const MatrixEstimate &found) {
        kept.about().samples = found.samples;
        kept.about().lower = found.lower;
        kept.about().upper = found.upper;
        if (told) told(found);
    };
    return kept.run([&](PieceStore &store) {
        MatrixEstimate out = plan.run(&store, devices, control, tell);
        tell(out);
        return out;
    });
}

} // namespace libperm
