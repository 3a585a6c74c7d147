// What the subcommands share: the matrix of the file, and its plan.
#pragma once

#include "matrix_file.hpp"
#include "options.hpp"
#include "output.hpp"

#include <perm.h>
#include <perm.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace perm {

// The weights of leaving lines unmatched, as the command is given them.
class LineWeights {
  public:
    // For `lines` lines of a matrix of these values: one number for all of them, or one for each. `option` is
    // named by what is thrown. Of no texts there are none.
    LineWeights(const std::vector<std::string> &texts, std::int64_t lines, std::int32_t value_type,
                const char *option);
    LineWeights(const LineWeights &) = delete;
    LineWeights &operator=(const LineWeights &) = delete;

    const void *data() const { return data_; } // as perm_csr takes them; null: none

  private:
    std::vector<std::string> texts_;
    std::vector<const char *> pointers_;
    std::vector<double> doubles_;
    std::vector<std::int64_t> integers_;
    const void *data_ = nullptr;
};

class Stopwatch {
  public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

double memory_limit(const Options &options); // bytes; three quarters of the machine's if not given

// Matchings of what a file of edges holds are those of the graph, unless the options name a function.
Options of_matchings(Options options);

// As the options say that its numbers are to be read, without explicit zeros.
FileMatrix read_file(const Options &options, const std::string &file);

// The matrix of the file, with the multiplicities and weights of the options. Explicit zeros are left out, as
// perm_compute does.
class Input {
  public:
    explicit Input(const Options &options);
    Input(const Options &options, FileMatrix matrix); // made of that of the file

    const std::string &name() const { return name_; } // of the file
    const perm_csr &csr() const { return csr_; }

  private:
    std::string name_;
    FileMatrix matrix_;
    FileView view_;
    perm_csr csr_;
    LineWeights row_weights_, col_weights_;
};

// Those of the options that the library knows, with the signals as perm_opts.cancel. Valid as long as they
// are.
perm_opts library_options(const Options &options);
perm_opts library_options(const Options &options, Progress &progress); // with what shows it

// For Cancellable: pieces under way are given time only where what they come to is kept.
const char *notice_of(const Options &options);

// Of the input, or, if the options name one, that of a file.
Plan make_plan(const Options &options, const Input &input, const perm_opts &opts);

class Job {
  public:
    // Reads the file, and plans or reads the plan that the options name.
    explicit Job(const Options &options);

    std::string explain(perm_format format) const { return plan_.explain(format); }
    std::string source(const char *arch) const { return plan_.source(arch); }

    const Plan &plan() const { return plan_; }

  private:
    Input input_;
    Cancellable cancellable_;
    Progress progress_; // the plan calls it, so it must outlive the plan
    Plan plan_;
};

} // namespace perm
