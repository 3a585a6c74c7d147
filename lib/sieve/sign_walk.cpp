#include "lib/sieve/sign_walk.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace libperm {
namespace {

constexpr std::size_t all_signs = 256, most_octets = 16;

std::size_t octets_of(std::size_t told) { return (told + 7) / 8; }

} // namespace

OtherRows::OtherRows(const std::vector<std::uint64_t> &primes, std::size_t rows, std::size_t told,
                     const std::function<std::uint64_t(std::size_t, std::size_t, std::size_t)> &value)
    : fields_(primes.begin(), primes.end()), rows_(rows), octets_(octets_of(told)) {
    for (std::size_t matrix = 0; matrix < primes.size(); ++matrix)
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t first = 0; first < told; first += 8) {
                const Montgomery &field = fields_[matrix];
                std::array<std::uint64_t, all_signs> sums{};
                std::array<std::uint64_t, 8> entries{};
                for (std::size_t k = first; k < std::min(told, first + 8); ++k) {
                    entries[k - first] = value(matrix, row, k);
                    sums[0] = field.subtract(sums[0], entries[k - first]);
                }
                for (std::size_t signs = 1; signs < all_signs; ++signs) {
                    const std::uint64_t entry = entries[static_cast<std::size_t>(std::countr_zero(signs))];
                    sums[signs] = field.add(field.add(sums[signs & (signs - 1)], entry), entry);
                }
                sums_.insert(sums_.end(), sums.begin(), sums.end());
            }
}

std::size_t OtherRows::bytes(std::size_t matrices, std::size_t rows, std::size_t told) {
    return 8 * all_signs * matrices * rows * octets_of(told);
}

double OtherRows::seconds(double matrices, std::size_t rows, std::size_t told) {
    constexpr double sum = 4e-9, product = 8.5e-10, lookup = 6e-10;
    if (rows == 0) return 0;
    const double of_row = product + lookup * static_cast<double>(octets_of(told));
    return matrices * (sum + static_cast<double>(rows) * of_row);
}

void OtherRows::add_product(const std::uint32_t *told, std::size_t stride, bool subtracts,
                            std::int64_t *sums) const {
    std::array<std::uint8_t, most_octets> signs;
    for (std::size_t k = 0; k < octets_; ++k)
        signs[k] = static_cast<std::uint8_t>(told[k / 4 * stride] >> k % 4 * 8);
    const std::uint64_t *table = sums_.data();
    for (std::size_t matrix = 0; matrix < fields_.size(); ++matrix) {
        const Montgomery &field = fields_[matrix];
        std::uint64_t product = 0;
        for (std::size_t row = 0; row < rows_; ++row) {
            std::uint64_t sum = 0;
            for (std::size_t k = 0; k < octets_; ++k, table += all_signs)
                sum = field.add(sum, table[signs[k]]);
            product = row == 0 ? sum : field.multiply(product, sum);
        }
        const auto before = static_cast<std::uint64_t>(sums[matrix]);
        sums[matrix] = static_cast<std::int64_t>(subtracts ? field.subtract(before, product)
                                                           : field.add(before, product));
    }
}

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
    if (k == program_.steps.size()) {
        counts_.add(blocks_[k]);
        blocks_[k].count = 0;
        return true;
    }
    const std::uint32_t before = blocks_[k + 1].count;
    sieve_step(program_, program_.steps[k], blocks_[k], blocks_[k + 1], least);
    met_ += blocks_[k + 1].count - before;
    return true;
}

namespace {

constexpr std::int64_t most_room = 4ll << 30; // bytes of all blocks
constexpr std::size_t head_words = 2;         // of what is told, before the counts

} // namespace

SieveOnDevice::SieveOnDevice(DeviceQueue &queue, const SieveProgram &program, std::size_t first_step,
                             std::size_t enough)
    : queue_(queue),
      program_(program),
      first_(first_step),
      enough_(enough),
      products_(program),
      counts_(sieve_cells(program)),
      prefixes_(queue),
      room_(queue),
      told_(queue) {}

