// The folder of the cache and the files in it, as the system sees them: what can be trusted, and what is
// written whole or not at all.
#pragma once

#include "jit/compile/cache_settings.hpp"

#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace libperm {

class Descriptor { // of an open file, closed at its end
  public:
    explicit Descriptor(int number = -1) : number_(number) {}
    ~Descriptor() { close(); }
    Descriptor(Descriptor &&other) noexcept : number_(other.release()) {}
    Descriptor &operator=(Descriptor &&) = delete;
    explicit operator bool() const { return number_ >= 0; }
    int number() const { return number_; }
    int release();
    bool close(); // false with errno, which is where a network's file system may first say that it is full

  private:
    int number_;
};

struct CacheFolder {
    Descriptor descriptor; // of a folder of ours that nobody else can write to; else none
    std::string why_not;   // if none; empty if there is just no such folder
};
CacheFolder open_cache_folder(const std::string &folder);
bool make_cache_folder(const std::string &folder); // with its parents, for us alone; false with errno

// Once a process and folder.
void warn_of_folder(const CacheSettings &settings, const std::string &folder, const std::string &problem);

// A regular file of ours that nobody else can write to, whole. What lies there instead is removed.
struct TrustedFile {
    std::string bytes;
    timespec used{}; // when it was last loaded or stored
    Descriptor descriptor;
};
std::optional<TrustedFile> read_trusted(const Descriptor &folder, const std::string &name);

// Under another name first, then renamed: nobody sees a part of it. False with errno.
bool write_whole(const Descriptor &folder, const std::string &name, std::string_view bytes);

struct OwnFile {
    std::string name;
    bool temporary = false;
    std::int64_t bytes = 0;
    timespec used{};
};
std::vector<OwnFile> own_files(const Descriptor &folder); // that the cache has made

bool remove_own(const Descriptor &folder, const std::string &name); // nothing that belongs to another user

} // namespace libperm
