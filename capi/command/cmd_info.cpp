#include "commands.hpp"
#include "output.hpp"

#include <perm.hpp>

namespace perm {

void run_info(bool json) { write_stdout(info(json ? PERM_FORMAT_JSON : PERM_FORMAT_TEXT)); }

} // namespace perm
