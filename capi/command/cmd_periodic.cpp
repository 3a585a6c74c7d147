#include "commands.hpp"
#include "job.hpp"
#include "periodic_answer.hpp"

namespace perm {
namespace {

PeriodicAnswer ask(const Options &options) {
    const bool has_terms = options.length || options.terms;
    const bool has_others = options.growth || options.generating_function; // of which the library tells
    if (!options.checkpoint.empty() && (has_terms || !has_others)) lengths_of(options);
    const Cancellable cancellable(notice_of(options));
    Progress progress(!options.quiet);
    const Stopwatch watch;
    const Periodic plan = periodic_plan(options, library_options(options, progress));
    const perm_format format = options.json ? PERM_FORMAT_JSON : PERM_FORMAT_TEXT;
    PeriodicAnswer asked;
    asked.seconds.plan = watch.seconds(); // the file's reading included
    asked.plan = plan.explain(format);
    if (options.length) {
        asked.result = plan.execute(*options.length);
        asked.seconds.run = asked.result->operator->()->seconds_run;
        asked.seconds.total = asked.seconds.plan + asked.seconds.run;
    }
    require_room(options);
    if (options.terms) asked.terms = plan.terms(1, *options.terms);
    if (options.generating_function) asked.function = plan.generating_function(format);
    if (options.growth) asked.growth = plan.growth();
    return asked;
}

} // namespace

void run_periodic(const Options &options) {
    if (options.terms && *options.terms < 1) throw Error(PERM_BAD_OPTION, "--terms must be 1 or more");
    write_periodic(options, ask(options));
}

} // namespace perm
