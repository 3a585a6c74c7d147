// What perm_record computes, group by group, all of it through perm.h.
#pragma once

#include "bench/record/lines.hpp"
#include "bench/record/matrices.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

using PlanOf = std::unique_ptr<perm_plan, decltype(&perm_plan_destroy)>;

// Throw perm::Error.
PlanOf plan_of(const Sample &sample, const perm_opts &opts);
std::string result_text(const perm_result &result);
std::string failure_text(const perm::Error &error);
std::string computed(const Sample &sample, const perm_opts &opts);
std::string executed(const perm_plan *plan, const void *values);
std::string saved(const perm_plan *plan); // its bytes

// How many numbers, their digest, and the last of them.
std::string numbers_text(const std::vector<double> &numbers);
std::string numbers_text(const std::vector<std::int64_t> &numbers);

class Recorder {
  public:
    Recorder(RecordLines &lines, std::int32_t threads) : lines_(lines), threads_(threads) {}

    // All that a machine would decide else is set: memory, threads, a GPU.
    perm_opts options(const char *engine = "auto", const char *precision = "auto") const;

    bool wants(const std::string &name) const { return lines_.wants(name); }
    // A line with what `work` comes to, or with the status and text of its failure.
    void attempt(const std::string &name, const std::function<std::string()> &work);
    void attempt_text(const std::string &name, const std::function<std::string()> &work); // as a digest
    // A line for each result, with its number; of a failure one.
    void attempt_each(const std::string &name, const std::function<std::vector<perm::Result>()> &work);
    void compute(const std::string &name, const Sample &sample, const perm_opts &opts) {
        attempt(name, [&] { return computed(sample, opts); });
    }

  private:
    RecordLines &lines_;
    std::int32_t threads_;
};

void record_engines(Recorder &to);   // all engines, precisions and types of values
void record_shapes(Recorder &to);    // all shapes
void record_options(Recorder &to);   // reductions left out, tolerances, seeds, memory, threads
void record_plans(Recorder &to);     // executed again, in batches, with derivatives, saved
void record_shards(Recorder &to);    // and put together again
void record_dense(Recorder &to);     // dense matrices: permanents, sub-permanents, gradients
void record_matchings(Recorder &to); // unmatched lines, numbers of matchings, marginals
void record_drawn(Recorder &to);     // bounds, estimates, samples
void record_periodic(Recorder &to);  // matrices of equal cells
void record_explained(Recorder &to); // plans in words
void record_sources(Recorder &to);   // kernels as text
void record_refusals(Recorder &to);  // what cannot be computed, and why not
