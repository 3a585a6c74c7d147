// The header of a .npy file: the literal of a Python dictionary.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perm {

struct NpyHeader {
    std::string type; // numpy's: "<f8"; "" of records, which are a list of types
    bool is_by_columns = false;
    std::vector<std::int64_t> shape;
};

// Nothing where the text is none.
std::optional<NpyHeader> parse_npy_header(std::string_view text);

} // namespace perm
