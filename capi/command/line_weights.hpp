// The weights of leaving lines unmatched, as the command is given them.
#pragma once

#include <perm.h>

#include <cstdint>
#include <string>
#include <vector>

namespace perm {

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

} // namespace perm
