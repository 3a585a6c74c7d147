// Libraries that are found when the program runs, and their calls.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace bench {

class Loaded {
  public:
    explicit Loaded(const char *name) : library_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
        if (library_ == nullptr) throw std::runtime_error(dlerror());
    }
    template <class F> F find(const char *name) const {
        void *symbol = dlsym(library_, name);
        if (symbol == nullptr) throw std::runtime_error(dlerror());
        return reinterpret_cast<F>(symbol);
    }

  private:
    void *library_; // stays
};

inline void check(int status, const char *what) {
    if (status != 0) throw std::runtime_error(std::string(what) + " failed: " + std::to_string(status));
}

inline void *pointer(std::uint64_t address) {
    return reinterpret_cast<void *>(address); // NOLINT(performance-no-int-to-ptr): a driver's address
}

} // namespace bench
