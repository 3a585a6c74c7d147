#include "lib/base/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>

namespace libperm {
namespace {

using LibraryJson = nlohmann::ordered_json;

auto position(auto &object, std::string_view key) {
    return std::find_if(object.begin(), object.end(),
                        [key](const auto &member) { return member.first == key; });
}

LibraryJson in_library(const Json &json) {
    return std::visit(
        [](const auto &x) -> LibraryJson {
            using Value = std::decay_t<decltype(x)>;
            if constexpr (std::is_same_v<Value, Json::Array>) {
                LibraryJson array = LibraryJson::array();
                for (const Json &element : x) array.push_back(in_library(element));
                return array;
            } else if constexpr (std::is_same_v<Value, Json::Object>) {
                LibraryJson object = LibraryJson::object();
                for (const auto &[key, element] : x) object[key] = in_library(element);
                return object;
            } else {
                return x;
            }
        },
        json.value());
}

} // namespace

Json::Json(std::nullptr_t) : value_(nullptr) {}
Json::Json(bool flag) : value_(flag) {}
Json::Json(std::int64_t number) : value_(number) {}
Json::Json(double number) : value_(number) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(Array array) : value_(std::move(array)) {}
Json::Json(std::initializer_list<std::pair<const char *, Json>> object)
    : value_(Object(object.begin(), object.end())) {}
Json::Json(const Json &) = default;
Json::Json(Json &&) noexcept = default;
Json &Json::operator=(const Json &) = default;
Json &Json::operator=(Json &&) noexcept = default;
Json::~Json() = default;

void Json::push_back(Json element) { std::get<Array>(value_).push_back(std::move(element)); }

const std::string &Json::text() const { return std::get<std::string>(value_); }
std::int64_t Json::integer() const { return std::get<std::int64_t>(value_); }
bool Json::flag(std::string_view key) const { return std::get<bool>(at(key).value_); }
const Json::Array &Json::array(std::string_view key) const { return std::get<Array>(at(key).value_); }

const Json *Json::find(std::string_view key) const {
    const auto &object = std::get<Object>(value_);
    const auto found = position(object, key);
    return found == object.end() ? nullptr : &found->second;
}

const Json &Json::at(std::string_view key) const {
    if (const Json *found = find(key)) return *found;
    throw std::out_of_range("no key " + std::string(key));
}

Json &Json::operator[](std::string_view key) {
    if (std::holds_alternative<std::nullptr_t>(value_)) value_ = Object();
    auto &object = std::get<Object>(value_);
    const auto found = position(object, key);
    return found != object.end() ? found->second : object.emplace_back(std::string(key), nullptr).second;
}

std::string Json::written(int indent) const {
    return in_library(*this).dump(indent, ' ', false, LibraryJson::error_handler_t::replace);
}

} // namespace libperm
