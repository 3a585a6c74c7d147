#include "lib/polynomial/matching_sums.hpp"

#include "lib/run/pieces.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace libperm {
namespace {

constexpr double most_terms = 0x1p50, longest_sum = 0x1p62;
constexpr std::int64_t most_lines = 1 << 20;
constexpr double products_of_piece = 1 << 20;

// to += x y modulo 2^(64 words).
template <std::size_t Words>
void add_product(mp_limb_t *to, const mp_limb_t *x, mp_limb_t y, std::size_t words) {
    if constexpr (Words == 0) {
        mpn_addmul_1(to, x, static_cast<mp_size_t>(words), y);
    } else {
        __extension__ using Wide = unsigned __int128;
        Wide carry = 0;
        for (std::size_t w = 0; w < Words; ++w) {
            carry += static_cast<Wide>(x[w]) * y + to[w];
            to[w] = static_cast<mp_limb_t>(carry);
            carry >>= 64;
        }
    }
}

// Does what add_product does, for a number with a sign.
template <std::size_t Words>
void add_signed(mp_limb_t *to, const mp_limb_t *x, std::int64_t y, std::size_t words) {
    if (Words == 1)
        *to += *x * static_cast<mp_limb_t>(y);
    else if (y >= 0)
        add_product<Words>(to, x, static_cast<mp_limb_t>(y), words);
    else
        mpn_submul_1(to, x, static_cast<mp_size_t>(words), -static_cast<mp_limb_t>(y));
}

void put(mp_limb_t *to, std::size_t words, const mpz_class &x) {
    for (std::size_t w = 0; w < words; ++w)
        to[w] = mpz_getlimbn(x.get_mpz_t(), static_cast<mp_size_t>(w)); // 0 behind its end
}

} // namespace

std::optional<MatchingSums> MatchingSums::of(const Pattern &columns, const std::vector<mpz_class> &values,
                                             const LineCounts &column_count, const LineCounts &row_count,
                                             double bits) {
    if (std::max(row_count.sum(), column_count.sum()) > most_lines) return std::nullopt;
    PolledSteps steps;
    MatchingSums out;
    out.bytes_ = columns.nnz() * 128;
    const Charge charge(&call().memory(), out.bytes_);
    constexpr std::size_t none = ~std::size_t{0};
    std::vector<std::size_t> row_place(at(columns.cols), none);
    std::vector<double> row_size;
    std::map<std::vector<Entry>, std::int64_t> kinds;
    for (std::int32_t j = 0; j < columns.rows; ++j) {
        if (column_count[j] == 0) continue;
        std::vector<Entry> entries;
        std::int64_t k = columns.row_begin(j);
        for (const std::int32_t i : columns.row(j)) {
            steps.take(16);
            const mpz_class &x = values[at(k++)];
            if (x == 0 || row_count[i] == 0) continue;
            if (!x.fits_slong_p()) return std::nullopt;
            if (row_place[at(i)] == none) {
                row_place[at(i)] = row_size.size();
                row_size.push_back(0);
                out.row_times_.push_back(row_count[i]);
            }
            const std::size_t row = row_place[at(i)];
            row_size[row] += std::fabs(x.get_d()) * static_cast<double>(column_count[j]);
            if (row_size[row] > longest_sum) return std::nullopt;
            entries.push_back({row, x.get_si()});
        }
        if (entries.empty()) continue;
        kinds[std::move(entries)] += column_count[j];
        if (std::exp2(static_cast<double>(kinds.size())) > most_terms) return std::nullopt;
    }
    double terms = 1;
    for (const auto &[entries, count] : kinds) {
        terms *= static_cast<double>(count) + 1;
        out.columns_ += at(count);
        out.weighted_ = out.weighted_ || count > 1;
        out.kinds_.push_back({entries, count});
    }
    if (terms > most_terms) return std::nullopt;
    out.terms_ = static_cast<std::uint64_t>(terms);
    for (const std::int64_t times : out.row_times_) out.rows_ += at(times);
    out.most_ = std::min(out.rows_, out.columns_);
    out.words_ = static_cast<std::size_t>(std::ceil(bits / 64));
    return out;
}

double MatchingSums::products() const {
    const auto k = static_cast<double>(most_), m = static_cast<double>(rows_);
    return k * m - k * k * 0.625 + 2 * k +
           static_cast<double>(weighted_ ? k * static_cast<double>(words_) : 0) + 4;
}

