// Which options count for what a subcommand calls: the library's table (PERM_FORMAT_OPTIONS).
#pragma once

#include "lib/base/json.hpp"

#include <optional>
#include <string>
#include <vector>

namespace perm {

class OptionTable {
  public:
    OptionTable();

    // Why none of these calls counts an option of the command, "--engine", and what to do instead; none if
    // one does, or if the table knows nothing of it.
    std::optional<std::string> refusal(const std::vector<std::string> &calls,
                                       const std::string &option) const;

    std::vector<std::string> options() const; // as the command has them

    std::string text() const; // all of it in words

    // Of an option that counts for a call with some values alone: why not with others.
    const std::string &why(const std::string &call, const std::string &option) const;

  private:
    const libperm::Json *rule(const std::string &call, const std::string &option) const; // null: it counts

    libperm::Json table_;
};

} // namespace perm
