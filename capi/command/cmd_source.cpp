#include "commands.hpp"
#include "job.hpp"
#include "output.hpp"

namespace perm {

void run_source(const Options &options) {
    const Job job(options);
    write_stdout(job.source(options.arch.empty() ? nullptr : options.arch.c_str()));
}

} // namespace perm
