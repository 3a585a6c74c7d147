// Content as bytes that are the same on every machine, by cereal's portable archive, and what is written to
// be read again, sealed. What is read is not trusted: counts grow nothing before what they count is there,
// enumerators and flags are held against what there is, amounts are neither negative nor NaN.
#pragma once

#include "lib/base/json.hpp"

#include <algorithm>
#include <array>
#include <cereal/archives/portable_binary.hpp>
#include <cstdint>
#include <perm.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cereal {

// Instead of those of cereal/types, which believe the count.
template <class Sequence> void save_sequence(PortableBinaryOutputArchive &ar, const Sequence &x) {
    ar(static_cast<std::uint64_t>(x.size()));
    if constexpr (std::is_arithmetic_v<typename Sequence::value_type>)
        ar(binary_data(x.data(), x.size() * sizeof x[0]));
    else
        for (const auto &element : x) ar(element);
}
template <class Sequence> void load_sequence(PortableBinaryInputArchive &ar, Sequence &x) {
    constexpr std::uint64_t piece = 4096;
    std::uint64_t left = 0;
    x.clear();
    for (ar(left); left > 0;) {
        const std::size_t more =
            std::is_arithmetic_v<typename Sequence::value_type> ? std::min(left, piece) : 1;
        x.resize(x.size() + more);
        if constexpr (std::is_arithmetic_v<typename Sequence::value_type>)
            ar(binary_data(x.data() + x.size() - more, more * sizeof x[0]));
        else
            ar(x.back());
        left -= more;
    }
}

template <class T> void save(PortableBinaryOutputArchive &ar, const std::vector<T> &x) {
    save_sequence(ar, x);
}
template <class T> void load(PortableBinaryInputArchive &ar, std::vector<T> &x) { load_sequence(ar, x); }
inline void save(PortableBinaryOutputArchive &ar, const std::string &x) { save_sequence(ar, x); }
inline void load(PortableBinaryInputArchive &ar, std::string &x) { load_sequence(ar, x); }

} // namespace cereal

namespace libperm {

template <class Content> std::string written(const Content &content) {
    std::ostringstream stream;
    cereal::PortableBinaryOutputArchive archive(stream,
                                                cereal::PortableBinaryOutputArchive::Options::LittleEndian());
    archive(content);
    return std::move(stream).str();
}

// What the bytes begin with; they go on behind it. Throws cereal::Exception where they end too soon.
template <class Content> void read_into(std::string_view &bytes, Content &content) {
    std::istringstream stream{std::string(bytes)};
    cereal::PortableBinaryInputArchive archive(stream);
    archive(content);
    bytes.remove_prefix(static_cast<std::size_t>(stream.tellg()));
}
template <class Content> Content read_from(std::string_view &bytes) {
    Content content;
    read_into(bytes, content);
    return content;
}

// Fields as they are written and read again; the same functions do both. Nothing that is read is trusted:
// enumerators and flags are held against what there is, counts grow no vector before what they count is there
// (above), and amounts are neither negative nor NaN.

// What was read cannot have been written. Whoever reads says of what it is, and what to do about it.
class DamagedField : public std::runtime_error {
  public:
    explicit DamagedField(const char *what) : std::runtime_error(what) {}
};

inline void require(bool holds, const char *what) {
    if (!holds) throw DamagedField(what);
}

// Of what this archive reads. What is written may be anything that a computation comes to.
template <class Archive> void require_read(bool holds, const char *what) {
    if constexpr (Archive::is_loading::value) require(holds, what);
}

inline void require_permutation(const std::vector<std::int32_t> &order, std::int32_t n, const char *what) {
    std::vector<bool> seen(order.size());
    for (const std::int32_t i : order) {
        require(i >= 0 && i < std::ssize(order) && !seen[static_cast<std::size_t>(i)], what);
        seen[static_cast<std::size_t>(i)] = true;
    }
    require(std::ssize(order) == n, what);
}

// A choice stands as its number, at most that of `last`.
template <class Archive, class Enum> void choice(Archive &ar, Enum &x, Enum last) {
    auto number = static_cast<std::int32_t>(x);
    ar(number);
    require(0 <= number && number <= static_cast<std::int32_t>(last), "a choice");
    x = static_cast<Enum>(number);
}
template <class Archive> void flag(Archive &ar, bool &x) {
    std::uint8_t number = x;
    ar(number);
    require(number <= 1, "a flag");
    x = number == 1;
}
template <class Archive, class... Flag> void flags(Archive &ar, Flag &...x) { (flag(ar, x), ...); }
template <class Archive, class... Amount> void amounts(Archive &ar, Amount &...x) {
    ar(x...);
    require_read<Archive>((... && (x >= 0)), "an amount");
}
template <class Archive> void status(Archive &ar, perm_status &x) {
    constexpr std::array all{PERM_OK,          PERM_BAD_ARGUMENT,   PERM_BAD_MATRIX,
                             PERM_BAD_OPTION,  PERM_REFUSED_MEMORY, PERM_REFUSED_TIME,
                             PERM_UNSUPPORTED, PERM_CANCELLED,      PERM_OUT_OF_MEMORY,
                             PERM_GPU_FAILED,  PERM_INTERNAL};
    auto number = static_cast<std::int32_t>(x);
    ar(number);
    const auto found = std::find(all.begin(), all.end(), number);
    require(found != all.end(), "a status");
    x = *found;
}

// A list of what has a function fields(archive, element).
template <class Archive, class Element> void list(Archive &ar, std::vector<Element> &x) {
    std::uint64_t left = x.size();
    ar(left);
    if constexpr (Archive::is_loading::value)
        for (x.clear(); left > 0; --left) fields(ar, x.emplace_back());
    else
        for (Element &element : x) fields(ar, element);
}

// What the bytes hold, and nothing else.
template <class Content> Content all_from(std::string_view bytes, const char *what) {
    try {
        Content content = read_from<Content>(bytes);
        require(bytes.empty(), what);
        return content;
    } catch (const cereal::Exception &) { // no more bytes
        throw DamagedField(what);
    }
}

// UTF-8 in either direction: what comes of a path or a driver may be anything.
template <class Archive> void text_field(Archive &ar, std::string &x) {
    std::string text;
    if constexpr (!Archive::is_loading::value) text = in_utf8(x);
    ar(text);
    require_read<Archive>(in_utf8(text) == text, "a text");
    if constexpr (Archive::is_loading::value) x = std::move(text);
}
template <class Archive, class... Text> void text_fields(Archive &ar, Text &...x) {
    (text_field(ar, x), ...);
}

// What is written to be read again, perhaps elsewhere: behind a magic word come its format, the library's
// version, its length and its checksum, so that nothing damaged, foreign or of another version is read.

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
