// Files of matrices as gzip, numpy and zip write them, byte by byte.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace packed {

std::string gzipped(std::string_view text);

struct Member {
    std::string name, bytes;
};
std::string zipped(const std::vector<Member> &members, bool deflated = false);

// A .npy file: "<f8", "(2, 3)", and the elements' bytes.
std::string npy(const std::string &type, const std::string &shape, const std::string &elements,
                bool by_columns = false, int version = 1);
std::string npy_of_header(const std::string &header, const std::string &elements, int version = 1);

// Numbers in this machine's byte order, or in the other one.
template <class T> std::string bytes_of(const std::vector<T> &numbers, bool swapped = false) {
    std::string all;
    for (const T number : numbers) {
        std::string one(reinterpret_cast<const char *>(&number), sizeof number);
        if (swapped) one = {one.rbegin(), one.rend()};
        all += one;
    }
    return all;
}

// What scipy.sparse.save_npz writes, of doubles: with the names of its two lists of integers.
std::vector<Member> scipy_members(const std::string &format, std::int64_t n_rows, std::int64_t n_cols,
                                  const Member &first, const Member &second, const std::string &data);

} // namespace packed
