// What this build of the library is and what it runs on.
#pragma once

#include <string>

namespace libperm {

std::string info_text();
std::string info_json();

} // namespace libperm
