// Partial results with anything behind a right seal, combined with those of the other shards.
#include "tests/fuzz/inputs.hpp"
#include "tests/fuzz/sealed.hpp"

#include <span>

namespace {

class Shards {
  public:
    Shards(const char *engine, const char *precision) {
        perm_opts opts = fuzz::limited();
        opts.engine = engine;
        opts.precision = precision;
        opts.without = "all";
        if (perm_plan_create(&band.csr, &opts, &plan) != PERM_OK) fuzz::fail(perm_last_error());
        std::int64_t count = 0;
        perm_plan_shards(plan, &count, nullptr);
        for (std::int64_t k = 0; k < count; ++k) {
            perm_partial partial = PERM_PARTIAL_INIT;
            if (perm_plan_run_shard(plan, band.csr.values, k, &partial) != PERM_OK)
                fuzz::fail(perm_last_error());
            genuine.emplace_back(static_cast<const char *>(partial.bytes), partial.size);
            perm_partial_clear(&partial);
        }
    }

    Shards(const Shards &) = delete;
    Shards &operator=(const Shards &) = delete;

    const fuzz::Band band;
    perm_plan *plan = nullptr;
    std::vector<std::string> genuine;
};

std::span<const Shards> all() {
    static const Shards shards[]{{"frontier", "double"}, {"tree", "double"}, {"tree", "exact"},
                                 {"ryser", "mpfr:100"},  {"frontier", "dd"}, {"frontier", "mpfr:100"}};
    return shards;
}

} // namespace

void fuzz::run(std::string_view input) {
    Bytes bytes(input);
    const Shards &shards = all()[bytes.bits(1) % all().size()];
    const std::string changed = sealed_like(shards.genuine.front(), std::string(bytes.rest()));
    std::vector<perm_partial> partials;
    for (const std::string &genuine : shards.genuine) {
        const std::string &part = partials.empty() ? changed : genuine;
        perm_partial partial = PERM_PARTIAL_INIT;
        partial.bytes = const_cast<char *>(part.data());
        partial.size = part.size();
        partials.push_back(partial);
    }
    perm_result result = PERM_RESULT_INIT;
    check_call(perm_plan_combine(shards.plan, shards.band.csr.values, partials.data(),
                                 static_cast<std::int64_t>(partials.size()), &result),
               result);
}

std::vector<std::string> fuzz::seeds() {
    std::vector<std::string> inputs;
    for (std::size_t k = 0; k < all().size(); ++k)
        inputs.push_back(std::string(1, static_cast<char>(k)) + payload_of(all()[k].genuine.front()));
    return inputs;
}
