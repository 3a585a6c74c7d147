// What is written to be read again, perhaps elsewhere: behind a magic word come its format, the library's
// version, its length and its checksum, so that nothing damaged, foreign or of another version is read.
#pragma once

#include "lib/base/fields.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace libperm {

struct Seal {
    std::string_view magic;
    std::uint32_t format;        // to be raised with every change of what is behind it
    std::string_view name;       // "the saved task"
    std::string_view written_by; // "perm_task_save"
    std::string_view again; // what to do about one of another version: "make the plan anew and save it again"
    std::string_view former =
        {}; // magic words of formats that this one took the place of, with blanks between
};

std::string sealed(const Seal &seal, std::string_view payload);

// The payload. Throws Error (PERM_BAD_ARGUMENT, PERM_UNSUPPORTED).
std::string_view unsealed(const Seal &seal, std::string_view bytes);

[[noreturn]] void fail_cut_off(const Seal &seal);
[[noreturn]] void fail_damaged(const Seal &seal, const DamagedField &field);

// What an unsealed payload begins with; it goes on behind it. Throws Error where it ends too soon.
template <class Content> Content read_payload(const Seal &seal, std::string_view &payload) {
    try {
        return read_from<Content>(payload);
    } catch (const cereal::Exception &) { // no more bytes
        fail_cut_off(seal);
    } catch (const DamagedField &field) {
        fail_damaged(seal, field);
    }
}

template <class Content> Content content_of(const Seal &seal, std::string_view bytes) {
    std::string_view payload = unsealed(seal, bytes);
    return read_payload<Content>(seal, payload);
}

} // namespace libperm
