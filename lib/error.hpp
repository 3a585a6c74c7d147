// The one kind of exception inside the library: a status and what to do about it, in words.
#pragma once

#include <perm.h>

#include <stdexcept>
#include <string>

namespace libperm {

class Error : public std::runtime_error {
  public:
    Error(perm_status status, const std::string &text) : std::runtime_error(text), status_(status) {}
    perm_status status() const noexcept { return status_; }

  private:
    perm_status status_;
};

} // namespace libperm