double MatchingSums::serial_seconds() const {
    const double nanoseconds = words_ == 1 ? 0.8 : words_ == 2 ? 1.6 : 4 + 0.6 * static_cast<double>(words_);
    return static_cast<double>(terms_) * products() * nanoseconds * 1e-9;
}

// In reflected mixed-radix Gray-code order (Knuth, The Art of Computer Programming 4A, 7.2.1.1): each step
// takes a column in or leaves one out.
class MatchingSums::Walk {
  public:
    Walk(const MatchingSums &a, std::uint64_t first)
        : a_(a),
          steps_(),
          levels_(a.kinds_.size()),
          row_sums_(a.row_times_.size()),
          polynomial_((a.most_ + 1) * a.words_),
          weight_(a.words_),
          sums_(a.place(a.most_ + 1, 0)) {
        for (std::size_t t = 0; t < levels_.size(); ++t) {
            const Kind &kind = a.kinds_[t];
            const std::uint64_t radix = static_cast<std::uint64_t>(kind.count) + 1;
            const auto digit = static_cast<std::int64_t>(first % radix);
            first /= radix;
            const bool up = first % 2 == 0;
            levels_[t] = {digit, up ? digit : kind.count - digit, up};
            change(t, levels_[t].k);
            chosen_ += at(levels_[t].k);
        }
    }

    template <std::size_t Words> std::vector<mp_limb_t> sums_of(std::uint64_t terms) {
        for (take<Words>(); --terms > 0; take<Words>()) step();
        return std::move(sums_);
    }

  private:
    struct Level {
        std::int64_t digit, k;
        bool up;
    };

    void change(std::size_t t, std::int64_t by) {
        for (const Entry &e : a_.kinds_[t].entries) row_sums_[e.row] += by * e.value;
    }

    void step() {
        std::size_t t = 0;
        for (; levels_[t].digit == a_.kinds_[t].count; ++t) {
            levels_[t].digit = 0;
            levels_[t].up = !levels_[t].up;
        }
        ++levels_[t].digit;
        const std::int64_t by = levels_[t].up ? 1 : -1;
        levels_[t].k += by;
        chosen_ += static_cast<std::size_t>(by);
        change(t, by);
    }

    // The coefficients of prod (1 + r_i x) from x^|S| on: of the others those that these come from.
    template <std::size_t Words> void take() {
        steps_.take(8);
        if (chosen_ > a_.most_) return;
        const std::size_t words = Words == 0 ? a_.words_ : Words;
        mp_limb_t *const e = polynomial_.data();
        std::fill(polynomial_.begin(), polynomial_.end(), 0);
        e[0] = 1;
        std::size_t done = 0;
        for (std::size_t i = 0; i < row_sums_.size(); ++i)
            for (std::int64_t time = 0; time < a_.row_times_[i]; ++time) {
                const std::size_t left = a_.rows_ - ++done, high = std::min(done, a_.most_),
                                  low = std::max<std::size_t>(chosen_ > left ? chosen_ - left : 0, 1);
                if (row_sums_[i] == 0) continue;
                for (std::size_t k = high; k >= low; --k)
                    add_signed<Words>(e + k * words, e + (k - 1) * words, row_sums_[i], words);
                steps_.take(static_cast<std::int64_t>((high + 2 - std::min(low, high + 1)) * words));
            }
        add_up<Words>(words);
    }

    template <std::size_t Words> void add_up(std::size_t words) {
        weigh();
        for (std::size_t k = chosen_; k <= a_.most_; ++k) {
            mp_limb_t *const to = &sums_[a_.place(chosen_, k)];
            const mp_limb_t *const e = &polynomial_[k * words];
            if (!a_.weighted_) {
                add_product<Words>(to, e, 1, words);
                continue;
            }
            for (std::size_t w = 0; w < words; ++w)
                if (weight_[w] != 0) add_product<0>(to + w, e, weight_[w], words - w);
            steps_.take(static_cast<std::int64_t>(words));
        }
    }

    // How many subsets have these counts.
    void weigh() {
        if (!a_.weighted_) return;
        mpz_class weight = 1, choices;
        for (std::size_t t = 0; t < levels_.size(); ++t) {
            mpz_bin_uiui(choices.get_mpz_t(), at(a_.kinds_[t].count), at(levels_[t].k));
            weight *= choices;
        }
        put(weight_.data(), weight_.size(), weight);
    }

