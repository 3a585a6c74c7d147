// What an engine's result comes to, as a line of the record.
#pragma once

#include "bench/record/lines.hpp"
#include "lib/run/results.hpp"

#include <fmt/format.h>

#include <string>

inline std::string outcome_text(const libperm::EngineResult &result) {
    const libperm::Outcome x = outcome_of(result);
    const std::string wide = x.wide ? x.wide->re.get_str(62) + " " + x.wide->im.get_str(62) : "none";
    return fmt::format("value={},{} error={},{} rel={} exact={} states={} peak={} operations={} slices={} "
                       "bytes={} wide={}",
                       bits_of(x.value.mantissa), x.value.exp2, bits_of(x.error.mantissa), x.error.exp2,
                       bits_of(x.rel_error_bound), x.exact, x.counts.states, x.counts.peak_states,
                       x.counts.operations, x.counts.slices, x.counts.peak_bytes, quoted(wide));
}
