#include "answer.hpp"
#include "commands.hpp"
#include "job.hpp"
#include "output.hpp"

#include "lib/base/json.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>

namespace perm {
namespace {

// Six digits of mantissa * 2^exp2, rounded up or down.
std::string outwards(double mantissa, std::int64_t exp2, bool up) {
    if (mantissa == 0) return "0";
    return std::isinf(mantissa) ? "inf" : scientific(mantissa, exp2, 6, up ? 1 : -1);
}

libperm::Json bound_json(double mantissa, std::int64_t exp2, const char *method) {
    using libperm::Json;
    return Json{{"mantissa", mantissa}, {"exp2", exp2}, {"method", method}};
}

std::string as_json(const perm_interval &b, const perm_csr &a, double seconds) {
    using libperm::Json;
    Json out = Json(Json::Object());
    out["lower"] = bound_json(b.lower_mantissa, b.lower_exp2, b.lower_method);
    out["upper"] = bound_json(b.upper_mantissa, b.upper_exp2, b.upper_method);
    out["exact"] = b.exact == 1;
    out["of_magnitude"] = b.of_magnitude == 1;
    out["blocks"] = b.blocks;
    out["blocks_exact"] = b.blocks_exact;
    put_matrix(out, a, {{"total", seconds}, {"run", b.seconds_total}});
    return out.written();
}

} // namespace

void run_bounds(const Options &options) {
    const Cancellable cancellable;
    const Stopwatch watch;
    const Input input(options);
    const perm_opts opts = library_options(options);
    perm_interval b = PERM_INTERVAL_INIT;
    check(perm_bounds(&input.csr(), &opts, &b));
    if (options.json) return write_stdout(as_json(b, input.csr(), watch.seconds()));
    const std::string lower = outwards(b.lower_mantissa, b.lower_exp2, false),
                      upper = outwards(b.upper_mantissa, b.upper_exp2, true);
    if (options.quiet) return write_stdout(lower + " " + upper + "\n");
    const char *what = b.of_magnitude == 1 ? "|perm|" : "perm";
    std::string out;
    if (b.exact == 1 && std::abs(b.upper_exp2) < 1000)
        out = fmt::format("{} = {}\nexact\n", what,
                          std::ldexp(b.upper_mantissa, static_cast<int>(b.upper_exp2)));
    else
        out = fmt::format("{} <= {} <= {}\nlower: {}, upper: {}\n", lower, what, upper, b.lower_method,
                          b.upper_method);
    out += fmt::format("n = {}, {} entries; {} block{}, {} exact\n", input.csr().n_rows, input.csr().nnz,
                       b.blocks, b.blocks == 1 ? "" : "s", b.blocks_exact);
    write_stdout(out);
}

} // namespace perm
