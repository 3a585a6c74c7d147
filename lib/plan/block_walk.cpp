#include "lib/plan/block_walk.hpp"
#include "preprocess/compression.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <type_traits>

namespace libperm {
namespace {

// Bytes of a value as a Value, about: exact ones with the digits they are made of.
template <class Value> std::int64_t value_bytes(double x) {
    if constexpr (std::is_same_v<Value, Tracked>) return std::int64_t{sizeof(Tracked)};
    constexpr std::int64_t short_one = sizeof(Gaussian) + 3 * 32;
    int exponent = 0;
    std::frexp(x, &exponent);
    return short_one + std::max(0, std::abs(exponent) - 64) / 8;
}
template <class Value> std::int64_t value_bytes(const Gaussian &x) {
    return std::is_same_v<Value, Tracked> ? std::int64_t{sizeof(Tracked)} : number_bytes(x);
}

// Times itself, what taking a matrix apart comes to: a pass has it and what it makes of it. Where every line
// has three entries or more nothing is compressed.
double in_passes(const Pattern &pattern) { return has_light_line(pattern) ? 3.5 : 2; }

} // namespace

template <class Value> std::int64_t root_bytes(const InputPattern &input, const Values &values) {
    std::int64_t bytes = bytes_of(input.pattern);
    for (const double x : values.real) bytes += value_bytes<Value>(x);
    for (const Gaussian &x : values.wide) bytes += value_bytes<Value>(x);
    return values.empty() ? bytes + input.pattern.nnz() * value_bytes<Value>(1.0) : bytes;
}

template std::int64_t root_bytes<Tracked>(const InputPattern &input, const Values &values);
template std::int64_t root_bytes<Gaussian>(const InputPattern &input, const Values &values);

template <class Value> std::int64_t reduction_bytes(const InputPattern &input, const Values &values) {
    return static_cast<std::int64_t>(in_passes(input.pattern) *
                                     static_cast<double>(root_bytes<Value>(input, values)));
}
template std::int64_t reduction_bytes<Tracked>(const InputPattern &input, const Values &values);
template std::int64_t reduction_bytes<Gaussian>(const InputPattern &input, const Values &values);

std::int64_t bytes_of(const Values &values) {
    std::int64_t bytes = static_cast<std::int64_t>(values.real.size() * sizeof(double));
    for (const Gaussian &x : values.wide) bytes += number_bytes(x);
    return bytes;
}

} // namespace libperm
