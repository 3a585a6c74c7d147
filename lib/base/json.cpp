#include "lib/base/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <locale.h>
#include <new>
#include <stdexcept>
#include <system_error>
#include <type_traits>

#define RAPIDJSON_ASSERT(holds)                                                                              \
    ((holds) ? static_cast<void>(0) : throw std::logic_error("RapidJSON: " #holds))
#include <rapidjson/encodings.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/reader.h>

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

// JSON as text, by RapidJSON: values go through it one by one, and nothing of it allocates where memory is
// given back, so that a lack of memory is an exception like others.

namespace {

using Utf8 = rapidjson::UTF8<>;

// RapidJSON's own gives null where memory is short, and its stacks do not look.
struct ThrowingAllocator {
    [[maybe_unused]] static constexpr bool kNeedFree = true;
    static void *Malloc(std::size_t size) { return ::operator new(size); }
    static void *Realloc(void *old, std::size_t old_size, std::size_t size) {
        void *now = Malloc(size);
        if (old) std::memcpy(now, old, std::min(old_size, size));
        Free(old);
        return now;
    }
    static void Free(void *memory) { ::operator delete(memory); }
};

// ---------------------------------------------------------------- writing

struct TextStream {
    using Ch = char;
    std::string &text;
    void Put(char c) { text.push_back(c); }
    void Flush() {}
};

using Writer = rapidjson::Writer<TextStream, Utf8, Utf8, ThrowingAllocator>;
using PrettyWriter = rapidjson::PrettyWriter<TextStream, Utf8, Utf8, ThrowingAllocator>;

// The shortest text that is this number again, always with a point or an exponent; null for what JSON has no
// number for.
std::string number_text(double x) {
    if (!std::isfinite(x)) return "null";
    const bool is_plain = x == 0 || (std::abs(x) >= 1e-4 && std::abs(x) < 1e15);
    std::array<char, 32> buffer;
    const auto [end, error] = std::to_chars(
        buffer.begin(), buffer.end(), x, is_plain ? std::chars_format::fixed : std::chars_format::scientific);
    std::string text(buffer.begin(), end);
    if (is_plain && text.find('.') == std::string::npos) text += ".0";
    return text;
}

rapidjson::SizeType length_of(const std::string &text) {
    return static_cast<rapidjson::SizeType>(text.size());
}

void write(auto &writer, const Json &json) {
    std::visit(
        [&writer](const auto &x) {
            using Value = std::decay_t<decltype(x)>;
            if constexpr (std::is_same_v<Value, std::nullptr_t>) {
                writer.Null();
            } else if constexpr (std::is_same_v<Value, bool>) {
                writer.Bool(x);
            } else if constexpr (std::is_same_v<Value, std::int64_t>) {
                writer.Int64(x);
            } else if constexpr (std::is_same_v<Value, double>) {
                const std::string text = number_text(x);
                writer.RawValue(text.data(), text.size(), rapidjson::kNumberType);
            } else if constexpr (std::is_same_v<Value, std::string>) {
                const std::string text = in_utf8(x);
                writer.String(text.data(), length_of(text));
            } else if constexpr (std::is_same_v<Value, Json::Array>) {
                writer.StartArray();
                for (const Json &element : x) write(writer, element);
                writer.EndArray();
            } else {
                writer.StartObject();
                for (const auto &[key, element] : x) {
                    const std::string text = in_utf8(key);
                    writer.Key(text.data(), length_of(text));
                    write(writer, element);
                }
                writer.EndObject();
            }
        },
        json.value());
}

// ---------------------------------------------------------------- reading

// An integer where it is written as one and fits.
Json number_of(std::string_view text) {
    const char *begin = text.data(), *end = begin + text.size();
    if (text.find_first_of(".eE") == std::string_view::npos) {
        std::int64_t integer = 0;
        if (std::from_chars(begin, end, integer).ec == std::errc()) return integer;
    }
    static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr); // whatever the program's
    const double number = strtod_l(std::string(text).c_str(), nullptr, c_locale);
    if (std::isfinite(number)) return number;
    throw std::out_of_range("the number " + std::string(text) + " is out of range");
}

// Called by the reader with value after value.
class Values : public rapidjson::BaseReaderHandler<Utf8, Values> {
  public:
    Json root;

    // NOLINTBEGIN(bugprone-derived-method-shadowing-base-method): as RapidJSON wants it
    bool Null() { return put(nullptr); }
    bool Bool(bool flag) { return put(flag); }
    bool RawNumber(const char *text, rapidjson::SizeType length, bool) {
        return put(number_of({text, length}));
    }
    bool String(const char *text, rapidjson::SizeType length, bool) { return put(std::string(text, length)); }
    bool Key(const char *text, rapidjson::SizeType length, bool) {
        key_.assign(text, length);
        return true;
    }
    bool StartArray() { return open(Json::Array()); }
    bool StartObject() { return open(Json::Object()); }
    bool EndArray(rapidjson::SizeType) { return close(); }
    bool EndObject(rapidjson::SizeType) { return close(); }
    // NOLINTEND(bugprone-derived-method-shadowing-base-method)

  private:
    Json &place(Json value) {
        if (open_.empty()) return root = std::move(value);
        Json &within = *open_.back();
        if (std::holds_alternative<Json::Array>(within.value())) return within.push_back(std::move(value));
        return within[key_] = std::move(value);
    }
    bool put(Json value) {
        place(std::move(value));
        return true;
    }
    // Not many within each other, for the stack has an end.
    bool open(Json value) {
        constexpr std::size_t most = 100;
        if (open_.size() > most) throw std::invalid_argument("nested more than a hundred times");
        open_.push_back(&place(std::move(value)));
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    std::vector<Json *> open_; // arrays and objects, each within the one before it
    std::string key_;
};

} // namespace

Json Json::read(std::string_view text) {
    constexpr unsigned flags = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag |
                               rapidjson::kParseNumbersAsStringsFlag;
    rapidjson::MemoryStream stream(text.data(), text.size());
    rapidjson::GenericReader<Utf8, Utf8, ThrowingAllocator> reader;
    Values values;
    const rapidjson::ParseResult result = reader.Parse<flags>(stream, values);
    if (result.IsError())
        throw std::invalid_argument(std::string(rapidjson::GetParseError_En(result.Code())) + " At byte " +
                                    std::to_string(result.Offset()));
    if (stream.Tell() != text.size()) throw std::invalid_argument("there is a zero in it");
    return std::move(values.root);
}

std::string Json::written(int indent) const {
    std::string text;
    TextStream stream{text};
    if (indent < 0) {
        Writer writer(stream);
        write(writer, *this);
    } else {
        PrettyWriter writer(stream);
        writer.SetIndent(' ', static_cast<unsigned>(indent));
        write(writer, *this);
    }
    return text;
}

std::string in_utf8(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    for (std::size_t at = 0; at < bytes.size();) {
        rapidjson::MemoryStream rest(bytes.data() + at, bytes.size() - at);
        unsigned character = 0;
        const bool is_one = rapidjson::UTF8<>::Decode(rest, &character) && rest.Tell() <= bytes.size() - at;
        const std::size_t length = is_one ? rest.Tell() : 1;
        text += is_one ? bytes.substr(at, length) : std::string_view("\uFFFD");
        at += length;
    }
    return text;
}

} // namespace libperm
