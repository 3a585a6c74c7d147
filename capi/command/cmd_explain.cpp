#include "commands.hpp"
#include "gnuplot.hpp"
#include "job.hpp"
#include "output.hpp"
#include "plot.hpp"

namespace perm {

void run_explain(const Options &options) {
    std::string terminal;
    if (!options.plot.empty()) { // what is wrong is said before anything long
        terminal = plot_terminal(options.plot);
        gnuplot("");
    }
    const Job job(options);
    if (!options.plot.empty()) {
        const std::string title = file_name(options);
        write_file(options.plot, gnuplot(plot_script(job.explain(PERM_FORMAT_PICTURE), title, terminal)));
    }
    if (options.json)
        write_stdout(job.explain(PERM_FORMAT_JSON));
    else
        write_stdout(in_command_terms(job.explain(PERM_FORMAT_TEXT)));
}

} // namespace perm
