// A JSON value, made piece by piece: plain data, so that the library that reads and writes it is compiled in
// json.cpp alone.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace libperm {

class Json {
  public:
    using Array = std::vector<Json>;
    using Object = std::vector<std::pair<std::string, Json>>; // keys stay in the order they came in

    Json(std::nullptr_t = nullptr);
    Json(bool flag);
    Json(std::int64_t number);
    template <std::integral Number> Json(Number number) : Json(static_cast<std::int64_t>(number)) {}
    Json(double number);
    Json(std::string text);
    Json(const char *text) : Json(std::string(text)) {}
    Json(Array array);
    Json(Object object);
    template <std::integral Number>
    Json(const std::vector<Number> &numbers) : Json(Array(numbers.begin(), numbers.end())) {}
    Json(std::initializer_list<std::pair<const char *, Json>> object);
    Json(const Json &);
    Json(Json &&) noexcept;
    Json &operator=(const Json &);
    Json &operator=(Json &&) noexcept;
    ~Json();

    Json &operator[](std::string_view key); // null makes an object, and a new key null
    Json &push_back(Json element);          // where it is now

    static Json read(std::string_view text); // throws std::exception

    const Json *find(std::string_view key) const; // null: there is no such key
    const Json &at(std::string_view key) const;   // throws std::out_of_range
    bool is_null() const;
    bool operator==(const Json &other) const;
    const std::string &text() const; // throws std::bad_variant_access, as what follows
    std::int64_t integer() const;
    double number() const; // an integer too
    const Array &array() const;
    const std::string &text(std::string_view key) const { return at(key).text(); }
    std::int64_t integer(std::string_view key) const { return at(key).integer(); }
    bool flag(std::string_view key) const;
    const Array &array(std::string_view key) const;

    // On one line where `indent` is -1. What is not UTF-8 is replaced: a path or a driver's text may be
    // anything.
    std::string written(int indent = 2) const;

    using Value = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object>;
    const Value &value() const { return value_; }

  private:
    Value value_;
};

// Text that others read.

// Each byte that is of no character gives way to the character for what cannot be shown.
std::string in_utf8(std::string_view bytes);

} // namespace libperm
