// The cache of compiled kernels as its tests use it, and what lies in its folder.
#pragma once

#include "jit/compile/disk_cache.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#define XXH_INLINE_ALL
#define XXH_NO_INLINE_HINTS 1 // GCC's -Og cannot follow them
#include <xxhash.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/types.h>
#include <utility>
#include <vector>

constexpr uid_t nobody = 65534;
constexpr std::size_t header_bytes = 32;

struct Cache {
    explicit Cache(std::string folder) {
        settings.folder = std::move(folder);
        settings.warn = [this](std::string_view text) { warnings.emplace_back(text); };
    }
    Cache(const Cache &) = delete;
    Cache &operator=(const Cache &) = delete;

    std::optional<std::string> load(std::string_view key) const { return libperm::cache_load(settings, key); }
    void store(std::string_view key, std::string_view payload) const {
        libperm::cache_store(settings, key, payload);
    }
    bool misses(std::string_view key) const { return !load(key).has_value(); }

    libperm::CacheSettings settings;
    std::vector<std::string> warnings;
};

inline std::string hash_of(std::string_view key) {
    const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
    std::string text;
    for (const std::uint64_t half : {hash.high64, hash.low64})
        for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[half >> shift & 15];
    return text;
}

inline std::filesystem::path file_of(const Cache &cache, std::string_view key) {
    return std::filesystem::path(cache.settings.folder) / (hash_of(key) + ".cubin");
}

inline void put(const std::filesystem::path &file, const std::string &bytes, mode_t mode = 0600) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    REQUIRE(chmod(file.c_str(), mode) == 0);
}

inline bool is_there(const std::filesystem::path &file) {
    return std::filesystem::exists(std::filesystem::symlink_status(file));
}

inline std::set<std::string> names_in(const std::filesystem::path &folder) {
    std::set<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
        names.insert(entry.path().filename());
    return names;
}

inline std::string random_bytes(std::size_t count, std::uint64_t salt) {
    std::mt19937_64 random(run::seed(salt));
    std::string bytes(count, '\0');
    for (char &byte : bytes) byte = static_cast<char>(random() & 0xff);
    return bytes;
}
