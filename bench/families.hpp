// Matrices to test and measure with: families whose permanent is known, random ones, and transforms whose
// effect on the permanent is known. Above each: its shape (order n unless told) and its permanent; A-numbers
// are sequences of https://oeis.org. Zeros are not stored.
#ifndef PERM_BENCH_FAMILIES_HPP
#define PERM_BENCH_FAMILIES_HPP

#include <perm.hpp>

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace perm::families {

// Random numbers that are the same with every standard library (the std:: distributions are not).
class Random {
  public:
    explicit Random(std::uint64_t seed) : bits_(seed) {}
    std::uint64_t bits() { return bits_(); }
    double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; } // in [0, 1)
    double uniform(double low, double high) { return low + (high - low) * uniform(); }
    bool chance(double p) { return uniform() < p; }
    std::int64_t integer(std::int64_t low, std::int64_t high); // in low .. high, both included
    std::vector<std::int64_t> permutation(std::int64_t n);

  private:
    std::mt19937_64 bits_;
};

// What the entries of a random matrix are.
enum class Entries {
    ones,        // 1
    nonnegative, // in (0, 1]
    real,        // in [-1, 1], never 0
    counts,      // 1 .. 9
    integers     // -9 .. 9, never 0
};
double random_entry(Entries entries, Random &random);

// ---------------------------------------------------------------- building

using Entry = std::function<double(std::int64_t row, std::int64_t column)>;
using Dense = std::vector<std::vector<double>>;

Csr build(std::int64_t n_rows, std::int64_t n_cols, const Entry &entry);
Csr from_dense(const Dense &rows);
Dense to_dense(const Csr &a);

// ---------------------------------------------------------------- dense families

// All entries a: a^n n!.
Csr constant(std::int64_t n, double a);
// J - I: A000166.
Csr derangements(std::int64_t n);
// J - I - P, P the cyclic shift, n >= 3: A000179.
Csr menage(std::int64_t n);
// xJ + yI: sum_k C(n,k) y^k x^(n-k) (n-k)!.
Csr ones_and_diagonal(std::int64_t n, double x, double y);
// u v^T: n! prod u prod v.
Csr outer(const std::vector<double> &u, const std::vector<double> &v);
// J without the 2x2 blocks on its diagonal, n even: A000316.
Csr ones_without_pairs(std::int64_t n);
// J with its first p x q block negated: q! (n-q)! K_q(p; n), K the Krawtchouk polynomial.
Csr negated_block(std::int64_t n, std::int64_t p, std::int64_t q);
// Sylvester's Hadamard matrix, n a power of two: 0 (n = 2), 8, 384, 50692096 (n = 16).
Csr hadamard(std::int64_t n);
// 1 .. n^2 by rows: 10 (n = 2), 450 (n = 3), 55456 (n = 4).
Csr counting(std::int64_t n);
// gcd(i, j), counting from 1: 1327833590272 (n = 12).
Csr gcds(std::int64_t n);
// min(i, j), counting from 1: 3168847554832961 (n = 12).
Csr minima(std::int64_t n);
// i + j - 1, counting from 1: 1288711254432792833280 (n = 12).
Csr sums(std::int64_t n);
// Entry value[i][j] in row_counts[i] rows and column_counts[j] columns: prod r! prod c! times the sum over
// the contingency tables t with these margins of prod value^t / t!.
Csr block_constant(const Dense &value, const std::vector<std::int64_t> &row_counts,
                   const std::vector<std::int64_t> &column_counts);
// Row i has b_i leading ones, b ascending: prod (b_i - i).
Csr ferrers(const std::vector<std::int64_t> &b);
// Ones where j <= i + 1: 2^(n-1).
Csr hessenberg(std::int64_t n);
// Upper triangle: the product of the diagonal.
Csr triangular(std::int64_t n, Entries entries, std::uint64_t seed);

// ---------------------------------------------------------------- sparse families

// a on, b above and c below the diagonal: f(n) = a f(n-1) + b c f(n-2); all ones: the Fibonacci number
// F(n+1).
Csr tridiagonal(std::int64_t n, double a, double b, double c);
// aI + bP, P the cyclic shift, n >= 2: a^n + b^n.
Csr two_cycles(std::int64_t n, double a, double b);
// Ones where j - i mod n is one of the offsets; {0, 1, 2}: Lucas(n) + 2.
Csr circulant(std::int64_t n, const std::vector<std::int64_t> &offsets);
// The Fano plane, 7 points by 7 lines: 24.
Csr fano();
// The cube Q_d, even by odd vertices, order 2^(d-1): A005271, its perfect matchings.
Csr hypercube(int d);
// The grid x by y by z, even by odd cells, order xyz/2: its dimer coverings; x = y, z = 1: A004003.
Csr grid(std::int64_t x, std::int64_t y, std::int64_t z = 1);
// The Aztec diamond, even by odd cells, order k(k+1): 2^(k(k+1)/2).
Csr aztec_diamond(std::int64_t k);
// Adjacency of Mycielski's graph, k = 2 one edge; k = 6 has order 47, 472 entries: 1381724105482686970.
Csr mycielskian(int k);

