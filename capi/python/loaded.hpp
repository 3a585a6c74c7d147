// The libperm.so.1 that the package has loaded. Nothing is linked with it: its functions are looked up, so
// that there is one loader.
#pragma once

#include <dlfcn.h>

namespace perm_loaded {

// Looks a function up by its name.
template <class Function> void find(void *handle, const char *name, Function *&function) {
    function = reinterpret_cast<Function *>(dlsym(handle, name));
}

} // namespace perm_loaded
