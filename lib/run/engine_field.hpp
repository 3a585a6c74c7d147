// Engines and their forms as fields, by the numbers that saved plans write (lib/base/fields.hpp).
#pragma once

#include "lib/base/fields.hpp"
#include "lib/input/engine.hpp"

namespace libperm {

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
