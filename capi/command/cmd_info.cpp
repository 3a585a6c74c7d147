#include "commands.hpp"
#include "option_table.hpp"
#include "output.hpp"

#include <perm.hpp>

namespace perm {

void run_info(const Options &options) {
    if (options.option_table)
        return write_stdout(options.json ? info(PERM_FORMAT_OPTIONS) : OptionTable().text());
    write_stdout(info(options.machine_here ? PERM_FORMAT_MACHINE
                      : options.json       ? PERM_FORMAT_JSON
                                           : PERM_FORMAT_TEXT));
}

} // namespace perm