    const MatchingSums &a_;
    PolledSteps steps_;
    std::vector<Level> levels_;
    std::vector<std::int64_t> row_sums_;
    std::size_t chosen_ = 0; // |S|
    std::vector<mp_limb_t> polynomial_, weight_, sums_;
};

// What a piece comes to.
struct MatchingPart {
    std::vector<mp_limb_t> sums;
};

template <class Archive> void fields(Archive &ar, MatchingPart &part) {
    for (mp_limb_t &x : part.sums) ar(x);
}

std::uint64_t MatchingSums::terms_at_once() const {
    return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(products_of_piece / products()), 1, terms_);
}

std::uint64_t MatchingSums::pieces() const {
    constexpr std::uint64_t most = 1024, most_bytes = 64 << 20;
    const std::uint64_t bytes = place(most_ + 1, 0) * sizeof(mp_limb_t), each = terms_at_once();
    return std::min((terms_ + each - 1) / each, std::clamp<std::uint64_t>(most_bytes / bytes, 16, most));
}

void MatchingSums::add_terms(std::uint64_t first, std::uint64_t end, std::vector<mp_limb_t> &sums) const {
    for (const std::uint64_t each = terms_at_once(); first < end;) {
        const std::uint64_t terms = std::min(each, end - first);
        Walk walk(*this, first);
        const std::vector<mp_limb_t> more = words_ == 1   ? walk.sums_of<1>(terms)
                                            : words_ == 2 ? walk.sums_of<2>(terms)
                                                          : walk.sums_of<0>(terms);
        for (std::size_t k = 0; k < sums.size(); k += words_)
            mpn_add_n(&sums[k], &sums[k], &more[k], static_cast<mp_size_t>(words_));
        first += terms;
        call().advance(static_cast<double>(terms));
    }
}

std::vector<mp_limb_t> MatchingSums::sums(int threads) const {
    const std::uint64_t count = pieces();
    const MatchingPart nothing{std::vector<mp_limb_t>(place(most_ + 1, 0))};
    const std::size_t size = nothing.sums.size();
    const Charge charge(&call().memory(), static_cast<std::int64_t>(size * sizeof(mp_limb_t)) *
                                              (static_cast<std::int64_t>(count) + threads + 2));
    const auto first_of = [&](std::uint64_t piece) { // terms_ may have 50 bits
        return terms_ / count * piece + terms_ % count * piece / count;
    };
    const std::vector<MatchingPart> parts =
        parts_of_pieces(count, static_cast<double>(terms_) / static_cast<double>(count), nothing,
                        each_on_its_thread([&](std::uint64_t piece) {
                            MatchingPart part = nothing;
                            add_terms(first_of(piece), first_of(piece + 1), part.sums);
                            return part;
                        }));
    std::vector<mp_limb_t> sums(size);
    for (const MatchingPart &part : parts) // modulo a power of two, which rounds nothing
        for (std::size_t k = 0; k < size; k += words_)
            mpn_add_n(&sums[k], &sums[k], &part.sums[k], static_cast<mp_size_t>(words_));
    return sums;
}

std::vector<mpz_class> MatchingSums::numbers(const std::vector<mp_limb_t> &sums, std::size_t count) const {
    const mp_bitcnt_t bits = 64 * words_;
    std::vector<mpz_class> out(count);
    for (std::size_t k = 0; k <= most_; ++k) {
        mpz_class &number = out[k], sum, choices;
        for (std::size_t s = 0; s <= k; ++s) {
            mpz_import(sum.get_mpz_t(), words_, -1, sizeof(mp_limb_t), 0, 0, &sums[place(s, k)]);
            mpz_bin_uiui(choices.get_mpz_t(), columns_ - s, k - s);
            sum *= choices;
            if ((k - s) % 2 == 0)
                number += sum;
            else
                number -= sum;
        }
        mpz_fdiv_r_2exp(number.get_mpz_t(), number.get_mpz_t(), bits);
        if (mpz_tstbit(number.get_mpz_t(), bits - 1)) number -= mpz_class(1) << bits;
    }
    return out;
}

} // namespace libperm