// Dimers on a planar grid with weights: |perm(weights)| = |det(kasteleyn)| (Kasteleyn 1961; the vertical
// edges have the signs (-1)^column). The sign between the two depends on the grid alone.
struct WeightedGrid {
    Csr weights, kasteleyn;
};
WeightedGrid weighted_grid(std::int64_t rows, std::int64_t columns, Entries entries, std::uint64_t seed);

// ---------------------------------------------------------------- random

// Every entry is there with probability p.
Csr erdos_renyi(std::int64_t n, double p, Entries entries, std::uint64_t seed);
// -below <= j - i <= above.
Csr banded(std::int64_t n, std::int64_t below, std::int64_t above, Entries entries, std::uint64_t seed);
// First row, first column and diagonal; all ones: n.
Csr arrow(std::int64_t n, Entries entries, std::uint64_t seed);
// A random permutation and up to `extra` more entries in each row.
Csr permutation_plus(std::int64_t n, std::int64_t extra, Entries entries, std::uint64_t seed);

// ---------------------------------------------------------------- random, shaped as in applications

// Meshes: an entry for each cell of a grid, numbered by rows, and its neighbours: 4 of them, 8 with the
// diagonal ones, 6 in space. All ones: the permutations of the cells that move none further than that.
Csr mesh2d(std::int64_t rows, std::int64_t columns, Entries entries, std::uint64_t seed);
Csr mesh2d9(std::int64_t rows, std::int64_t columns, Entries entries, std::uint64_t seed);
Csr mesh3d(std::int64_t x, std::int64_t y, std::int64_t z, Entries entries, std::uint64_t seed);
// Diagonal and lines between random points of the plane where no third point is nearer to both ends: planar,
// connected, without triangles, some 2.4 lines at a point (the relative neighbourhood graph, Toussaint 1980).
Csr power_network(std::int64_t n, Entries entries, std::uint64_t seed);
// Diagonal and roads between random points of the plane: to the nearest point before each, and a third as
// many more between near ones.
Csr roads(std::int64_t n, Entries entries, std::uint64_t seed);
// Full blocks of order size, a binary tree of them: beside the block above, two entries each way.
Csr block_tree(std::int64_t blocks, std::int64_t size, Entries entries, std::uint64_t seed);
// 1 where i divides j or j divides i, from 1 on.
Csr divisors(std::int64_t n);
// Equations of a plant, permuted: a diagonal, some 3.4 more entries in a row, nearly all within a window of 9
// that leans downstream, the others (recycled streams) anywhere.
Csr process(std::int64_t n, Entries entries, std::uint64_t seed);

// Fully indecomposable matrices of order size: identity, cyclic shift, every other entry with probability p.
std::vector<Csr> indecomposable_blocks(std::int64_t count, std::int64_t size, double p, Entries entries,
                                       std::uint64_t seed);
// These blocks on the diagonal, above them an entry from each to the next and every other with probability p,
// permuted: the product of the blocks' permanents.
Csr block_triangular(std::int64_t count, std::int64_t size, double p, Entries entries, std::uint64_t seed);
// The same, but entries couple each block to the next only: the same product.
Csr chain_of_blocks(std::int64_t count, std::int64_t size, double p, Entries entries, std::uint64_t seed);

// A half full matrix of order core, and chains of rows and columns with two entries from one line of it to
// another, some without an end (their last row has one entry); permuted.
Csr degree_chains(std::int64_t n, std::int64_t core, Entries entries, std::uint64_t seed);

// A random matrix, over half full, with rows and columns repeated up to order n >= row_kinds, column_kinds,
// permuted: see block_constant.
Csr repeated_lines(std::int64_t n, std::int64_t row_kinds, std::int64_t column_kinds, Entries entries,
                   std::uint64_t seed);
// The same (entries rounded to 24 bits), each row and column then times 1 .. 9 and a power of two, exactly.
Csr proportional_lines(std::int64_t n, std::int64_t row_kinds, std::int64_t column_kinds, Entries entries,
                       std::uint64_t seed);

// ---------------------------------------------------------------- transforms

// The permanent stays.
Csr transpose(const Csr &a);
// B[i][j] = A[rows[i]][columns[j]]: the permanent stays.
Csr permute(const Csr &a, const std::vector<std::int64_t> &rows, const std::vector<std::int64_t> &columns);
// Row i times rows[i], column j times columns[j]: the permanent times all of these.
Csr scale(const Csr &a, const std::vector<double> &rows, const std::vector<double> &columns);
// A and B on the diagonal: perm(A) perm(B).
Csr block_sum(const Csr &a, const Csr &b);
// Without one row and one column, for Laplace's expansion.
Csr minor_of(const Csr &a, std::int64_t row, std::int64_t column);
// With another row, for additivity in a row.
Csr with_row(const Csr &a, std::int64_t row, const std::vector<double> &entries);

} // namespace perm::families

#endif
