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

// Only numbers and texts are the library's: where memory has run out, the destructor of its arrays and
// objects, which asks for more, would end the process.
template <class Scalar> std::string scalar_text(const Scalar &x) {
    return LibraryJson(x).dump(-1, ' ', false, LibraryJson::error_handler_t::replace);
}

class Writer {
  public:
    explicit Writer(int indent) : indent_(indent) {}

    void write(const Json &json) {
        std::visit(
            [this](const auto &x) {
                using Value = std::decay_t<decltype(x)>;
                if constexpr (std::is_same_v<Value, Json::Array>)
                    write_all('[', x, ']', [this](const Json &element) { write(element); });
                else if constexpr (std::is_same_v<Value, Json::Object>)
                    write_all('{', x, '}', [this](const auto &member) {
                        text_ += scalar_text(member.first) + (indent_ < 0 ? ":" : ": ");
                        write(member.second);
                    });
                else if constexpr (std::is_same_v<Value, std::int64_t>)
                    text_ += std::to_string(x);
                else
                    text_ += scalar_text(x);
            },
            json.value());
    }
    std::string text() { return std::move(text_); }

  private:
    template <class Elements, class Write>
    void write_all(char open, const Elements &elements, char close, const Write &write_one) {
        text_ += open;
        ++within_;
        for (std::size_t k = 0; k < elements.size(); ++k) {
            if (k > 0) text_ += ',';
            break_line();
            write_one(elements[k]);
        }
        --within_;
        if (!elements.empty()) break_line();
        text_ += close;
    }
    void break_line() {
        if (indent_ >= 0) text_.append(1, '\n').append(static_cast<std::size_t>(indent_ * within_), ' ');
    }

    const int indent_;
    int within_ = 0;
    std::string text_;
};

// What the library's parser meets, as it meets it.
class Reader : public nlohmann::json_sax<LibraryJson> {
  public:
    bool null() override { return take(nullptr); }
    bool boolean(bool flag) override { return take(flag); }
    bool number_integer(number_integer_t x) override { return take(x); }
    bool number_unsigned(number_unsigned_t x) override { return take(static_cast<std::int64_t>(x)); }
    bool number_float(number_float_t x, const string_t &) override { return take(x); }
    bool string(string_t &text) override { return take(std::move(text)); }
    bool binary(binary_t &) override { return false; } // no text's
    bool start_object(std::size_t) override { return open(Json::Object{}); }
    bool start_array(std::size_t) override { return open(Json::Array{}); }
    bool key(string_t &key) override {
        keys_.back() = std::move(key);
        return true;
    }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool parse_error(std::size_t, const std::string &, const nlohmann::detail::exception &error) override {
        throw std::invalid_argument(error.what());
    }

    Json all() { return std::move(all_); }

  private:
    bool open(Json json) {
        constexpr std::size_t most = 100; // not many, for the stack has an end
        if (open_.size() > most) throw std::invalid_argument("nested more than a hundred times");
        open_.push_back(std::move(json));
        keys_.emplace_back();
        return true;
    }
    bool close() {
        Json json = std::move(open_.back());
        open_.pop_back();
        keys_.pop_back();
        return take(std::move(json));
    }
    bool take(Json json) {
        if (open_.empty())
            all_ = std::move(json);
        else if (std::holds_alternative<Json::Array>(open_.back().value()))
            open_.back().push_back(std::move(json));
        else
            open_.back()[keys_.back()] = std::move(json);
        return true;
    }

    Json all_;
    std::vector<Json> open_;
    std::vector<std::string> keys_; // of those that are open, the one that was read last
};

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

Json Json::read(std::string_view text) {
    Reader reader;
    LibraryJson::sax_parse(text, &reader);
    return reader.all();
}

std::string Json::written(int indent) const {
    Writer writer(indent);
    writer.write(*this);
    return writer.text();
}

} // namespace libperm
