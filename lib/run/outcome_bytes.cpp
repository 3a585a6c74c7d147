#include "lib/run/outcome_bytes.hpp"

#include "lib/base/fields.hpp"

#include <cmath>

namespace libperm {
namespace {

void put(cereal::PortableBinaryOutputArchive &ar, const mpq_class &x) { ar(x.get_str(62)); }

void get(cereal::PortableBinaryInputArchive &ar, mpq_class &x) {
    std::string text;
    ar(text);
    require(x.set_str(text, 62) == 0 && x.get_den() != 0, "a number");
    x.canonicalize();
}

// Of a size that computing with it does not overflow.
bool is_number(const Scaled &x) {
    constexpr auto most = std::int64_t{1} << 48;
    return !std::isnan(x.mantissa) && -most < x.exp2 && x.exp2 < most;
}

template <class Archive, class O> void numbers(Archive &ar, O &o) {
    ar(o.value.mantissa, o.value.exp2, o.rel_error_bound, o.error.mantissa, o.error.exp2, o.subsets, o.states,
       o.peak_states, o.operations, o.peak_bytes, o.predicted_seconds, o.seconds_compile, o.kernels_compiled,
       o.slices);
}

} // namespace

void save_part(cereal::PortableBinaryOutputArchive &ar, const Outcome &outcome) {
    Outcome o = outcome;
    bool is_wide = o.wide.has_value();
    numbers(ar, o);
    flags(ar, o.exact, o.grid_matters, o.transposed, o.on_gpu, is_wide);
    choice(ar, o.engine, Engine::hybrid);
    if (!is_wide) return;
    put(ar, o.wide->re);
    put(ar, o.wide->im);
}

void load_part(cereal::PortableBinaryInputArchive &ar, Outcome &o) {
    bool is_wide = false;
    numbers(ar, o);
    require(is_number(o.value) && is_number(o.error) && o.error.mantissa >= 0, "a number");
    require(o.rel_error_bound >= 0 && o.subsets >= 0 && o.states >= 0 && o.peak_states >= 0 &&
                o.operations >= 0 && o.peak_bytes >= 0 && o.predicted_seconds >= 0 && o.slices >= 0,
            "an amount");
    flags(ar, o.exact, o.grid_matters, o.transposed, o.on_gpu, is_wide);
    choice(ar, o.engine, Engine::hybrid);
    if (!is_wide) return;
    o.wide.emplace();
    get(ar, o.wide->re);
    get(ar, o.wide->im);
}

} // namespace libperm
