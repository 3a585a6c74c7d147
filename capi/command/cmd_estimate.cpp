#include "commands.hpp"
#include "estimate_answer.hpp"
#include "job.hpp"

namespace perm {

void run_estimate(const Options &options) {
    const Stopwatch watch;
    const Input input(options);
    const Cancellable cancellable;
    Progress progress(!options.quiet);
    const perm_opts opts = library_options(options, progress);
    write_estimate(options, input, opts, watch, "");
}

} // namespace perm
