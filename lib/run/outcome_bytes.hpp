// Outcomes, engines and their forms as bytes, by the numbers that saved plans write.
#pragma once

#include "lib/base/archive.hpp"
#include "lib/input/engine.hpp"
#include "lib/run/results.hpp"

namespace libperm {

void save_part(cereal::PortableBinaryOutputArchive &ar, const EngineResult &result);
// `result`: one of the same kind.
void load_part(cereal::PortableBinaryInputArchive &ar, EngineResult &result);

void save_part(cereal::PortableBinaryOutputArchive &ar, const Outcome &outcome);
void load_part(cereal::PortableBinaryInputArchive &ar, Outcome &outcome);

// Engines and their forms as fields, by the numbers that saved plans write (lib/base/archive.hpp).

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

} // namespace libperm
