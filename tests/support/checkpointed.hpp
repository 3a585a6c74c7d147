// The computations that are killed and gone on with, known by a name and a seed in either process. Each is a
// tenth of a second's work for two threads in ten pieces or more, so that it is stopped among them and is
// quickly done, whatever the number of the machine's cores.
#pragma once

#include "tests/support/blocks.hpp"
#include "tests/support/large_cases.hpp"

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

// Between two writes.
constexpr double checkpoint_seconds = 0.005;

inline LargeCase checkpointed_case(const std::string &name, std::uint64_t seed) {
    using namespace perm::families;
    Random random(seed);
    const auto with = [](LargeCase c, perm_opts opts) {
        c.opts = opts;
        c.opts.cache_dir = "";
        c.opts.threads = 2;
        return c;
    };
    const auto dense = [&](std::int64_t n, Entries entries) {
        return large_case(erdos_renyi(n, 1, entries, seed));
    };
    if (name.starts_with("ryser")) { // "ryser 24": of this order
        const std::int64_t n = name == "ryser" ? 22 : std::stoll(name.substr(sizeof "ryser"));
        return with(dense(n, Entries::real), in_precision("ryser", "double"));
    }
    if (name == "tree")
        return with(large_case(erdos_renyi(29, 0.4, Entries::real, seed)), in_precision("tree", "double"));
    if (name == "exact") return with(dense(20, Entries::counts), in_precision("ryser", "exact"));
    if (name == "mpfr") return with(dense(18, Entries::real), in_precision("ryser", "mpfr:100"));
    if (name == "complex")
        return with(large_case(full_matrix(21, Complexes::complex, random), As::complex),
                    in_precision("ryser", "double"));
    if (name == "slices") {
        perm_opts opts = in_precision("frontier", "exact");
        opts.memory_limit_bytes = 1 << 20;
        return with(dense(19, Entries::counts), opts);
    }
    if (name == "mpfr slices") {
        perm_opts opts = in_precision("frontier", "mpfr:200");
        opts.memory_limit_bytes = 1 << 20;
        return with(dense(17, Entries::real), opts);
    }
    if (name == "second run" || name == "second run of ryser") { // frontier, then tree; ryser twice
        const bool chosen = name == "second run";
        perm_opts opts = in_precision(chosen ? "auto" : "ryser", "auto");
        opts.tolerance = 1e-14;
        return with(dense(chosen ? 22 : 21, Entries::real), opts);
    }
    if (name == "blocks") {
        std::vector<perm::Csr> blocks;
        for (int k = 0; k < 300; ++k)
            blocks.push_back(dense_block(random.integer(11, 14), Entries::real, random));
        for (int k = 0; k < 2; ++k) blocks.push_back(dense_block(21, Entries::real, random));
        return with(large_case(diagonal_of(blocks)), in_precision("ryser", "double"));
    }
    throw std::invalid_argument("no case " + name);
}

// Not a permanent, but derivatives and sub-permanents by sums over signs; what they come to is written as
// bits.
inline bool is_of_minors(const std::string &name) { return name == "gradient" || name == "minors"; }

inline perm_status minors_in_bits(const std::string &name, std::uint64_t seed, const perm_opts &opts,
                                  std::string &bits) {
    using namespace perm::families;
    constexpr std::int64_t n = 25;
    const LargeCase c = large_case(erdos_renyi(n, 1, Entries::real, seed));
    std::vector<double> numbers(n * n), bounds(n * n);
    perm_status status = PERM_OK;
    if (name == "gradient") {
        perm_plan *plan = nullptr;
        status = perm_plan_create(&c.csr, &opts, &plan);
        if (status == PERM_OK)
            status = perm_plan_gradient(plan, c.csr.values, numbers.data(), bounds.data(), nullptr);
        perm_plan_destroy(plan);
    } else {
        perm_dense a = PERM_DENSE_INIT;
        a.n_rows = n;
        a.n_cols = n - 1;
        a.values = c.csr.values;
        status = perm_sub_permanents(&a, &opts, numbers.data(), bounds.data());
    }
    for (const std::vector<double> *some : {&numbers, &bounds})
        for (const double x : *some) {
            char text[32];
            std::snprintf(text, sizeof text, "%a ", x);
            bits += text;
        }
    return status;
}

// Of all but the times.
inline std::string bits_of(const perm_result &r) {
    char numbers[512];
    std::snprintf(numbers, sizeof numbers, "%a %a %a %a %lld %a %a %d %d %s %lld %lld", r.re, r.im,
                  r.mantissa_re, r.mantissa_im, static_cast<long long>(r.exp2), r.rel_error_bound,
                  r.abs_error_bound, r.exact, r.tolerance_met, r.engine, static_cast<long long>(r.blocks),
                  static_cast<long long>(r.blocks_computed));
    return std::string(r.text ? r.text : "NULL") + ' ' + numbers;
}
