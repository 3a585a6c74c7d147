#include "capi/given.hpp"

#include "capi/plan_execute.hpp"
#include "lib/base/error.hpp"
#include "lib/input/matrix.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace capi {
namespace {

// That values are kept of.
std::int64_t matrices_of(std::int64_t stride, std::int64_t count) {
    return stride == 0 ? std::min<std::int64_t>(count, 1) : count;
}

// Of the plan's matrix, or matrices.
void take_values(TaskSource &source, const Given &given) {
    const libperm::InputPattern &input = given.plan->plan.input;
    const std::int64_t entries = libperm::values_given(input),
                       matrices = matrices_of(given.stride, given.count);
    const std::size_t size = libperm::size_of(input.value_type),
                      bytes = static_cast<std::size_t>(entries) * size;
    std::vector<char> all;
    const bool are_given = given.values && input.value_type != PERM_VALUE_PATTERN;
    for (std::int64_t k = 0; are_given && k < matrices; ++k) {
        const char *one =
            static_cast<const char *>(given.values) + k * given.stride * static_cast<std::int64_t>(size);
        all.insert(all.end(), one, one + bytes);
    }
    source.stride = given.stride == 0 ? 0 : entries;
    source.count = given.count;
    source.values = GivenNumbers(all.data(), matrices * entries, input.value_type);
}

} // namespace

TaskSource source_of(const Given &given, const std::string &way) {
    TaskSource source;
    if (given.is_of_plan()) {
        source = TaskSource(given.plan->plan);
        take_values(source, given);
        if (given.kind == libperm::TaskIdentity::derivatives) source.method = way;
    } else if (given.is_periodic()) {
        source = given.periodic->source;
        source.first_term = given.first;
        source.terms = given.count;
        source.plan = way;
    } else {
        source.take(given.opts);
        source.plan = way;
        source.samples = given.shots;
        source.estimate_seed = given.seed;
    }
    source.kind = given.kind;
    if (given.matrix) {
        const libperm::InputPattern input = libperm::read_once(given.matrix);
        const perm_csr known =
            libperm::read_known(*given.matrix, offsetof(perm_csr, row_multiplicity), "perm_csr");
        source.matrix =
            GivenMatrix(known, libperm::GivenValues(input, known).data(), libperm::values_given(input));
        source.values = GivenNumbers(given.linear, given.linear ? known.nnz : 0, known.value_type);
    }
    if (given.dense) source.dense = GivenDense(*given.dense);
    if (given.photons) {
        const perm_boson &a = *given.photons;
        perm_dense amplitudes = PERM_DENSE_INIT;
        amplitudes.n_rows = a.modes;
        amplitudes.n_cols = a.inputs;
        amplitudes.value_type = PERM_VALUE_C128;
        amplitudes.values = a.amplitudes;
        source.dense = GivenDense(amplitudes);
        source.photons.assign(a.photon_modes, a.photon_modes + a.photons);
    }
    source.take(given.wanted);
    return source;
}

Saved::Saved(TaskSource source, const perm_opts *opts)
    : source_(std::move(source)),
      opts_(source_.options(opts)),
      wanted_(source_.wanted()),
      matrix_(source_.matrix.csr()),
      dense_(source_.dense.dense()) {
    given_.kind = source_.kind;
    given_.opts = &opts_;
    given_.way = &source_.plan;
    given_.shots = source_.samples;
    given_.seed = source_.estimate_seed;
    if (given_.is_of_plan()) {
        give_plan(opts);
    } else if (given_.is_periodic()) {
        periodic_ =
            source_.periodic.with_view([&](const perm_periodic &a) { return periodic_plan(&a, &opts_); });
        given_.periodic = periodic_.get();
        given_.first = source_.first_term;
        given_.count = source_.terms;
    } else if (source_.kind == libperm::TaskIdentity::minors) {
        given_.dense = &dense_;
    } else if (source_.kind == libperm::TaskIdentity::photons) {
        give_photons();
    } else {
        give_matrix();
    }
}

Saved::~Saved() = default;

void Saved::give_plan(const perm_opts *opts) {
    plan_ = load_plan(source_.plan, opts);
    given_.plan = plan_.get();
    given_.values = source_.values.data();
    if (source_.kind == libperm::TaskIdentity::derivatives) given_.way = &source_.method;
    if (source_.kind == libperm::TaskIdentity::batch) {
        given_.stride = source_.stride;
        given_.count = source_.count;
    }
    constexpr std::int64_t most = std::int64_t{1} << 31;
    const libperm::InputPattern &input = plan_->plan.input;
    const std::int64_t each = libperm::values_given(input);
    const bool is_shape =
        0 <= given_.count && given_.count <= most && (given_.stride == 0 || given_.stride == each);
    if (!is_shape || !source_.values.are(matrices_of(given_.stride, given_.count) * each, input.value_type))
        throw libperm::Error(PERM_BAD_ARGUMENT,
                             "the saved task has not the values of its plan's matrix: load a plan that was "
                             "saved alone with perm_plan_load, and make a task of it with values");
}

void Saved::give_matrix() {
    given_.matrix = &matrix_;
    if (source_.kind == libperm::TaskIdentity::estimate) given_.wanted = &wanted_;
    if (source_.kind != libperm::TaskIdentity::polynomial) return;
    if (!source_.values.are(matrix_.nnz, matrix_.value_type))
        throw libperm::Error(PERM_BAD_ARGUMENT, "the saved polynomial has not a linear part for each entry");
    given_.linear = source_.values.data();
}

void Saved::give_photons() {
    if (dense_.count != 1 || dense_.value_type != PERM_VALUE_C128)
        throw libperm::Error(PERM_BAD_ARGUMENT, "the saved task is damaged: its amplitudes are none");
    photons_.modes = dense_.n_rows;
    photons_.inputs = dense_.n_cols;
    photons_.amplitudes = dense_.values;
    photons_.photons = std::ssize(source_.photons);
    photons_.photon_modes = source_.photons.data();
    given_.photons = &photons_;
}

} // namespace capi
