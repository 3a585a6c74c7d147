#include "line_weights.hpp"

#include <perm.hpp>

#include <charconv>
#include <fmt/core.h>

namespace perm {
namespace {

template <class Number> Number parsed(const std::string &text, const char *option, const char *kind) {
    Number number{};
    const char *const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    if (end != last || error != std::errc{})
        throw Error(PERM_BAD_OPTION, fmt::format("{}: '{}' is not {}", option, text, kind));
    return number;
}

} // namespace

LineWeights::LineWeights(const std::vector<std::string> &texts, std::int64_t lines, std::int32_t value_type,
                         const char *option) {
    if (texts.empty()) return;
    const auto given = static_cast<std::int64_t>(texts.size());
    if (given != 1 && given != lines)
        throw Error(PERM_BAD_OPTION,
                    fmt::format("{} has {} numbers, expected one, or one for each of the {} lines", option,
                                given, lines));
    for (std::int64_t i = 0; i < lines; ++i)
        texts_.push_back(texts[given == 1 ? 0 : static_cast<std::size_t>(i)]);
    texts_.emplace_back("1"); // so that there is an address
    for (const std::string &text : texts_) {
        pointers_.push_back(text.c_str());
        if (value_type == PERM_VALUE_I64 || value_type == PERM_VALUE_PATTERN)
            integers_.push_back(parsed<std::int64_t>(
                text, option, "a whole number, as those of the file are: write them with a point there"));
        if (value_type == PERM_VALUE_F64 || value_type == PERM_VALUE_C128)
            doubles_.push_back(parsed<double>(text, option, "a number"));
        if (value_type == PERM_VALUE_C128) doubles_.push_back(0);
        if (value_type == PERM_VALUE_PATTERN && integers_.back() != 1)
            throw Error(PERM_BAD_OPTION, fmt::format("{}: the entries of a pattern are 1, and so are weights "
                                                     "beside them, not {}",
                                                     option, text));
    }
    data_ = value_type == PERM_VALUE_TEXT ? static_cast<const void *>(pointers_.data())
            : !doubles_.empty()           ? static_cast<const void *>(doubles_.data())
                                          : static_cast<const void *>(integers_.data());
}

} // namespace perm
