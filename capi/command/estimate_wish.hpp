// What is told of an estimate to others who draw its samples: in a part's file, to the ranks of a
// communicator.
#pragma once

#include <perm.h>

#include <cstdint>
#include <string>

namespace perm {

struct EstimateWish {
    double epsilon = 0, delta = 0;
    std::uint64_t seed = 0, order_seed = 0; // of the samples; of the options
    std::int64_t samples = 0;
    std::string method, without, decompose;

    EstimateWish() = default;
    EstimateWish(const perm_opts &opts, const perm_estimate_opts &wanted)
        : epsilon(wanted.epsilon),
          delta(wanted.delta),
          seed(wanted.seed),
          order_seed(opts.seed),
          samples(wanted.samples),
          method(text_of(wanted.method)),
          without(text_of(opts.without)),
          decompose(text_of(opts.decompose)) {}

    // Both valid as long as this is.
    perm_estimate_opts wanted() const {
        perm_estimate_opts out = PERM_ESTIMATE_OPTS_INIT;
        out.epsilon = epsilon;
        out.delta = delta;
        out.seed = seed;
        out.samples = samples;
        out.method = text_or_null(method);
        return out;
    }
    perm_opts options(perm_opts opts) const { // with its reductions
        opts.seed = order_seed;
        opts.without = text_or_null(without);
        opts.decompose = text_or_null(decompose);
        return opts;
    }

    template <class Archive> void serialize(Archive &ar) {
        ar(epsilon, delta, seed, order_seed, samples, method, without, decompose);
    }

  private:
    static std::string text_of(const char *text) { return text ? text : ""; }
    static const char *text_or_null(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }
};

} // namespace perm
