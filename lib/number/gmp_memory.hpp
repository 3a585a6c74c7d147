// GMP ends the process where it gets no memory. Here it gets what was kept back, and where that is not enough
// either, std::bad_alloc: perm_status has a name for it.
#pragma once

namespace libperm {

// Keeps some memory back, and tells GMP, unless the program has told it of allocators of its own. Cheap where
// that is done; before a call begins.
void keep_memory_for_gmp();

} // namespace libperm
