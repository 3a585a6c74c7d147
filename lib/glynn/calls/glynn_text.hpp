// Results' texts, for the caller to free: the same as to_text gives, sooner.
#pragma once

#include "lib/glynn/dense_sum.hpp"
#include "lib/glynn/glynn_int128.hpp"
#include "lib/tape/tape_run.hpp"

#include <gmpxx.h>

namespace libperm {

char *text_of(Int128 x);
char *text_of(const mpz_class &x);
char *text_of(const TapeAnswer &answer);
char *text_of(const DenseSum &sum);

} // namespace libperm
