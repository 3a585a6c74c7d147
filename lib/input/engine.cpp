#include "lib/input/engine.hpp"

#include <algorithm>

namespace libperm {
namespace {

template <class Is> const EngineFacts *first_that(const Is &is) {
    const auto found = std::find_if(engine_facts.begin(), engine_facts.end(), is);
    return found == engine_facts.end() ? nullptr : &*found;
}

bool is_asked_for(const EngineFacts &e) { return e.id == Engine::automatic || computes_blocks(e.id); }

template <class Is> std::optional<Engine> id_of_first_that(const Is &is) {
    const EngineFacts *found = first_that(is);
    return found ? std::optional(found->id) : std::nullopt;
}

} // namespace

const EngineFacts &facts_of(Engine engine) {
    const EngineFacts *found = first_that([&](const EngineFacts &e) { return e.id == engine; });
    return found ? *found : facts_of(Engine::none);
}

std::optional<Engine> engine_named(std::string_view name) {
    return id_of_first_that([&](const EngineFacts &e) { return is_asked_for(e) && name == e.name; });
}

std::optional<Engine> engine_numbered(std::int32_t number) {
    return id_of_first_that([&](const EngineFacts &e) {
        return (is_asked_for(e) || e.id == Engine::none) && number == static_cast<std::int32_t>(e.id);
    });
}

Engine engine_for(Goal goal) {
    const EngineFacts *found = first_that([&](const EngineFacts &e) { return e.goals.contains(goal); });
    return found ? found->named : Engine::none;
}

} // namespace libperm
