#include "lib/run/outcome_bytes.hpp"

#include "lib/base/archive.hpp"

#include <cmath>

namespace libperm {
namespace {

using Out = cereal::PortableBinaryOutputArchive;
using In = cereal::PortableBinaryInputArchive;

void put(Out &ar, const mpq_class &x) { ar(x.get_str(62)); }

void get(In &ar, mpq_class &x) {
    std::string text;
    ar(text);
    require(x.set_str(text, 62) == 0 && x.get_den() != 0, "a number");
    x.canonicalize();
}

// Its size is such that computing with it does not overflow.
bool is_number(const Scaled &x) {
    constexpr auto most = std::int64_t{1} << 48;
    return !std::isnan(x.mantissa) && -most < x.exp2 && x.exp2 < most;
}

template <class Archive> void number(Archive &ar, Scaled &x) { ar(x.mantissa, x.exp2); }

template <class Archive> void number_and_error(Archive &ar, Scaled &value, Scaled &error) {
    number(ar, value);
    number(ar, error);
    require_read<Archive>(is_number(value) && is_number(error) && error.mantissa >= 0, "a number");
}

template <class Archive> void counts(Archive &ar, Counts &c) {
    amounts(ar, c.subsets, c.states, c.peak_states, c.operations, c.peak_bytes, c.slices);
    ar(c.seconds_compile, c.kernels_compiled);
}

void value(Out &ar, Gaussian &x) {
    put(ar, x.re);
    put(ar, x.im);
}
void value(In &ar, Gaussian &x) {
    get(ar, x.re);
    get(ar, x.im);
}

struct ValueFields { // of an engine's result, by its kind
    template <class Archive> static void fields(Archive &ar, Ball &x) {
        number_and_error(ar, x.value, x.error);
    }
    template <class Archive> static void fields(Archive &ar, WideBall &x) {
        Scaled none;
        value(ar, x.value);
        number_and_error(ar, none, x.error);
    }
    template <class Archive> static void fields(Archive &ar, ResidueVector &x) {
        const std::size_t primes = x.size();
        ar(x);
        require(x.size() == primes, "residues");
    }
};

template <class Archive> void fields(Archive &ar, EngineResult &result) {
    std::visit([&](auto &x) { ValueFields::fields(ar, x); }, result.value);
    counts(ar, result.counts);
    flags(ar, result.grid_matters);
}

template <class Archive> void fields(Archive &ar, Outcome &o) {
    bool is_wide = o.wide.has_value();
    number_and_error(ar, o.value, o.error);
    amounts(ar, o.rel_error_bound, o.predicted_seconds);
    counts(ar, o.counts);
    flags(ar, o.exact, o.transposed, o.on_gpu, is_wide);
    engine_field(ar, o.engine);
    if (!is_wide) return;
    if (!o.wide) o.wide.emplace();
    value(ar, *o.wide);
}

} // namespace

void save_part(Out &ar, const EngineResult &result) {
    EngineResult copy = result;
    fields(ar, copy);
}
void load_part(In &ar, EngineResult &result) { fields(ar, result); }

void save_part(Out &ar, const Outcome &outcome) {
    Outcome copy = outcome;
    fields(ar, copy);
}
void load_part(In &ar, Outcome &outcome) { fields(ar, outcome); }

} // namespace libperm
