#include "shard_work.hpp"

#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/base/json.hpp"
#include "lib/base/seal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace perm {
namespace {

constexpr libperm::Seal seal{"PERMWISH", 1, "the estimate of a part", "perm shard --estimate",
                             "finish with that version, or remove the part and run perm shard again"};

class PlanWork final : public ShardWork {
  public:
    PlanWork(const std::string &file, const PartFile &part, const perm_opts &opts)
        : values_(part.values, part.plan.pattern.value_type), plan_(load_plan(file, part.plan, opts)) {}

    std::int64_t shards() const override { return plan_.shards(); }
    double shard_seconds() const override { return plan_.shard_seconds(); }
    std::string run_shard(std::int64_t number) const override {
        return plan_.run_shard(values_.data(), number);
    }

    // A shard of a frontier, or on a GPU, has work for all threads; another for one.
    int runners(std::int64_t count) const override {
        const auto about = libperm::Json::read(plan_.explain(PERM_FORMAT_JSON));
        if (about.at("device") != "cpu" || about.at("engine") == "frontier") return 1;
        return static_cast<int>(std::min<std::int64_t>(count, about.integer("threads")));
    }

  private:
    ValuesView values_;
    Plan plan_;
};

perm_csr with(perm_csr a, const void *values) {
    a.values = values;
    return a;
}

perm_opts reductions_of(const Options &options, std::uint64_t seed) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.seed = seed;
    opts.without = options.without.c_str();
    opts.decompose = options.decompose.c_str();
    return opts;
}

} // namespace

KeptEstimate::KeptEstimate(const perm_estimate_opts &wanted, const Options &options)
    : wish_(reductions_of(options, wanted.seed), wanted) {}

KeptEstimate::KeptEstimate(const std::string &bytes) {
    try {
        std::string_view payload = libperm::unsealed(seal, bytes);
        libperm::read_into(payload, wish_);
    } catch (const libperm::Error &error) {
        throw Error(error.status(), error.what());
    } catch (const cereal::Exception &) {
        throw Error(PERM_BAD_ARGUMENT, "the estimate of a part is cut off");
    }
}

std::string KeptEstimate::bytes() const { return libperm::sealed(seal, libperm::written(wish_)); }

bool KeptEstimate::is_in(const std::string &bytes) { return bytes.starts_with(seal.magic); }

perm_opts KeptEstimate::options(perm_opts opts) const { return wish_.options(opts); }

EstimateWork::EstimateWork(const PartFile &part, const perm_opts &opts)
    : kept_(part.plan.plan),
      values_(part.values, part.plan.pattern.value_type),
      csr_(with(part.plan.pattern.csr(), values_.data())),
      estimation_(csr_, kept_.wanted(), kept_.options(opts)) {}

std::unique_ptr<const ShardWork> work_of(const std::string &file, const PartFile &part,
                                         const perm_opts &opts) {
    if (!KeptEstimate::is_in(part.plan.plan)) return std::make_unique<PlanWork>(file, part, opts);
    try {
        return std::make_unique<EstimateWork>(part, opts);
    } catch (const Error &error) {
        throw Error(error.status(), fmt::format("{}: {}", file, error.what()));
    }
}

} // namespace perm
