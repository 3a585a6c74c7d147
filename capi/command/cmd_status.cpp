#include "commands.hpp"
#include "output.hpp"

#include <perm.hpp>

namespace perm {

void run_status(const Options &options) {
    write_stdout(checkpoint_describe(options.file, options.json ? PERM_FORMAT_JSON : PERM_FORMAT_TEXT));
}

} // namespace perm
