// Numbers, results and outcomes as they are written and read again, engines and their forms by the numbers
// that saved plans write (lib/base/archive.hpp).
#pragma once

#include "lib/base/archive.hpp"
#include "lib/input/engine.hpp"
#include "lib/run/results.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace libperm {

struct TapeAnswer; // lib/tape/tape_run.hpp

template <class Archive> void engine_field(Archive &ar, Engine &x) {
    auto number = static_cast<std::int32_t>(x);
    ar(number);
    const std::optional<Engine> engine = engine_numbered(number);
    require(engine.has_value(), "a choice");
    x = *engine;
}

template <class Archive> void form_field(Archive &ar, Engine engine, int &form) {
    auto number = static_cast<std::int32_t>(form);
    ar(number);
    const auto forms = static_cast<std::int32_t>(facts_of(engine).forms.size());
    require(0 <= number && number < std::max(1, forms), "a choice");
    form = number;
}

// Of any length, in digits to this base: mpz_class or mpq_class.
template <class Archive, class Number> void number_field(Archive &ar, Number &x, int base = 62) {
    if constexpr (Archive::is_loading::value) {
        std::string text;
        ar(text);
        require(x.set_str(text, base) == 0, "a number");
    } else {
        ar(x.get_str(base));
    }
}
template <class Archive> void fields(Archive &ar, Gaussian &x) {
    for (mpq_class *part : {&x.re, &x.im}) {
        number_field(ar, *part);
        require_read<Archive>(part->get_den() != 0, "a number");
        if constexpr (Archive::is_loading::value) part->canonicalize();
    }
}

// Its size is such that computing with it does not overflow.
template <class Archive> void fields(Archive &ar, Scaled &x) {
    constexpr auto most = std::int64_t{1} << 48;
    ar(x.mantissa, x.exp2);
    require_read<Archive>(!std::isnan(x.mantissa) && -most < x.exp2 && x.exp2 < most, "a number");
}
template <class Archive> void error_field(Archive &ar, Scaled &x) {
    fields(ar, x);
    require_read<Archive>(x.mantissa >= 0, "an error");
}

template <class Archive> void fields(Archive &ar, Counts &c) {
    amounts(ar, c.subsets, c.states, c.peak_states, c.operations, c.peak_bytes, c.slices);
    ar(c.seconds_compile, c.kernels_compiled);
}

template <class Archive> void fields(Archive &ar, Ball &x) {
    fields(ar, x.value);
    error_field(ar, x.error);
}
template <class Archive> void fields(Archive &ar, WideBall &x) {
    Scaled none; // where a Ball has its value
    fields(ar, x.value);
    fields(ar, none);
    error_field(ar, x.error);
}
template <class Archive> void fields(Archive &ar, ResidueVector &x) {
    const std::size_t primes = x.size();
    ar(x);
    require(x.size() == primes, "residues");
}

// What is read into has a value of the same kind.
template <class Archive> void fields(Archive &ar, EngineResult &result) {
    std::visit([&](auto &x) { fields(ar, x); }, result.value);
    fields(ar, result.counts);
    flags(ar, result.grid_matters);
}

template <class Archive> void fields(Archive &ar, Outcome &o) {
    bool is_wide = o.wide.has_value();
    fields(ar, o.value);
    error_field(ar, o.error);
    amounts(ar, o.rel_error_bound, o.predicted_seconds);
    fields(ar, o.counts);
    flags(ar, o.exact, o.transposed, o.on_gpu, is_wide);
    engine_field(ar, o.engine);
    if (!is_wide) return;
    if (!o.wide) o.wide.emplace();
    fields(ar, *o.wide);
}

template <class Archive, std::same_as<TapeAnswer> Answer> void fields(Archive &ar, Answer &x) {
    fields(ar, x.re);
    fields(ar, x.im);
    error_field(ar, x.error);
    amounts(ar, x.rel_error_bound);
    flags(ar, x.exact);
}

} // namespace libperm
