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

// `within`: so many arrays and objects. Not many, for the stack has an end.
Json from_library(const LibraryJson &json, int within = 0) {
    constexpr int most = 100;
    if (within > most) throw std::invalid_argument("nested more than a hundred times");
    switch (json.type()) {
    case LibraryJson::value_t::boolean:
        return json.get<bool>();
    case LibraryJson::value_t::number_integer:
    case LibraryJson::value_t::number_unsigned:
        return json.get<std::int64_t>();
    case LibraryJson::value_t::number_float:
        return json.get<double>();
    case LibraryJson::value_t::string:
        return json.get<std::string>();
    case LibraryJson::value_t::array: {
        Json::Array array;
        for (const LibraryJson &element : json) array.push_back(from_library(element, within + 1));
        return array;
    }
    case LibraryJson::value_t::object: {
        Json object(Json::Object{});
        for (const auto &[key, element] : json.items()) object[key] = from_library(element, within + 1);
        return object;
    }
    default:
        return nullptr;
    }
}

} // namespace

Json::Json(std::nullptr_t) : value_(nullptr) {}
Json::Json(bool flag) : value_(flag) {}
Json::Json(std::int64_t number) : value_(number) {}
Json::Json(double number) : value_(number) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(Array array) : value_(std::move(array)) {}
Json::Json(Object object) : value_(std::move(object)) {}
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
double Json::number() const {
    const std::int64_t *integer = std::get_if<std::int64_t>(&value_);
    return integer ? static_cast<double>(*integer) : std::get<double>(value_);
}
const Json::Array &Json::array() const { return std::get<Array>(value_); }
bool Json::flag(std::string_view key) const { return std::get<bool>(at(key).value_); }
const Json::Array &Json::array(std::string_view key) const { return at(key).array(); }

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

bool Json::is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }

bool Json::operator==(const Json &other) const { return value_ == other.value_; }

Json Json::read(std::string_view text) { return from_library(LibraryJson::parse(text)); }

std::string Json::written(int indent) const {
    return in_library(*this).dump(indent, ' ', false, LibraryJson::error_handler_t::replace);
}

} // namespace libperm
