// The matrix of a file, with numbers that doubles do not hold, and how perm.h takes it.
#pragma once

#include <perm.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace perm {

// Where there are texts, the values of the Csr are left empty, so that it is no matrix without them.
struct FileMatrix : Csr {
    bool integers = false;          // the values are, all within 2^53
    std::vector<std::string> texts; // of PERM_VALUE_TEXT
    std::string note;               // what its reader has to tell; mostly nothing
};

// The same matrix without its explicit zeros.
Csr without_zeros(Csr a);
FileMatrix without_zeros(FileMatrix a);

// Valid while the matrix is neither changed nor destroyed.
class FileView {
  public:
    explicit FileView(const FileMatrix &a);
    FileView(const FileView &) = delete;
    FileView &operator=(const FileView &) = delete;

    const perm_csr &csr() const { return csr_; }

  private:
    std::vector<const char *> texts_;
    std::vector<std::int64_t> integers_;
    perm_csr csr_;
};

} // namespace perm
