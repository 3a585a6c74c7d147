#include "lib/base/json.hpp"

#include <algorithm>
#include <stdexcept>

namespace libperm {
namespace {

auto position(auto &object, std::string_view key) {
    return std::find_if(object.begin(), object.end(),
                        [key](const auto &member) { return member.first == key; });
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
// Not by the variant's own copy: where that throws, libstdc++ 12 destroys what is not there yet.
Json::Json(const Json &other) : value_(std::visit([](const auto &x) { return Value(x); }, other.value_)) {}
Json::Json(Json &&) noexcept = default;
Json &Json::operator=(const Json &other) { return *this = Json(other); }
Json &Json::operator=(Json &&) noexcept = default;
Json::~Json() = default;

Json &Json::push_back(Json element) { return std::get<Array>(value_).emplace_back(std::move(element)); }

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

} // namespace libperm
