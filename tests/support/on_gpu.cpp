#include "tests/support/on_gpu.hpp"

#include "bench/families.hpp"
#include "tests/support/check.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <stdexcept>
#include <string>

using oracle::Exact;

bool has_chunks(const char *engine, const char *chunks) {
    return chunks == nullptr || std::string(chunks) == "ceg" || std::string(engine) != "tree";
}

perm_opts on_gpu(const char *engine, const char *chunks) {
    perm_opts opts = with_engine(engine);
    opts.device = "gpu";
    opts.chunks = chunks;
    opts.cache_dir = "";
    return opts;
}

namespace {

// Whether there is one by perm_info, so that an engine that fails is not taken for a machine without a GPU.
// The reason is the library's.
std::string why_no_gpu() {
    const auto info = nlohmann::json::parse(perm::info(PERM_FORMAT_JSON));
    if (info.at("devices").size() > 1) return {};
    try {
        (void)perm::compute(perm::families::counting(3), on_gpu("shared"));
    } catch (const perm::Error &error) {
        if (error.status() == PERM_UNSUPPORTED) return error.what();
        throw;
    }
    throw std::runtime_error("an engine of the GPU has run where perm_info tells of none");
}

} // namespace

bool gpu() {
    static const std::string why_not = why_no_gpu();
    if (!why_not.empty()) run::skip(why_not);
    return why_not.empty();
}

void check_agree(const perm_result &x, const perm_result &y) {
    CAPTURE(x.text);
    CAPTURE(y.text);
    CAPTURE(x.rel_error_bound);
    CAPTURE(y.rel_error_bound);
    const bool finite = std::isfinite(x.abs_error_bound) && std::isfinite(y.abs_error_bound);
    if (finite) CHECK(abs(value_of(x) - value_of(y)) <= Exact(x.abs_error_bound) + Exact(y.abs_error_bound));
    if (informative(x) && informative(y)) CHECK(overlap(Ball(x), Ball(y)));
}

double relative_difference(const perm_result &x, const perm_result &y) {
    const Exact right = value_of(y);
    REQUIRE(right != 0);
    return Exact(abs(value_of(x) / right - 1)).get_d();
}
