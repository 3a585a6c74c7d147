// Libraries that libperm can do without, and so loads when it needs them. They are never unloaded: NVIDIA's
// keep threads and handlers of the process's end.
#pragma once

#include <string>
#include <vector>

namespace libperm {

class SharedLibrary {
  public:
    SharedLibrary() = default; // none
    // The first of these names and paths that can be loaded.
    explicit SharedLibrary(const std::vector<std::string> &names);

    // It was loaded, and every symbol that was asked for is there.
    bool complete() const { return handle_ != nullptr && missing_.empty(); }
    const std::string &path() const { return path_; } // of the file
    std::string why_not() const;                      // why each name failed, or which symbols are missing

    template <class Function> void find(Function *&function, const char *name) {
        function = reinterpret_cast<Function *>(symbol(name));
    }

  private:
    void *symbol(const char *name);

    void *handle_ = nullptr;
    std::string path_, failures_, missing_;
};

// An environment variable that may name files to be loaded: "" if it is not set, or if the process has more
// rights than its user.
std::string trusted_environment(const char *name);

} // namespace libperm
