// Numbered pieces: each number is in one of them, in order, and a sum has the same bits on any number of
// threads.
#include "lib/run/numbered_sum.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <bit>

using namespace libperm;

namespace {

void check_covers(const NumberedPieces &pieces, std::uint64_t all) {
    std::uint64_t next = 0;
    for (std::uint64_t k = 0; k < pieces.count(); ++k) {
        CHECK(pieces[k].first == next);
        CHECK(pieces[k].last >= next);
        next = pieces[k].last;
    }
    CHECK(next == all);
}

// Depends on the order of its terms.
double rounded_sum(const NumberedPieces &pieces, int threads) {
    return sum_of_pieces(
        pieces, threads, [] { return 0.0; },
        [](NumberRange some) {
            double sum = 0;
            for (std::uint64_t k = some.first; k < some.last; ++k) sum += 1 / (3 + static_cast<double>(k));
            return sum;
        },
        [](double part, double &sum) { sum += part; });
}

} // namespace

TEST_CASE("pieces by number hold each number once, in order") {
    for (const std::uint64_t all : {1, 2, 7, 64, 1000})
        for (const std::uint64_t some : {1, 2, 3, 64, 1001}) {
            const NumberedPieces by_length = NumberedPieces::of_length(all, some),
                                 so_many = NumberedPieces::so_many(all, some);
            check_covers(by_length, all);
            check_covers(so_many, all);
            CHECK(so_many.count() == some);
            for (std::uint64_t k = 0; k < by_length.count(); ++k) CHECK(by_length[k].size() <= some);
            for (std::uint64_t k = 0; k < some; ++k)
                CHECK(so_many[k].last - so_many[k].first <= all / some + 1);
        }
    CHECK(NumberedPieces::of_length(0, 5).count() == 0);
}

TEST_CASE("a sum of pieces has the same bits on any number of threads, and one piece is its own sum") {
    const NumberedPieces pieces = NumberedPieces::of_length(10000, 64);
    const double sum = rounded_sum(pieces, 1);
    double in_order = 0;
    for (std::uint64_t k = 0; k < pieces.count(); ++k) {
        double part = 0;
        for (std::uint64_t n = pieces[k].first; n < pieces[k].last; ++n)
            part += 1 / (3 + static_cast<double>(n));
        in_order += part;
    }
    CHECK(std::bit_cast<std::uint64_t>(sum) == std::bit_cast<std::uint64_t>(in_order));
    for (const int threads : {2, 3, 8})
        CHECK(std::bit_cast<std::uint64_t>(rounded_sum(pieces, threads)) ==
              std::bit_cast<std::uint64_t>(sum));
    CHECK(rounded_sum(NumberedPieces::so_many(1, 1), 4) == 1.0 / 3);
}
