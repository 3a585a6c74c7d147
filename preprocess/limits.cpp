#include "preprocess/limits.hpp"

namespace libperm {
namespace {

thread_local Polled *here = nullptr;

} // namespace

Polled *polled_here() { return here; }
Polled *set_polled_here(Polled *polled) { return std::exchange(here, polled); }

} // namespace libperm
