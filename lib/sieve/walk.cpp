#include "lib/sieve/walk.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

namespace libperm {
namespace {

constexpr std::size_t most_direct = std::size_t{1} << 18, first_table = std::size_t{1} << 12,
                      last_table = std::size_t{1} << 20;
constexpr std::uint64_t no_key = ~std::uint64_t{0};

std::size_t block_words(const SieveProgram &program) { return program.prefix_words() * sieve_stride; }

} // namespace

SieveProducts::SieveProducts(const SieveProgram &program) : program_(program) {
    for (const SieveProgram::Exponent &e : program.exponents) {
        std::vector<mpz_class> powers{1};
        while (powers.size() < e.radix) powers.push_back(powers.back() * e.prime);
        powers_.push_back(std::move(powers));
    }
}

mpz_class SieveProducts::of(std::uint64_t key) const {
    mpz_class product = 1;
    for (std::size_t k = 0; k < powers_.size(); ++k) {
        const SieveProgram::Exponent &e = program_.exponents[k];
        const auto code = static_cast<std::uint32_t>(key >> (32 * e.code));
        product *= powers_[k][code / e.stride % e.radix];
    }
    return product;
}

SieveCounts::SieveCounts(const SieveProgram &program, const OtherRows &others)
    : program_(program),
      others_(others),
      width_(others.width()),
      is_direct_(are_direct(program)),
      counts_((is_direct_ ? program.values(0) : first_table) * width_),
      keys_(is_direct_ ? 0 : first_table, no_key),
      products_(program),
      sums_(width_) {}

bool SieveCounts::are_direct(const SieveProgram &program) {
    return program.codes == 1 && program.values(0) <= most_direct;
}

std::size_t SieveCounts::bytes(const SieveProgram &program, std::size_t width) {
    return are_direct(program) ? 8 * program.values(0) * width : 24 * last_table;
}

void SieveCounts::add(const SieveBlock &whole) {
    const std::uint32_t *const codes = whole.words.data() + program_.words * sieve_stride,
                               *const told = whole.words.data() + program_.first_told * sieve_stride;
    if (others_.are_none())
        add_each(whole, [&](std::size_t place, std::uint32_t k) {
            counts_[place] += 1 - 2 * static_cast<std::int64_t>(codes[k] >> 31);
        });
    else
        add_each(whole, [&](std::size_t place, std::uint32_t k) {
            others_.add_product(told + k, sieve_stride, codes[k] >> 31 != 0, &counts_[place * width_]);
        });
}

template <class Add> void SieveCounts::add_each(const SieveBlock &whole, const Add &add_at) {
    const std::uint32_t *const first = whole.words.data() + program_.words * sieve_stride;
    if (is_direct_) {
        for (std::uint32_t k = 0; k < whole.count; ++k) add_at(first[k] & ~sieve_sign, k);
        return;
    }
    const std::uint32_t *const second = program_.codes > 1 ? first + sieve_stride : nullptr;
    for (std::uint32_t k = 0; k < whole.count; ++k) {
        const std::uint64_t key =
            std::uint64_t{first[k] & ~sieve_sign} | std::uint64_t{second ? second[k] : 0} << 32;
        const std::size_t place = place_of(key);
        add_at(place, k);
        if (keys_[place] == key) continue;
        keys_[place] = key;
        if (++known_ > keys_.size() / 2) make_room();
    }
}

std::size_t SieveCounts::place_of(std::uint64_t key) const {
    std::size_t place = (key * 0x9e3779b97f4a7c15) >> (64 - std::countr_zero(keys_.size()));
    while (keys_[place] != key && keys_[place] != no_key) place = (place + 1) & (keys_.size() - 1);
    return place;
}

// A small table stays near; a full one is added up.
void SieveCounts::make_room() {
    if (2 * keys_.size() * width_ > last_table) return add_up();
    std::vector<std::uint64_t> keys(2 * keys_.size(), no_key);
    std::vector<std::int64_t> counts(keys.size() * width_);
    keys.swap(keys_);
    counts.swap(counts_);
    for (std::size_t k = 0; k < keys.size(); ++k) {
        if (keys[k] == no_key) continue;
        const std::size_t place = place_of(keys[k]);
        keys_[place] = keys[k];
        std::copy_n(&counts[k * width_], width_, &counts_[place * width_]);
    }
}

void SieveCounts::add_up() {
    for (std::size_t place = 0; place < counts_.size() / width_; ++place) {
        const std::span of_code(&counts_[place * width_], width_);
        if (std::ranges::count(of_code, 0) == std::ssize(of_code)) continue;
        const mpz_class product = products_.of(is_direct_ ? place : keys_[place]);
        for (std::size_t k = 0; k < width_; ++k) sums_[k] += product * static_cast<long>(of_code[k]);
        std::ranges::fill(of_code, 0);
    }
    std::fill(keys_.begin(), keys_.end(), no_key);
    known_ = 0;
}

std::vector<mpz_class> SieveCounts::take_sums() {
    add_up();
    return std::exchange(sums_, std::vector<mpz_class>(width_));
}

SieveWalk::SieveWalk(const SieveProgram &program, std::size_t first_step, const OtherRows &others)
    : program_(program), first_(first_step), blocks_(program.steps.size() + 1), counts_(program, others) {
    for (std::size_t k = 0; k < program.steps.size(); ++k) steps_.push_back(sieve_lanes_of(program, k));
    for (std::size_t k = first_; k < blocks_.size(); ++k) blocks_[k].words.resize(block_words(program));
}

std::size_t SieveWalk::bytes(const SieveProgram &program, std::size_t first_step, std::size_t width) {
    return 4 * block_words(program) * (program.steps.size() + 1 - first_step) +
           SieveCounts::bytes(program, width);
}

std::size_t SieveWalk::most_at_once(const SieveProgram &program, std::size_t first_step) {
    return sieve_capacity * (program.steps.size() + 1 - first_step);
}

bool SieveWalk::has_full_block() const {
    return std::any_of(blocks_.begin(), blocks_.end(),
                       [](const SieveBlock &b) { return b.count >= sieve_lanes; });
}

std::size_t SieveWalk::take(std::span<const std::uint32_t> prefixes) {
    const std::size_t size = program_.prefix_words();
    SieveBlock &block = blocks_[first_];
    const std::size_t count = std::min<std::size_t>(prefixes.size() / size, sieve_capacity - block.count);
    for (std::size_t k = 0; k < count; ++k)
        for (std::size_t w = 0; w < size; ++w)
            block.words[w * sieve_stride + block.count + k] = prefixes[k * size + w];
    block.count += static_cast<std::uint32_t>(count);
    return count * size;
}

bool SieveWalk::go_on() {
    std::size_t k = blocks_.size();
    while (k > first_ && blocks_[k - 1].count < sieve_lanes) --k;
    std::uint32_t least = sieve_lanes;
    if (k == first_) { // no block fills a vector: to the end, from the first on
        while (k < blocks_.size() && blocks_[k].count == 0) ++k;
        if (k == blocks_.size()) return false;
        least = 1;
    } else {
        --k;
    }
    if (k == steps_.size()) {
        counts_.add(blocks_[k]);
        blocks_[k].count = 0;
        return true;
    }
    const std::uint32_t before = blocks_[k + 1].count;
    sieve_step(steps_[k], blocks_[k], blocks_[k + 1], least);
    met_ += blocks_[k + 1].count - before;
    return true;
}

} // namespace libperm
