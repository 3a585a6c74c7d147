// Sealed files as a target takes them: what is behind the seal, which is made right again after each change.
#pragma once

#include <string>
#include <string_view>

namespace fuzz {

std::string payload_of(const std::string &bytes);

// The payload behind the seal of `genuine`; seals that stand within it are made right, too.
std::string sealed_like(const std::string &genuine, std::string payload);

// Of this process, beneath TMPDIR: what is written and read thousands of times is best kept in memory.
std::string scratch_folder();

} // namespace fuzz
