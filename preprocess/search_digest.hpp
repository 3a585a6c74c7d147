// Tells the searches of one source tree from those of another: with the same arguments they may find others.
#pragma once

namespace libperm {

extern const char *const search_digest;

} // namespace libperm
