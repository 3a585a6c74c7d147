#include "bench/record/lines.hpp"

#define XXH_INLINE_ALL
#define XXH_NO_INLINE_HINTS 1 // GCC's -Og cannot follow them
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

std::string bits_of(double x) { return fmt::format("{:016x}", std::bit_cast<std::uint64_t>(x)); }

std::string digest_of(std::string_view bytes) {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string code_of(std::string_view source) {
    std::string code;
    while (!source.empty()) {
        std::string_view line = source.substr(0, source.find('\n'));
        source.remove_prefix(std::min(line.size() + 1, source.size()));
        line = line.substr(0, line.find("//"));
        line = line.substr(0, line.find_last_not_of(' ') + 1);
        if (!line.empty() && !line.starts_with("generator ")) code.append(line) += '\n';
    }
    return code;
}

std::string quoted(std::string_view text) {
    constexpr std::size_t most = 400;
    std::string line;
    for (const char c : text.substr(0, most)) {
        if (c == '\n')
            line += "\\n";
        else
            line += c;
    }
    if (text.size() <= most) return '"' + line + '"';
    return fmt::format("\"{}...\" bytes={} digest={}", line, text.size(), digest_of(text));
}

void RecordLines::add(const std::string &name, std::string_view text) {
    if (!wants(name)) return;
    if (!names_.insert(name).second) throw std::logic_error("two lines of the record have the name " + name);
    fmt::print("{} | {}\n", name, text);
    std::fflush(stdout);
}

void RecordLines::add_text(const std::string &name, std::string_view text) {
    if (!wants(name)) return;
    add(name, fmt::format("bytes={} digest={}", text.size(), digest_of(text)));
    if (folder_.empty()) return;
    std::string file = name;
    std::replace(file.begin(), file.end(), '/', '.');
    std::filesystem::create_directories(folder_);
    std::ofstream(std::filesystem::path(folder_) / file, std::ios::binary) << text;
}