// The first piece tells how far all are followed: the kernel is written for the steps that are left.
std::vector<std::uint32_t> SieveOnDevice::follow(std::span<const std::uint32_t> prefixes) {
    std::vector<std::uint32_t> all(prefixes.begin(), prefixes.end());
    if (device_step_) return sieve_prefixes(program_, first_, *device_step_, std::move(all));
    device_step_ = follow_first(program_, first_, all, enough_);
    load();
    return all;
}

std::size_t SieveOnDevice::follow_first(const SieveProgram &program, std::size_t first_step,
                                        std::vector<std::uint32_t> &prefixes, std::size_t enough) {
    std::size_t step = first_step;
    for (; step + 1 < program.steps.size() && prefixes.size() < enough * program.prefix_words(); ++step)
        prefixes = sieve_prefixes(program, step, step + 1, std::move(prefixes));
    return step;
}

void SieveOnDevice::load() {
    queue_.load(sieve_kernel(program_, *device_step_));
    const auto of_block = static_cast<std::int64_t>(4 * sieve_room_words(program_, *device_step_)),
               that_fit = std::min(most_room, queue_.free_bytes() / 2) / of_block;
    blocks_ = static_cast<unsigned>(
        std::clamp<std::int64_t>(that_fit, 1, queue_.blocks_at_once(sieve_entry, sieve_threads)));
    room_.reserve(at(of_block) * blocks_);
    told_.reserve(8 * (head_words + counts_.size()));
}

void SieveOnDevice::start(std::span<const std::uint32_t> followed) {
    followed_ = followed.size() / program_.prefix_words();
    if (followed_ == 0) return;
    prefixes_.reserve(followed.size_bytes());
    queue_.copy_in(prefixes_.address(), followed.data(), followed.size_bytes());
    const std::vector<std::uint64_t> zeros(head_words + counts_.size());
    queue_.copy_in(told_.address(), zeros.data(), 8 * zeros.size());
    SieveLaunch launch{prefixes_.address(), told_.address(),
                       room_.address(),     told_.address() + 8 * head_words,
                       told_.address() + 8, static_cast<std::uint32_t>(followed_),
                       sieve_threads,       static_cast<std::uint32_t>(golden_stride(followed_))};
    const std::array<void *, 1> arguments{&launch};
    const auto blocks = std::min<std::size_t>(blocks_, (followed_ + sieve_threads - 1) / sieve_threads);
    queue_.launch(sieve_entry, static_cast<unsigned>(blocks), sieve_threads, arguments);
}

SieveOnDevice::Sum SieveOnDevice::finish() {
    if (followed_ == 0) return {};
    std::array<std::uint64_t, head_words> head{};
    queue_.copy_out(head.data(), told_.address(), sizeof head);
    queue_.copy_out(counts_.data(), told_.address() + 8 * head_words, 8 * counts_.size());
    Sum sum{0, static_cast<double>(head[1])};
    const std::uint64_t of_first = program_.values(0);
    for (std::uint64_t cell = 0; cell < counts_.size(); ++cell)
        if (counts_[cell] != 0)
            sum.products +=
                products_.of(cell % of_first | cell / of_first << 32) * static_cast<long>(counts_[cell]);
    return sum;
}

double sieve_bytes_on_gpu(const SieveProgram &program, std::size_t first_step, const GpuProperties &gpu) {
    constexpr double blocks = 32; // of a multiprocessor
    const auto room = static_cast<double>(sieve_room_words(program, first_step));
    return 8.0 * static_cast<double>(sieve_cells(program)) + 4 * blocks * gpu.multiprocessors * room;
}

std::int64_t SieveOnDevice::peak_bytes() const {
    return static_cast<std::int64_t>(prefixes_.bytes() + room_.bytes() + told_.bytes());
}

} // namespace libperm
