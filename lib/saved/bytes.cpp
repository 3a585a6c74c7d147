#include "lib/saved/bytes.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/saved/plan.hpp"

namespace libperm {
namespace {

// The plan's options with the caller's threads, limits, cache and callbacks.
class OptionMerge {
  public:
    OptionMerge(const SavedPlan &of, const Options &caller)
        : of_(of), plan_(of.plan.options), caller_(caller), merged_(caller) {}

    Options run() {
        take("function", &Options::function);
        take("engine", &Options::engine);
        take_device();
        take_precision();
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
        require(name, given == own || given == Options().*option);
        merged_.*option = own;
    }
    // What the plan's blocks are computed on already may be asked for.
    void take_device() {
        if (caller_.device == Device::automatic) merged_.device = plan_.device;
        if (merged_.device == plan_.device) return;
        const bool on_gpu = caller_.device == Device::gpu;
        for (const SavedBlock &block : of_.blocks)
            if (0 <= block.plan.chosen && block.plan.chosen < std::ssize(block.plan.candidates) &&
                block.plan.choice()->on_gpu != on_gpu)
                throw Error(PERM_BAD_OPTION,
                            formatted("the saved plan computes on {}: leave device out, or make it anew, "
                                      "with device {}",
                                      on_gpu ? "the processor" : "a GPU", on_gpu ? "gpu" : "cpu"));
    }
    // Its fields are one option: residues are exact numbers, and no others are.
    void take_precision() {
        require("precision", is_same_precision(caller_, plan_) || is_same_precision(caller_, Options()));
        merged_.precision = plan_.precision;
        merged_.mpfr_bits = plan_.mpfr_bits;
        merged_.modulus = plan_.modulus;
    }
    static void require(const char *name, bool is_allowed) {
        if (!is_allowed)
            throw Error(PERM_BAD_OPTION,
                        formatted("the saved plan was made with another {0}: leave {0} out, or "
                                  "make a plan anew",
                                  name));
    }

    const SavedPlan &of_;
    const Options &plan_, &caller_;
    Options merged_;
};

} // namespace

std::string bytes_of(const Plan &plan) { return written(saved(plan)); }

Plan plan_of(std::string_view bytes, const Options &caller) {
    try {
        auto content = all_from<SavedPlan>(bytes, "its length");
        const Options options = OptionMerge(content, caller).run();
        return restored(std::move(content), options);
    } catch (const DamagedField &field) {
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("the saved plan is damaged, for this was never written: {}; make the plan anew "
                              "and save it again",
                              field.what()));
    }
}

std::string digest_of(const InputPattern &input) { return digest_of_bytes(written(input)); }

std::string digest_of(const Plan &plan) { return digest_of_bytes(written(saved(plan, false))); }

} // namespace libperm
