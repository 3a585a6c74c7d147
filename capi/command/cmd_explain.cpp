#include "commands.hpp"
#include "job.hpp"
#include "output.hpp"

namespace perm {

void run_explain(const Options &options) {
    const std::string text = Job(options).explain(options.json ? PERM_FORMAT_JSON : PERM_FORMAT_TEXT);
    write_stdout(text);
}

} // namespace perm
