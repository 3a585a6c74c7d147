#include "commands.hpp"
#include "estimate_answer.hpp"
#include "job.hpp"
#include "output.hpp"

#include "lib/base/durable_file.hpp"

namespace perm {

void run_estimate(const Options &options) {
    if (!options.checkpoint.empty()) require_folder_of(options.checkpoint);
    const Stopwatch watch;
    const Input input(options);
    perm_estimated found = PERM_ESTIMATED_INIT;
    try {
        found = make_estimate(options, input.csr(), library_options(options));
    } catch (const Error &error) {
        const bool stopped = error.status() == PERM_CANCELLED || error.status() == PERM_REFUSED_TIME;
        if (!stopped || !libperm::exists(options.checkpoint)) throw;
        throw Error(error.status(), error.what() + how_to_go_on(options));
    }
    write_estimate(options, found, input.csr(), watch.seconds());
}

} // namespace perm
