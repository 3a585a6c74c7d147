// Files as the bytes that they hold.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace whole_file {

inline std::string read(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
inline void write(const std::string &path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

} // namespace whole_file
