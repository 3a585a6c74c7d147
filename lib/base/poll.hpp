// What long loops call now and then: it throws once the call is to stop.
#pragma once

#include <functional>

namespace libperm {

using Poll = std::function<void()>;
inline void no_poll() {}

} // namespace libperm
