// What the library needs to know of the machine it runs on.
#pragma once

#include <cstdint>
#include <string>

namespace libperm {

int available_cores();                        // that this process may run on
std::int64_t machine_memory();                // bytes; the cgroup's limit where there is a lower one
std::string processor_name();                 // "" if unknown
std::string readable_bytes(double bytes);     // "17.2 GB"
std::string readable_seconds(double seconds); // "3.1 ms", "2.4 hours", "1.3e+05 years"

} // namespace libperm
