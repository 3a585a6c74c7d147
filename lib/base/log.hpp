// What the library tells a person who watches: stderr only, warnings and worse unless perm_set_log_level says
// more.
#pragma once

#include <string_view>

namespace libperm {

void set_log_level(int level);            // 0 nothing .. 4 details
void log_decision(std::string_view text); // what was chosen and why
void log_detail(std::string_view text);
void log_warning(std::string_view text);

} // namespace libperm
