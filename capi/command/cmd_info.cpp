#include "commands.hpp"
#include "output.hpp"

#include <perm.hpp>

namespace perm {

void run_info(const Options &options) {
    write_stdout(info(options.machine_here ? PERM_FORMAT_MACHINE
                      : options.json       ? PERM_FORMAT_JSON
                                           : PERM_FORMAT_TEXT));
}

} // namespace perm
