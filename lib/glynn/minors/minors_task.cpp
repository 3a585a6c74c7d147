#include "lib/glynn/minors/minors_task.hpp"

#include "jit/compile/digest.hpp"
#include "preprocess/index.hpp"

namespace libperm {

TaskIdentity MinorsTask::identity() const {
    const bool gradients = minors_.what() == LeftOut::gradients;
    return {TaskIdentity::minors,
            {{digest_of_bytes(gradients ? "derivatives" : "sub-permanents"),
              gradients ? "sub-permanents" : "derivatives of dense matrices"},
             {minors_.matrices().digest(), "other matrices"}}};
}

KeptAbout MinorsTask::about() const {
    KeptAbout it;
    it.n = minors_.matrices().order();
    it.entries = minors_.matrices().entries() * minors_.count();
    it.way = engine_name(engine_for(Goal::dense));
    const ShardCount all = shards();
    it.seconds = all.seconds * static_cast<double>(all.count) / options_.threads;
    return it;
}

Minors MinorsTask::run(PieceStore *store, RunControl &control, const Told &) const {
    const std::size_t numbers = at(minors_.numbers()), parts = minors_.parts(),
                      permanents = minors_.what() == LeftOut::gradients ? at(minors_.count()) : 0;
    Minors found{std::vector<double>(numbers * parts), std::vector<double>(numbers),
                 std::vector<double>(permanents * parts), std::vector<double>(permanents)};
    RunControl own(control, 1, PieceScope{store, {}});
    const bool with_permanents = permanents > 0;
    minors_.run(options_, own,
                {found.numbers.data(), found.bounds.data(),
                 with_permanents ? found.permanents.data() : nullptr,
                 with_permanents ? found.permanent_bounds.data() : nullptr});
    return found;
}

} // namespace libperm
