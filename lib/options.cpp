#include "lib/options.hpp"

#include "lib/error.hpp"
#include "lib/struct_size.hpp"
#include "lib/system.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

namespace libperm {
namespace {

[[noreturn]] void bad_option(const std::string &text) { throw Error(PERM_BAD_OPTION, text); }

std::string_view or_auto(const char *name) { return name ? name : "auto"; }

} // namespace

const char *engine_name(Engine engine) {
    switch (engine) {
    case Engine::automatic:
        return "auto";
    case Engine::none:
        return "none";
    case Engine::ryser:
        return "ryser";
    case Engine::frontier:
        return "frontier";
    }
    return "?";
}

Options read_options(const perm_opts *opts) {
    if (opts) require_known(*opts, "perm_opts");
    const perm_opts o = opts ? *opts : perm_opts PERM_OPTS_INIT;
    Options out;

    const std::string_view engine = or_auto(o.engine);
    if (engine == "auto")
        out.engine = Engine::automatic;
    else if (engine == "ryser")
        out.engine = Engine::ryser;
    else if (engine == "frontier")
        out.engine = Engine::frontier;
    else
        bad_option(fmt::format("unknown engine \"{}\": use auto, ryser or frontier", engine));

    const std::string_view device = or_auto(o.device);
    if (device == "gpu")
        throw Error(PERM_UNSUPPORTED,
                    "device \"gpu\": this version computes on the CPU only; use auto or cpu");
    if (device != "auto" && device != "cpu")
        bad_option(fmt::format("unknown device \"{}\": use auto or cpu", device));

    const std::string_view precision = or_auto(o.precision);
    if (precision != "auto" && precision != "double")
        bad_option(fmt::format("unknown precision \"{}\": use auto or double", precision));

    if (!(o.tolerance >= 0 && std::isfinite(o.tolerance)))
        bad_option("tolerance must be 0 (the default, 1e-9) or positive and finite");
    if (o.tolerance > 0) out.tolerance = o.tolerance;

    if (o.threads < 0)
        bad_option(fmt::format("threads is {}: use 0 (all cores) or a positive number", o.threads));
    if (o.threads > 4096) bad_option(fmt::format("threads is {}: at most 4096", o.threads));
    out.threads = o.threads > 0 ? std::min(o.threads, available_cores()) : available_cores();
    if (o.reserved != 0) bad_option("perm_opts.reserved must be 0: start from PERM_OPTS_INIT");

    if (o.memory_limit_bytes < 0)
        bad_option(
            fmt::format("memory_limit_bytes is {}: use 0 (three quarters of the memory) or a positive number",
                        o.memory_limit_bytes));
    out.memory_limit = o.memory_limit_bytes > 0 ? o.memory_limit_bytes : machine_memory() / 4 * 3;

    if (!(o.time_limit_seconds >= 0))
        bad_option("time_limit_seconds must be 0 (refuse what is predicted to take over a day), positive or "
                   "INFINITY");
    if (o.time_limit_seconds > 0) out.refuse_seconds = out.stop_seconds = o.time_limit_seconds;

    out.seed = o.seed;
    out.progress = o.progress;
    out.progress_user = o.progress_user;
    out.cancel = o.cancel;
    out.cancel_user = o.cancel_user;
    return out;
}

} // namespace libperm
