// What all tests of one run share: its seed, how much work to do, and what had to be skipped.
#pragma once

#include <cstdint>
#include <string>

namespace run {

// PERM_TEST_SEED, else fixed. `salt` tells apart the tests that draw from it.
std::uint64_t seed(std::uint64_t salt);

// PERM_TEST_MULTIPLIER, else 1: how many times the usual number of random cases.
int multiplier();

// Whether a sanitizer makes everything ten times slower: what is long is shorter then.
extern const bool sanitized;

// Of random cases, usually so many: times the multiplier. Where a sanitizer is, an eighth, for any case of a
// kind shows what it looks for; of few, which may be one of each kind, a third.
int cases(int usual);

// Of a sweep of thousands, which takes minutes: an eighth, but where PERM_TEST_SWEEPS is set (./dev test
// all).
int sweep(int usual);

// How many of its random cases a test wants to have been of use, where it usually wants so many.
int enough(int usual);

// Announces that a part of a test cannot run here, and counts it. A test that compared nothing fails unless
// it said so by this call.
void skip(const std::string &why);
int skips();

} // namespace run
