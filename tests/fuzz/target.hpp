// What a fuzz target is: bytes in, and nothing wrong with what the library makes of them. libFuzzer or
// driver.cpp calls it; both ask it for inputs to begin with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

void run(std::string_view input);

// Small inputs that mean something, made by the library itself.
std::vector<std::string> seeds();

// Prints what is wrong and ends the process, as a crash would.
[[noreturn]] void fail(const std::string &what);
inline void require(bool holds, const char *what) {
    if (!holds) fail(what);
}

// An input as what a target asks it for, one after the other; zeros where it has ended.
class Bytes {
  public:
    explicit Bytes(std::string_view input) : left_(input) {}

    std::uint64_t bits(std::size_t bytes);                     // 8 at most
    std::int64_t integer(std::int64_t low, std::int64_t high); // in low .. high
    bool chance(unsigned of_256) { return bits(1) < of_256; }
    double number(); // small ones, any bits, huge and tiny ones
    template <class T, std::size_t n> const T &one_of(const T (&choices)[n]) { return choices[bits(1) % n]; }
    std::string_view rest() { return left_; }
    bool empty() const { return left_.empty(); }

  private:
    std::string_view left_;
};

// Inputs changed at random: bytes, words, pieces left out, doubled, or taken of another.
std::string mutated(std::string input, std::string_view other, std::uint64_t seed);

} // namespace fuzz
