#include "commands.hpp"
#include "job.hpp"
#include "output.hpp"

namespace perm {

void run_explain(const Options &options) {
    const Job job(options);
    if (options.json)
        write_stdout(job.explain(PERM_FORMAT_JSON));
    else
        write_stdout(in_command_terms(job.explain(PERM_FORMAT_TEXT)));
}

} // namespace perm
