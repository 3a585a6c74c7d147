// Content as bytes that are the same on every machine, by cereal's portable archive. What is read is not
// trusted: counts grow nothing before what they count is there.
#pragma once

#include <cereal/archives/portable_binary.hpp>

#include <algorithm>
#include <sstream>
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

} // namespace libperm
