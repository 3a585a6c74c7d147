// Random numbers of a search: the standard distributions differ between libraries, these do not.
#pragma once

#include <cstdint>
#include <random>

namespace libperm {

class SearchRandom {
  public:
    explicit SearchRandom(std::uint64_t seed) : engine_(seed) {}
    double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
    std::int32_t below(std::int32_t n) { return static_cast<std::int32_t>(uniform() * n); }
    std::uint64_t bits() { return engine_(); }

  private:
    std::mt19937_64 engine_;
};

} // namespace libperm
