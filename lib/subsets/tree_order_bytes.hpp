// A tree's order as bytes, and back, checked: in a saved plan, and where what was found is kept.
#pragma once

#include "preprocess/tree_order.hpp"

#include <string>
#include <string_view>

namespace libperm {

std::string bytes_of(const TreeOrder &order);

// Throws DamagedField, or cereal's exceptions, for what is no order of these columns.
TreeOrder tree_order_from(std::string_view bytes, const Pattern &a, const Pattern &at);

} // namespace libperm
