#include "lib/execute/batch_answer.hpp"

#include "lib/base/fields.hpp"
#include "lib/run/outcome_bytes.hpp"

#include <cmath>
#include <cstdint>
#include <string>

namespace libperm {
namespace {

// Its size is such that computing with it does not overflow.
template <class Archive> void number(Archive &ar, Scaled &x) {
    constexpr auto most = std::int64_t{1} << 48;
    ar(x.mantissa, x.exp2);
    require_read<Archive>(!std::isnan(x.mantissa) && -most < x.exp2 && x.exp2 < most, "a number");
}

template <class Archive> void fields(Archive &ar, TapeAnswer &x) {
    number(ar, x.re);
    number(ar, x.im);
    number(ar, x.error);
    amounts(ar, x.rel_error_bound);
    flags(ar, x.exact);
    require_read<Archive>(x.error.mantissa >= 0, "an error");
}

template <class Archive> void fields(Archive &ar, Int128 &x) {
    auto low = static_cast<std::uint64_t>(x), high = static_cast<std::uint64_t>(x >> 64);
    ar(low, high);
    x = static_cast<Int128>(static_cast<UInt128>(high) << 64 | low);
}

template <class Archive> void fields(Archive &ar, mpz_class &x) {
    std::string text = x.get_str(62);
    ar(text);
    require(x.set_str(text, 62) == 0, "an integer");
}

// It is there, or not.
template <class Archive, class T> void fields(Archive &ar, std::optional<T> &x) {
    bool is_there = x.has_value();
    flag(ar, is_there);
    if (!is_there) return x.reset();
    if (!x) x.emplace();
    fields(ar, *x);
}

template <class Archive> void fields(Archive &ar, DenseSum &x) {
    fields(ar, x.value);
    fields(ar, x.integer);
    fields(ar, x.mpz);
    flags(ar, x.is_by_definition);
}

template <class Archive> void fields(Archive &ar, DirectAnswer &x) {
    fields(ar, x.answer);
    flags(ar, x.on_gpu);
}

void fields(cereal::PortableBinaryOutputArchive &ar, Outcome &x) {
    save_part(ar, x);
    amounts(ar, x.blocks, x.blocks_computed);
}
void fields(cereal::PortableBinaryInputArchive &ar, Outcome &x) {
    load_part(ar, x);
    amounts(ar, x.blocks, x.blocks_computed);
}

template <class Way> BatchAnswer loaded(cereal::PortableBinaryInputArchive &ar) {
    Way answer;
    fields(ar, answer);
    return answer;
}

} // namespace

void save_part(cereal::PortableBinaryOutputArchive &ar, const BatchPart &part) {
    ar(static_cast<std::uint64_t>(part.answers.size()));
    for (BatchAnswer answer : part.answers) {
        ar(static_cast<std::uint8_t>(answer.index()));
        std::visit([&](auto &x) { fields(ar, x); }, answer);
    }
}

void load_part(cereal::PortableBinaryInputArchive &ar, BatchPart &part) {
    std::uint64_t left = 0;
    part.answers.clear();
    for (ar(left); left > 0; --left) {
        std::uint8_t way = 0;
        ar(way);
        require(way < std::variant_size_v<BatchAnswer>, "a way");
        part.answers.push_back(way == 0   ? loaded<DenseSum>(ar)
                               : way == 1 ? loaded<DirectAnswer>(ar)
                                          : loaded<Outcome>(ar));
    }
}

} // namespace libperm
