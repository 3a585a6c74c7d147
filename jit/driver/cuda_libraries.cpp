#include "jit/driver/cuda_libraries.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <link.h>

namespace libperm {
namespace {

std::string path_of(void *handle, const std::string &name) {
    const link_map *map = nullptr;
    const bool known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && *map->l_name != '\0';
    return known ? map->l_name : name;
}

// What dlopen said of this name, without the name.
std::string last_failure(const std::string &name) {
    const char *error = dlerror();
    const std::string text = error != nullptr ? error : "unknown error";
    const std::string prefix = name + ": ";
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

} // namespace

SharedLibrary::SharedLibrary(const std::vector<std::string> &names) {
    std::string same, reason; // names in a row that failed for one reason
    const auto report = [&] {
        if (!same.empty()) failures_ += (failures_.empty() ? "" : "; ") + same + ": " + reason;
    };
    for (const std::string &name : names) {
        handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_ != nullptr) {
            path_ = path_of(handle_, name);
            return;
        }
        const std::string failure = last_failure(name);
        if (failure == reason) {
            same += ", " + name;
            continue;
        }
        report();
        same = name;
        reason = failure;
    }
    report();
}

SharedLibrary::Symbol SharedLibrary::find(const char *name) {
    void *address = handle_ != nullptr ? dlsym(handle_, name) : nullptr;
    if (address == nullptr) missing_ += (missing_.empty() ? "" : ", ") + std::string(name);
    return Symbol(address);
}

std::string SharedLibrary::why_not() const {
    if (handle_ == nullptr) return failures_;
    return missing_.empty() ? "" : path_ + " lacks " + missing_;
}

std::string trusted_environment(const char *name) {
    const char *value = secure_getenv(name);
    return value != nullptr ? value : "";
}

} // namespace libperm
