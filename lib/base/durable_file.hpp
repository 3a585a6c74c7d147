// Files that a crash leaves as they were, or as they were to be.
#pragma once

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace libperm {

// Under another name first, on the disk before it is renamed. Where one lies there already it stays, as
// `file`.previous; a torn one goes, and the one before it stays. Others may read and write it meanwhile:
// there always is a whole one. A link is replaced, not followed. Throws std::system_error, for a folder and a
// device too. What killed processes left of writing it goes.
void write_durably(const std::string &file, std::string_view bytes, bool is_torn = false);

std::string previous_of(const std::string &file); // its name

// "this one", or both where there is one before it: which files are to go before it can be begun anew.
std::string those_kept(const std::string &file);

// All of a plain file. Throws std::system_error.
std::string read_file(const std::string &file);
bool exists(const std::string &file);

// A file that a computation is gone on with from: itself, or, where it is torn, the one before it.

template <class Content> struct KeptFile {
    Content content;
    bool is_previous = false; // the file itself is torn: it is not to take the place of the one before
};

// content_of(bytes) throws Error, warn(text) tells of a torn file. None where there is neither file; Error
// where neither can be read: of damage PERM_BAD_OPTION, else as it was.
template <class Content, class ContentOf, class Warn>
std::optional<KeptFile<Content>> read_kept(const std::string &file, const ContentOf &content_of,
                                           const Warn &warn) {
    std::optional<Error> first;
    bool is_read = false; // what cannot even be read may be anything, a device say, and is not to be removed
    for (const std::string &name : {file, previous_of(file)}) {
        if (!exists(name)) continue;
        try {
            const std::string bytes = read_file(name);
            is_read = true;
            Content content = content_of(bytes);
            if (first) warn(formatted("{}: going on from the one before, {}", first->what(), name));
            return KeptFile<Content>{std::move(content), first.has_value()};
        } catch (const Error &error) {
            const bool is_damaged = error.status() == PERM_BAD_ARGUMENT; // or another version's
            if (!first)
                first = Error(is_damaged ? PERM_BAD_OPTION : error.status(),
                              formatted("{}: {}", name, error.what()));
        } catch (const std::system_error &error) { // which names the file
            if (!first) first = Error(PERM_BAD_OPTION, formatted("cannot read: {}", error.what()));
        }
    }
    if (!first) return {};
    throw Error(first->status(),
                formatted("{}; there is no one before that can be read: name another file{}", first->what(),
                          is_read ? formatted(", or remove {} to begin anew", those_kept(file)) : ""));
}

} // namespace libperm
