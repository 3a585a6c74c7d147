#include "tests/fuzz/target.hpp"

#include "bench/families.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace fuzz {

void fail(const std::string &what) {
    std::fprintf(stderr, "FAILED: %s\n", what.c_str());
    std::abort();
}

std::uint64_t Bytes::bits(std::size_t bytes) {
    std::uint64_t x = 0;
    const std::size_t there = std::min(bytes, left_.size());
    for (std::size_t k = 0; k < there; ++k)
        x |= static_cast<std::uint64_t>(static_cast<unsigned char>(left_[k])) << (8 * k);
    left_.remove_prefix(there);
    return x;
}

std::int64_t Bytes::integer(std::int64_t low, std::int64_t high) {
    const auto range = static_cast<std::uint64_t>(high - low) + 1;
    return low + static_cast<std::int64_t>(bits(range <= 256 ? 1 : range <= 65536 ? 2 : 8) % range);
}

double Bytes::number() {
    constexpr double limits[] = {
        0,     -0.0,   1,      -1,         0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp1023,
        1e300, 1e-300, 0x1p53, 0x1p53 + 2, -0x1p63,   0.1};
    switch (bits(1) % 4) {
    case 0:
        return static_cast<double>(integer(-9, 9));
    case 1:
        return one_of(limits);
    case 2:
        return std::bit_cast<double>(bits(8));
    default:
        return static_cast<double>(integer(-32768, 32767)) / 1000;
    }
}

std::string mutated(std::string input, std::string_view other, std::uint64_t seed) {
    constexpr std::uint64_t words[] = {0,
                                       1,
                                       ~std::uint64_t{0},
                                       std::uint64_t{1} << 31,
                                       std::uint64_t{1} << 62,
                                       std::uint64_t{1} << 63,
                                       0x7ff8000000000000,
                                       0x7ff0000000000000,
                                       0x7fefffffffffffff};
    perm::families::Random random(seed);
    const auto at = [&](std::size_t end) {
        return static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(end)));
    };
    for (std::int64_t k = random.integer(1, 4); k > 0; --k) {
        const std::size_t place = at(input.size());
        switch (random.integer(0, 6)) {
        case 0: // a bit, or a byte
            if (place < input.size())
                input[place] = static_cast<char>(input[place] ^ (1 << random.integer(0, 7)));
            break;
        case 1:
            if (place < input.size()) input[place] = static_cast<char>(random.integer(0, 255));
            break;
        case 2: { // a word
            const std::size_t bytes = std::min<std::size_t>(random.chance(0.5) ? 8 : 4, input.size() - place);
            std::memcpy(input.data() + place, &words[random.integer(0, 8)], bytes);
            break;
        }
        case 3: // a small change of a byte
            if (place < input.size())
                input[place] = static_cast<char>(input[place] + (random.chance(0.5) ? 1 : -1));
            break;
        case 4:
            input.erase(place, at(16));
            break;
        case 5:
            input.insert(place, input.substr(at(input.size()), at(32)));
            break;
        default: { // of another
            const std::size_t from = at(other.size());
            input.insert(place, other.substr(from, at(64)));
            if (random.chance(0.5)) input.resize(std::max<std::size_t>(place, 1));
        }
        }
    }
    return input;
}

} // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    fuzz::run({reinterpret_cast<const char *>(data), size});
    return 0;
}
