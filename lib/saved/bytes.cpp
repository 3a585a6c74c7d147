#include "lib/saved/bytes.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/seal.hpp"
#include "lib/saved/fields.hpp"

namespace libperm {
namespace {

constexpr Seal seal{"PERMPLAN", 4, "the saved plan", "perm_plan_save",
                    "make the plan anew and save it again"};

// The plan's options with the caller's threads, limits, cache and callbacks.
class OptionMerge {
  public:
    OptionMerge(const Options &plan, const Options &caller) : plan_(plan), caller_(caller), merged_(caller) {}

    Options run() {
        take("engine", &Options::engine);
        take("device", &Options::device);
        take("precision", &Options::precision);
        take("precision", &Options::mpfr_bits);
        take("precision", &Options::modulus);
        take("tolerance", &Options::tolerance);
        take("seed", &Options::seed);
        take("without", &Options::passes);
        take("decompose", &Options::decompose_as_published);
        take("chunks", &Options::equal_chunks);
        return merged_;
    }

  private:
    // What is as it is by default was not asked for.
    template <class Value> void take(const char *name, Value Options::*option) {
        const Value &given = caller_.*option, &own = plan_.*option;
        if (!(given == own) && !(given == Options().*option))
            throw Error(PERM_BAD_OPTION,
                        formatted("the saved plan was made with another {0}: leave {0} out, or "
                                  "make a plan anew",
                                  name));
        merged_.*option = own;
    }

    const Options &plan_, &caller_;
    Options merged_;
};

} // namespace

std::string bytes_of(const Plan &plan) { return sealed(seal, written(saved(plan))); }

Plan plan_of(std::string_view bytes, const Options &caller) {
    std::string_view payload = unsealed(seal, bytes);
    try {
        auto content = read_payload<SavedPlan>(seal, payload);
        require(payload.empty(), "bytes behind its end");
        const Options options = OptionMerge(content.plan.options, caller).run();
        return restored(std::move(content), options);
    } catch (const DamagedField &field) {
        fail_damaged(seal, field);
    }
}

std::string digest_of(const Plan &plan) { return digest_of_bytes(written(saved(plan, false))); }

} // namespace libperm
