#include "lib/estimates/estimate_task.hpp"

#include "jit/compile/digest.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/bounds/line_signs.hpp"
#include "lib/estimates/additive.hpp"
#include "lib/estimates/nonnegative.hpp"
#include "lib/input/digest.hpp"
#include "lib/plan/plan.hpp"
#include "lib/samples/sample_devices.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace libperm {
namespace {

// The entries' absolute values, of a real matrix.
Values absolute(Values values) {
    for (double &x : values.real) x = std::fabs(x);
    for (Gaussian &x : values.wide) x.re = abs(x.re);
    return values;
}

// That all terms have; 0: they have no common one, or nobody sees it.
int sign_of_terms(const InputPattern &input, const Values &values, RunControl &control) {
    if (!some_negative(values)) return 1;
    return some_complex(values) ? 0 : sign_by_lines(root_block<Tracked>(input, values, control));
}

std::string digest_of(const InputPattern &input) {
    const std::vector<std::int32_t> numbers{input.pattern.rows, input.pattern.cols, input.free_rows,
                                            input.free_columns, input.repeats};
    return digest_of_bytes(written(numbers) + written(input.pattern.row_ptr) + written(input.pattern.col));
}

std::string digest_of(const Options &given, const EstimateRequest &request) {
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
    return digest_of_bytes(written(numbers) + written(std::vector<double>{request.epsilon, request.delta}));
}

// Who draws such a share of the samples; refused where that is predicted to take too long.
SamplesDrawn drawn_where(const EstimatePlan &plan, double share, const Options &options) {
    if (share == 0) return {nullptr, 0};
    const auto on_gpu = [&](const GpuProperties &gpu) { return share * plan.seconds_on(gpu); };
    const double seconds = share * plan.seconds();
    SamplesDrawn drawn = plan.may_be_on_gpu() ? choose_device(seconds, on_gpu, options)
                                              : SamplesDrawn{nullptr, seconds / options.threads};
    plan.refuse_if_longer(drawn.seconds, options);
    return drawn;
}

// By whichever method its entries allow. Throws Error, also where no estimate can be had.
std::unique_ptr<const EstimatePlan> plan_estimate(const InputPattern &input, const Values &values,
                                                  const Options &options, const EstimateRequest &request,
                                                  RunControl &control) {
    const int sign = request.method == EstimateMethod::glynn ? 0 : sign_of_terms(input, values, control);
    const bool of_nonnegative =
        request.method == EstimateMethod::nesting || request.method == EstimateMethod::rejection;
    if (sign == 0 && of_nonnegative)
        throw Error(
            PERM_BAD_MATRIX,
            "some entries are negative or complex: this method is for nonnegative matrices, and those "
            "that signs of rows and columns make nonnegative; use auto or glynn, whose error is "
            "additive");
    if (sign == 0) return plan_additive(input, values, options, request, control);
    return plan_nonnegative(input, absolute(values), sign, options, request, control);
}

} // namespace

EstimateTask::EstimateTask(InputPattern input, Values values, const Options &options,
                           const EstimateRequest &request, RunControl &control)
    : options_(options) {
    simplify(input, values);
    n_ = input.pattern.rows;
    entries_ = input.pattern.nnz();
    matrix_ = digest_of_bytes(digest_of(input) + libperm::digest_of(values));
    wish_ = digest_of(options, request);
    plan_ = plan_estimate(input, values, options, request, control);
}

TaskIdentity EstimateTask::identity() const {
    return {TaskIdentity::estimate,
            {{matrix_, "another matrix"},
             {wish_, "an estimate with other options"},
             {plan_->digest(), "an estimate that was planned otherwise, as versions or machines differ"}}};
}

KeptAbout EstimateTask::about() const {
    KeptAbout it;
    it.n = n_;
    it.entries = entries_;
    it.way = plan_->method();
    it.seconds = plan_->seconds();
    return it;
}

void EstimateTask::tell(const MatrixEstimate &found, KeptAbout &about) const {
    about.samples = found.samples;
    about.lower = found.lower;
    about.upper = found.upper;
}

MatrixEstimate EstimateTask::run(PieceStore *store, RunControl &control, const Told &told) const {
    const Charge held(&control.memory(), plan_->bytes());
    // Where all is known that is expected to be enough, what is still missing is drawn here.
    const double share = store ? plan_->share_unknown(*store) : 1;
    const SamplesDrawn drawn = drawn_where(*plan_, share, options_);
    return plan_->run(store, drawn.devices.get(), control, told);
}

void EstimateTask::run_shard(const Shard &shard, PieceStore &store, RunControl &control) const {
    const Charge held(&control.memory(), plan_->bytes());
    const SamplesDrawn drawn = drawn_where(*plan_, store.share(), options_);
    plan_->run_shard(static_cast<std::int64_t>(shard.number), store, drawn.devices.get(), control);
}

} // namespace libperm
