// What compute, explain and source share: the matrix of the file, and its plan.
#pragma once

#include "file_matrix.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "progress.hpp"

#include <perm.hpp>

#include <chrono>

namespace perm {

class Stopwatch {
  public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class Job {
  public:
    // Reads the file and plans. Explicit zeros are left out, as perm_compute does.
    explicit Job(const Options &options);

    Result execute() const;
    std::string explain(perm_format format) const { return plan_.explain(format); }

    std::string source(const char *arch) const { return plan_.source(arch); }

    double seconds_read() const { return seconds_read_; }
    double seconds_plan() const { return seconds_plan_; }

  private:
    Plan make_plan(const Options &options);

    Stopwatch watch_;
    FileMatrix matrix_;
    FileView view_;
    double seconds_read_ = 0, seconds_plan_ = 0;
    Cancellable cancellable_;
    Progress progress_; // the plan calls it, so it must outlive the plan
    Plan plan_;
};

} // namespace perm
