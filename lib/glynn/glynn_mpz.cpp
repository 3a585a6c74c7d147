#include "lib/glynn/glynn_mpz.hpp"

#include "lib/glynn/glynn_int128.hpp"
#include "lib/glynn/sign_pieces.hpp"
#include "lib/run/run_control.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

namespace libperm {
namespace {

static_assert(GMP_NUMB_BITS == 64);

// Row sums are below 20 * 2^63, 2^19 products of 20 of them below 2^1390.
constexpr std::size_t most_words = 22, room = most_words + 2;
using Words = std::array<mp_limb_t, room>;

constexpr double seconds_of_step = 5e-7; // of one thread

// Rows whose sums' product fits a word.
struct Group {
    int first, last;
};

struct Rows {
    std::vector<Group> groups;
    double largest = 0;    // of the row sums
    std::size_t words = 1; // of the sum of all terms' absolute values
};

Rows rows_of(const SmallMatrix &a) {
    Rows out;
    double of_group = 1, bits = a.order;
    for (int i = 0; i < a.order; ++i) {
        double sum = 1;
        for (int j = 0; j < a.order; ++j) sum += std::fabs(static_cast<double>(a.integers[a.at(i, j)]));
        out.largest = std::max(out.largest, sum);
        bits += std::log2(sum) + 0x1p-20;
        of_group *= sum;
        if (i > 0 && of_group < 0x1p63) {
            ++out.groups.back().last;
        } else {
            out.groups.push_back({i, i + 1});
            of_group = sum;
        }
    }
    out.words = static_cast<std::size_t>(bits / 64) + 1;
    return out;
}

// A term's absolute value, word by word.
class Product {
  public:
    explicit Product(std::uint64_t x) : words_{x} {}

    void multiply(std::uint64_t x) {
        words_[length_] = mpn_mul_1(words_.data(), words_.data(), static_cast<mp_size_t>(length_), x);
        length_ += words_[length_] != 0;
    }
    void multiply(UInt128 x) {
        const auto length = static_cast<mp_size_t>(length_);
        const auto low = static_cast<mp_limb_t>(x), high = static_cast<mp_limb_t>(x >> 64);
        if (high == 0) return multiply(low);
        Words product{};
        product[length_] = mpn_mul_1(product.data(), words_.data(), length, low);
        product[length_ + 1] = mpn_addmul_1(product.data() + 1, words_.data(), length, high);
        length_ += 1 + (product[length_ + 1] != 0);
        words_ = product;
    }
    void add_to(Words &sum, std::size_t words) const {
        mpn_add(sum.data(), sum.data(), static_cast<mp_size_t>(words), words_.data(),
                static_cast<mp_size_t>(length_));
    }

  private:
    Words words_; // those from length_ on say nothing
    std::size_t length_ = 1;
};

mpz_class number_of(const Words &x, std::size_t words) {
    mpz_class number;
    mpz_import(number.get_mpz_t(), words, -1, sizeof(mp_limb_t), 0, 0, x.data());
    return number;
}

// Walks along a Gray code, the first column's sign being fixed. A row's Sum has 64 or 128 bits.
template <class Sum, class Magnitude> class LongWalk {
  public:
    LongWalk(const SmallMatrix &a, const Rows &rows) : a_(a), rows_(rows) {}

    mpz_class sum(std::uint64_t first, std::uint64_t last) {
        for (int i = 0; i < a_.order; ++i) sums_[at(i)] = a_.integers[a_.at(i, 0)];
        const std::uint64_t gray = first ^ first >> 1;
        for (int j = 1; j < a_.order; ++j) add_column(j, gray >> (j - 1) & 1, 1);
        for (Words &sum : terms_) sum.fill(0);
        for (std::uint64_t step = first; step < last; ++step) {
            if (step > first) {
                const int bit = std::countr_zero(step);
                add_column(1 + bit, (step ^ step >> 1) >> bit & 1, 2);
            }
            add_term(step & 1);
        }
        return number_of(terms_[0], rows_.words) - number_of(terms_[1], rows_.words);
    }

  private:
    void add_column(int j, bool taken_off, int times) {
        const Sum by = taken_off ? -times : times;
        for (int i = 0; i < a_.order; ++i) sums_[at(i)] += by * a_.integers[a_.at(i, j)];
    }

    void add_term(bool is_negative) {
        Product product(1);
        for (const Group &group : rows_.groups) {
            Magnitude factor = 1;
            for (int i = group.first; i < group.last; ++i) {
                const Sum x = sums_[at(i)];
                is_negative ^= x < 0;
                factor *= x < 0 ? -static_cast<Magnitude>(x) : static_cast<Magnitude>(x);
            }
            if (factor == 0) return;
            product.multiply(factor);
        }
        product.add_to(terms_[is_negative], rows_.words);
    }

    const SmallMatrix &a_;
    const Rows &rows_;
    std::array<Sum, most_small_order> sums_;
    std::array<Words, 2> terms_; // the positive ones, and the others
};

template <class Sum, class Magnitude>
mpz_class sum_of(const SmallMatrix &a, const Rows &rows, int threads, RunControl &control) {
    return sum_of_pieces(
        sign_pieces(a.order, std::uint64_t{1} << (a.order - 1)), threads, [] { return mpz_class(); },
        [&](NumberRange steps) {
            mpz_class sum = LongWalk<Sum, Magnitude>(a, rows).sum(steps.first, steps.last);
            control.advance(steps.size());
            return sum;
        },
        [](const mpz_class &part, mpz_class &all) { all += part; });
}

} // namespace

mpz_class glynn_mpz(const SmallMatrix &a, int threads, const CallWatch &watch) {
    const Rows rows = rows_of(a);
    RunControl control(watch);
    const double steps = std::ldexp(1.0, a.order - 1);
    control.begin(steps, steps * seconds_of_step / threads);
    const mpz_class sum = rows.largest < 0x1p62
                              ? sum_of<std::int64_t, std::uint64_t>(a, rows, threads, control)
                              : sum_of<Int128, UInt128>(a, rows, threads, control);
    return sum >> (a.order - 1); // which is exact
}

} // namespace libperm
