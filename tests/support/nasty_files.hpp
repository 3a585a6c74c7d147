// Matrix Market files that are nasty each in its own way, written entry by entry: a command's peak begins
// with that of the process that starts it, which so stays small.
#pragma once

#include <cstdint>
#include <string>

namespace nasty {

void band(const std::string &path, std::int64_t n, std::int64_t below, std::int64_t above, bool has_values);
void full(const std::string &path, std::int64_t rows, std::int64_t cols, bool has_values);

// The first `hubs` rows and columns are full, and the diagonal where there is one.
void hubs(const std::string &path, std::int64_t n, std::int64_t hubs, bool diagonal);

// A path of n / 4 with three leaves each, and the diagonal.
void caterpillar(const std::string &path, std::int64_t n);

// The diagonal and an entry to the right of it at random: it falls apart.
void sparse(const std::string &path, std::int64_t n);

// The diagonal and so many entries anywhere in each row: no frontier is narrow, and few walks come through.
void tangled(const std::string &path, std::int64_t n, std::int64_t more);

// Four rows, each over and over.
void repeated(const std::string &path, std::int64_t n);

void long_integers(const std::string &path, std::int64_t n);

// Dense blocks of order 4 in a ring, each tied to the next by one entry.
void ring(const std::string &path, std::int64_t blocks);

} // namespace nasty
