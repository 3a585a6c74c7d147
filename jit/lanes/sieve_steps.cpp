#include "jit/lanes/sieve_steps.hpp"

#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/sieve_steps.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Words = hn::CappedTag<std::uint32_t, sieve_lanes>;
using Word = hn::Vec<Words>;
constexpr std::size_t in_vector = hn::MaxLanes(Words());

#if HWY_TARGET != HWY_SCALAR
// table[count] of vectors' lengths from `begin` on, where all counts are below both.
template <std::size_t vectors> HWY_INLINE Word from_vectors(const std::uint32_t *begin, Word count) {
    const Words d;
    if constexpr (vectors == 1) {
        return hn::TableLookupLanes(hn::LoadU(d, begin), hn::IndicesFromVec(d, count));
    } else {
        const Word least = hn::Set(d, in_vector);
        const Word low = hn::And(count, hn::Set(d, in_vector - 1));
        return hn::IfThenElse(hn::Lt(count, least), from_vectors<1>(begin, low),
                              from_vectors<1>(begin + in_vector, low));
    }
}
#endif

// table[count], lane by lane; no count is above the mask.
HWY_INLINE Word looked_up(const std::vector<std::uint32_t> &table, [[maybe_unused]] std::uint32_t mask,
                          Word count) {
#if HWY_TARGET != HWY_SCALAR
    if constexpr (in_vector >= 8) {
        if (mask < in_vector) return from_vectors<1>(table.data(), count);
        if (mask < 2 * in_vector) return from_vectors<2>(table.data(), count);
    }
#endif
    return hn::GatherIndex(Words(), table.data(), hn::BitCast(hn::RebindToSigned<Words>(), count));
}

template <std::uint32_t codes>
void step(const SieveProgram &program, const SieveProgram::Step &step, SieveBlock &block, SieveBlock &next,
          std::uint32_t least) {
    const Words d;
    const std::uint32_t words = program.words, first = step.first_word;
    std::uint32_t left = block.count, out = next.count;
    const auto branches = static_cast<std::uint32_t>(step.branches.size());
    const auto most = static_cast<std::uint32_t>(in_vector);
    std::uint32_t *const to = next.words.data();
    while (left >= std::max(1u, least) && out + branches * most <= sieve_capacity) {
        const std::uint32_t taken = std::min(left, most);
        left -= taken;
        const std::uint32_t *const from = block.words.data() + left;
        const auto is_there = hn::FirstN(d, taken);
        for (const SieveProgram::Branch &branch : step.branches) {
            const std::uint32_t *const adds = branch.adds.data();
            Word code[codes];
            for (std::uint32_t c = 0; c < codes; ++c)
                code[c] = hn::LoadU(d, from + (words + c) * sieve_stride);
            code[0] = hn::Add(code[0], hn::Set(d, branch.sign));
            auto stays = is_there;
            for (const SieveProgram::Finish &row : step.finishes) {
                const Word word =
                    hn::Add(hn::LoadU(d, from + row.word * sieve_stride), hn::Set(d, adds[row.word]));
                const Word count =
                    hn::And(hn::ShiftRightSame(word, static_cast<int>(row.shift)), hn::Set(d, row.mask));
                stays = hn::And(stays, hn::Ne(count, hn::Set(d, row.vanishes)));
                for (std::uint32_t c = 0; c < codes; ++c)
                    code[c] = hn::Add(code[c], looked_up(row.codes[c], row.mask, count));
            }
            for (std::uint32_t w = first; w < words; ++w) {
                const Word word = hn::Add(hn::LoadU(d, from + w * sieve_stride), hn::Set(d, adds[w]));
                hn::StoreU(hn::Compress(word, stays), d, to + w * sieve_stride + out);
            }
            for (std::uint32_t c = 0; c < codes; ++c)
                hn::StoreU(hn::Compress(code[c], stays), d, to + (words + c) * sieve_stride + out);
            out += static_cast<std::uint32_t>(hn::CountTrue(d, stays));
        }
    }
    block.count = left;
    next.count = out;
}

void step_of_codes(const SieveProgram &program, const SieveProgram::Step &of, SieveBlock &from,
                   SieveBlock &to, std::uint32_t least) {
    program.codes == 1 ? step<1>(program, of, from, to, least) : step<2>(program, of, from, to, least);
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libperm {
namespace {
HWY_EXPORT(step_of_codes);
} // namespace

void sieve_step(const SieveProgram &program, const SieveProgram::Step &step, SieveBlock &from, SieveBlock &to,
                std::uint32_t least) {
    HWY_DYNAMIC_DISPATCH(step_of_codes)(program, step, from, to, least);
}

} // namespace libperm
#endif
