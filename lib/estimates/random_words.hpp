// Random numbers that follow from a seed and a number: the same whoever draws them. Steele, Lea and Flood's
// SplitMix64.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libperm {

class RandomWords {
  public:
    RandomWords(std::uint64_t seed, std::uint64_t number)
        : state_(mixed(seed) ^ mixed(~number * 0x9e3779b97f4a7c15)) {}

    std::uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15); }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }          // 0 <= x < 1
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); } // biased by n 2^-64

  private:
    static std::uint64_t mixed(std::uint64_t x) {
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
        x = (x ^ x >> 27) * 0x94d049bb133111eb;
        return x ^ x >> 31;
    }
    std::uint64_t state_;
};

} // namespace libperm
