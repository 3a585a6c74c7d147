// All forms with MPFR's numbers.
#include "lib/frontier/branches.hpp"
#include "lib/frontier/dense.hpp"
#include "lib/frontier/sparse.hpp"
#include "lib/number/mpfr_numbers.hpp"

namespace libperm {
namespace {

template <int Words> struct MpfrKeys {
    template <class Numbers> using Frontier = SparseFrontier<Words, Numbers>;
};

template <template <class> class Frontier, int Limbs> EngineResult compute_in_mpfr(const FrontierRun &run) {
    MpfrNumbers<Limbs> numbers(*run.input.mpfr());
    Counts counts;
    const MpfrState<Limbs> last = Frontier<MpfrNumbers<Limbs>>(work_of(run), numbers).compute(counts);
    return {numbers.close(last), counts};
}

template <int Limbs> EngineResult compute_in_limbs(FrontierForm form, const FrontierRun &run) {
    if (form == FrontierForm::dense) return compute_in_mpfr<DenseFrontier, Limbs>(run);
    const int words = mpfr_key_words(form, run.program);
    if (words == 0) throw_too_wide(run.program);
    if (form == FrontierForm::branches) return compute_in_mpfr<WideBranches, Limbs>(run);
    return words == 4 ? compute_in_mpfr<MpfrKeys<4>::Frontier, Limbs>(run)
                      : compute_in_mpfr<MpfrKeys<64>::Frontier, Limbs>(run);
}

} // namespace

int mpfr_key_words(FrontierForm form, const FrontierProgram &program) {
    const int words = key_words(form, program);
    if (words == 0) return 0;
    return form == FrontierForm::branches ? 2 : words <= 4 ? 4 : 64;
}

EngineResult run_mpfr_frontier(FrontierForm form, const FrontierRun &run) {
    const MpfrEntries &entries = *run.input.mpfr();
    EngineResult result;
    const int limbs = mpfr_limbs({Precision::mpfr, is_complex(entries.block), entries.bits});
    if (!with_mpfr_limbs(limbs, [&](auto of) { result = compute_in_limbs<of.value>(form, run); }))
        throw Error(PERM_UNSUPPORTED,
                    "engine frontier has numbers of MPFR of up to 4096 bits, complex ones of "
                    "up to 2048; engine ryser has longer ones");
    return result;
}

} // namespace libperm
