// The cache on disk: compiled kernels and orders that searches have found, where they are kept and how
// many; its folder and the files in it.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace libperm {

struct CacheSettings {
    std::string folder;                         // empty: nothing is kept on disk
    std::int64_t limit_bytes = 256 << 20;       // beyond it the least recently used files go
    std::function<void(std::string_view)> warn; // may be empty; called once a process and folder at most
};

// One file: "PERMCUBN", the format's version and the key's length (32 bits each), the payload's length and
// the checksum of all the rest (64 bits each), the key, the payload; little-endian.
constexpr std::string_view order_key = "order"; // what keys of orders that were searched for begin with
// Its digest and ".cubin", or of an order ".order".
std::string cache_file_name(std::string_view key);
bool is_order_file(std::string_view name);

std::string encode_cache_file(std::string_view key, std::string_view payload);

struct CacheContent { // lies in what was decoded
    std::string_view key, payload;
};
std::optional<CacheContent> decode_cache_file(std::string_view file); // nothing if a bit of it is wrong

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

struct OwnFile {
    std::string name;
    bool temporary = false;
    std::int64_t bytes = 0;
    timespec used{}; // when it was last loaded or stored
};
std::vector<OwnFile> own_files(const Descriptor &folder); // that the cache has made

// Once a process and folder.
void warn_of_folder(const CacheSettings &settings, const std::string &folder, const std::string &problem);

// Compiled kernels and orders that searches have found, on disk, each in a file that says what it is. Readers
// take no lock; a file that is not what it should be is replaced, and never makes a call fail.

// $PERM_CACHE_DIR, else $XDG_CACHE_HOME/libperm, else ~/.cache/libperm; empty if none of them can be known,
// or PERM_CACHE_DIR is set and empty.
std::string default_cache_folder();

// The payload that was stored under just this key, if there is one and its file can be trusted.
std::optional<std::string> cache_load(const CacheSettings &settings, std::string_view key);

// Keeps it for all processes, if the folder can be written.
void cache_store(const CacheSettings &settings, std::string_view key, std::string_view payload) noexcept;

struct CacheEntry {
    std::string file; // in the folder
    std::string key;
    std::int64_t bytes = 0;     // of the file
    std::int64_t used_unix = 0; // when it was last loaded or stored, in seconds
};
std::vector<CacheEntry> cache_list(const std::string &folder); // the last used first
int cache_clear(const std::string &folder); // how many files went; other people's files stay

} // namespace libperm
