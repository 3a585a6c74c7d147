#include "tests/support/nasty_files.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

namespace nasty {
namespace {

class MatrixFile {
  public:
    MatrixFile(const std::string &path, std::int64_t rows, std::int64_t cols, std::int64_t entries,
               bool has_values)
        : out_(path), has_values_(has_values) {
        out_ << "%%MatrixMarket matrix coordinate " << (has_values ? "real" : "pattern") << " general\n"
             << rows << ' ' << cols << ' ' << entries << '\n';
    }
    void put(std::int64_t row, std::int64_t col) { // from 0
        out_ << row + 1 << ' ' << col + 1;
        if (has_values_) out_ << " 0." << 100000 + next() % 900000;
        out_ << '\n';
    }
    std::uint64_t next() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return state_ >> 33;
    }

  private:
    std::ofstream out_;
    bool has_values_;
    std::uint64_t state_ = 22;
};

} // namespace

void band(const std::string &path, std::int64_t n, std::int64_t below, std::int64_t above, bool has_values) {
    std::int64_t entries = 0;
    const auto for_each = [&](const auto &work) {
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = std::max<std::int64_t>(0, i - below); j <= std::min(n - 1, i + above); ++j)
                work(i, j);
    };
    for_each([&](std::int64_t, std::int64_t) { ++entries; });
    MatrixFile file(path, n, n, entries, has_values);
    for_each([&](std::int64_t i, std::int64_t j) { file.put(i, j); });
}

void full(const std::string &path, std::int64_t rows, std::int64_t cols, bool has_values) {
    MatrixFile file(path, rows, cols, rows * cols, has_values);
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < cols; ++j) file.put(i, j);
}

void hubs(const std::string &path, std::int64_t n, std::int64_t hubs, bool diagonal) {
    const std::int64_t rest = n - hubs;
    MatrixFile file(path, n, n, hubs * n + rest * (hubs + diagonal), false);
    for (std::int64_t i = 0; i < n; ++i)
        if (i < hubs)
            for (std::int64_t j = 0; j < n; ++j) file.put(i, j);
        else {
            for (std::int64_t j = 0; j < hubs; ++j) file.put(i, j);
            if (diagonal) file.put(i, i);
        }
}

void caterpillar(const std::string &path, std::int64_t n) {
    const std::int64_t spine = n / 4;
    MatrixFile file(path, n, n, n + 2 * (spine - 1) + 6 * spine, false);
    for (std::int64_t i = 0; i < n; ++i) file.put(i, i);
    for (std::int64_t i = 0; i + 1 < spine; ++i) {
        file.put(i, i + 1);
        file.put(i + 1, i);
    }
    for (std::int64_t leaf = spine; leaf < n; ++leaf) {
        file.put((leaf - spine) / 3, leaf);
        file.put(leaf, (leaf - spine) / 3);
    }
}

void sparse(const std::string &path, std::int64_t n) {
    MatrixFile file(path, n, n, 2 * n - 1, true);
    for (std::int64_t i = 0; i < n; ++i) {
        file.put(i, i);
        if (i + 1 < n) file.put(i, i + 1 + static_cast<std::int64_t>(file.next()) % (n - 1 - i));
    }
}

void tangled(const std::string &path, std::int64_t n, std::int64_t more) {
    MatrixFile file(path, n, n, n * (more + 1), true);
    for (std::int64_t i = 0; i < n; ++i) {
        std::set<std::int64_t> columns{i};
        while (std::ssize(columns) <= more) columns.insert(static_cast<std::int64_t>(file.next()) % n);
        for (const std::int64_t j : columns) file.put(i, j);
    }
}

void repeated(const std::string &path, std::int64_t n) {
    std::ofstream out(path);
    out << "%%MatrixMarket matrix coordinate real general\n" << n << ' ' << n << ' ' << n * n << '\n';
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
            out << i + 1 << ' ' << j + 1 << " 0." << 100000 + (i % 4 + 1) * (j + 7919) * 104729 % 900000
                << '\n';
}

void long_integers(const std::string &path, std::int64_t n) {
    std::ofstream out(path);
    out << "%%MatrixMarket matrix array integer general\n" << n << ' ' << n << '\n';
    std::uint64_t state = 22;
    for (std::int64_t k = 0; k < n * n; ++k) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        out << (k % 3 == 0 ? "-" : "") << (state >> 4) << '\n';
    }
}

void ring(const std::string &path, std::int64_t blocks) {
    MatrixFile file(path, 4 * blocks, 4 * blocks, 17 * blocks, true);
    for (std::int64_t b = 0; b < blocks; ++b) {
        for (std::int64_t i = 0; i < 4; ++i)
            for (std::int64_t j = 0; j < 4; ++j) file.put(4 * b + i, 4 * b + j);
        file.put(4 * b, 4 * ((b + 1) % blocks));
    }
}

} // namespace nasty
