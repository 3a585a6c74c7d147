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
        if (perm_plan_create(&band.csr, &opts, &plan) != PERM_OK ||
            perm_task_plan(plan, band.csr.values, &task) != PERM_OK)
            fuzz::fail(perm_last_error());
        std::int64_t count = 0;
        perm_task_shards(task, &count, nullptr, nullptr);
        for (std::int64_t k = 0; k < count; ++k) {
            perm_partial partial = PERM_PARTIAL_INIT;
            if (perm_task_run_shard(task, k, &partial) != PERM_OK) fuzz::fail(perm_last_error());
            genuine.emplace_back(static_cast<const char *>(partial.bytes), partial.size);
            perm_partial_clear(&partial);
        }
    }

    Shards(const Shards &) = delete;
    Shards &operator=(const Shards &) = delete;

    const fuzz::Band band;
    perm_plan *plan = nullptr;
    perm_task *task = nullptr;
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
    perm_answer answer = PERM_ANSWER_INIT;
    answer.results = &result;
    answer.count = 1;
    check_call(
        perm_task_combine(shards.task, partials.data(), static_cast<std::int64_t>(partials.size()), &answer),
        result);
}

std::vector<std::string> fuzz::seeds() {
    std::vector<std::string> inputs;
    for (std::size_t k = 0; k < all().size(); ++k)
        inputs.push_back(std::string(1, static_cast<char>(k)) + payload_of(all()[k].genuine.front()));
    return inputs;
}
