#include "lib/estimates/estimate_identity.hpp"

#include "jit/compile/digest.hpp"
#include "lib/base/archive.hpp"
#include "lib/execute/shards.hpp"

#include <vector>

namespace libperm {
namespace {

std::string digest_of(const InputPattern &input) {
    const std::vector<std::int32_t> numbers{input.pattern.rows, input.pattern.cols, input.free_rows,
                                            input.free_columns, input.repeats};
    return digest_of_bytes(written(numbers) + written(input.pattern.row_ptr) + written(input.pattern.col));
}

} // namespace

EstimateIdentity::EstimateIdentity(const InputPattern &input, const Values &values, const Options &given,
                                   const EstimateRequest &request)
    : matrix(digest_of_bytes(digest_of(input) + libperm::digest_of(values))) {
    const Passes &p = given.passes;
    const std::vector<std::uint64_t> numbers{request.seed,
                                             static_cast<std::uint64_t>(request.method),
                                             static_cast<std::uint64_t>(request.samples),
                                             given.seed,
                                             p.matching,
                                             p.dulmage_mendelsohn,
                                             p.degree_1,
                                             p.degree_2,
                                             p.forbert_marx,
                                             p.merging,
                                             p.scaling,
                                             p.periodic,
                                             given.decompose_as_published};
    options =
        digest_of_bytes(written(numbers) + written(std::vector<double>{request.epsilon, request.delta}));
}

} // namespace libperm
