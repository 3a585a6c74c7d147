// JSON as text, beside another library's, and what is no JSON.
#include "bench/families.hpp"
#include "lib/base/json.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <regex>
#include <stdexcept>
#include <string>

namespace families = perm::families;
using libperm::Json;
using Other = nlohmann::ordered_json;

namespace {

double random_number(families::Random &random) {
    switch (random.integer(0, 2)) {
    case 0:
        return std::bit_cast<double>(random.bits()); // of any exponent, or not finite
    case 1:
        return std::ldexp(random.uniform(), static_cast<int>(random.integer(-30, 60)));
    default:
        return std::pow(10.0, static_cast<double>(random.integer(-8, 20)));
    }
}

std::string random_text(families::Random &random, bool is_valid) {
    static const std::string pieces[] = {"a",    "\"", "\\", "/", "\n", "\t", std::string(1, '\0'),
                                         "\x7f", "é",  "√",  "😀"};
    std::string text;
    for (std::int64_t k = random.integer(0, 8); k > 0; --k)
        text += is_valid ? pieces[random.integer(0, 10)]
                         : std::string(1, static_cast<char>(random.integer(1, 255)));
    return text;
}

// The same value in both.
struct Both {
    Json ours;
    Other other;
};

Both random_value(families::Random &random, int depth) {
    switch (random.integer(depth > 0 ? 0 : 2, 6)) {
    case 0: {
        Both array{Json::Array(), Other::array()};
        for (std::int64_t k = random.integer(0, 4); k > 0; --k) {
            const Both element = random_value(random, depth - 1);
            array.ours.push_back(element.ours);
            array.other.push_back(element.other);
        }
        return array;
    }
    case 1: {
        Both object{Json::Object(), Other::object()};
        for (std::int64_t k = random.integer(0, 4); k > 0; --k) {
            const Both element = random_value(random, depth - 1);
            const std::string key = random_text(random, true);
            object.ours[key] = element.ours;
            object.other[key] = element.other;
        }
        return object;
    }
    case 2:
        return {nullptr, nullptr};
    case 3: {
        const bool flag = random.chance(0.5);
        return {flag, flag};
    }
    case 4: {
        const auto number = std::bit_cast<std::int64_t>(random.bits()) >> random.integer(0, 63);
        return {number, number};
    }
    case 5: {
        const double number = static_cast<double>(random.integer(-1000, 1000)) / 8;
        return {number, number};
    }
    default: {
        const std::string text = random_text(random, true);
        return {text, text};
    }
    }
}

bool is_refused(const std::string &text) {
    try {
        Json::read(text);
        return false;
    } catch (const std::invalid_argument &) {
        return true;
    } catch (const std::out_of_range &) {
        return true;
    }
}

} // namespace

TEST_CASE("json: values are written as another library writes them, and read as they were") {
    families::Random random(run::seed(0x6a50));
    for (int k = run::cases(20000); k > 0; --k) {
        const Both value = random_value(random, 4);
        for (const int indent : {-1, 2}) {
            const std::string text = value.ours.written(indent);
            REQUIRE(text == value.other.dump(indent));
            REQUIRE(Json::read(text).written(indent) == text); // what is not finite is null by now
        }
    }
}

TEST_CASE("json: numbers are written as another library writes them, or shorter") {
    families::Random random(run::seed(0x6a52));
    for (int k = run::cases(20000); k > 0; --k) {
        const double number = random_number(random);
        const std::string ours = Json(number).written(), other = Other(number).dump();
        INFO(ours, " and ", other);
        REQUIRE(Other::parse(ours) == Other::parse(other)); // both are this number again
        REQUIRE(ours.size() <= other.size());
        REQUIRE(ours.substr(0, 3) == other.substr(0, 3));
        REQUIRE((ours.find('e') == ours.npos) == (other.find('e') == other.npos));
    }
}

TEST_CASE("json: the text of a number") {
    const auto text = [](double x) { return Json(x).written(); };
    CHECK(text(0) == "0.0");
    CHECK(text(-0.0) == "-0.0");
    CHECK(text(0.1) == "0.1");
    CHECK(text(1e-4) == "0.0001");
    CHECK(text(1e-5) == "1e-05");
    CHECK(text(123456789012345) == "123456789012345.0");
    CHECK(text(1e15) == "1e+15");
    CHECK(text(5e-324) == "5e-324");
    CHECK(text(std::numeric_limits<double>::infinity()) == "null");
    CHECK(text(std::nan("")) == "null");
    CHECK(Json::read("9223372036854775807").integer() == std::numeric_limits<std::int64_t>::max());
    CHECK(Json::read("9223372036854775808").number() == 0x1p63);
    CHECK(Json::read("1E-400").number() == 0);
}

TEST_CASE("json: what is not UTF-8 is replaced") {
    CHECK(Json("a\xff").written() == "\"a\uFFFD\"");
    CHECK(Json("\xc3").written() == "\"\uFFFD\"");
    CHECK(Json("\xc3(").written() == "\"\uFFFD(\"");
    families::Random random(run::seed(0x6a51));
    for (int k = run::cases(20000); k > 0; --k) {
        const std::string written = Json(random_text(random, false)).written();
        REQUIRE(Other::parse(written).is_string()); // throws of what is not UTF-8
        REQUIRE(Json(Json::read(written)).written() == written);
    }
}

TEST_CASE("json: what is none is refused") {
    for (const char *text :
         {"", "{", "[1,]", "{\"a\" 1}", "nan", "01", "1e999", "1 2", "\"\xff\"", "'a'", "{a: 1}"})
        CHECK_MESSAGE(is_refused(text), text);
    CHECK(is_refused(std::string("{}\0{}", 5)));
    CHECK(is_refused(std::string(1000, '[') + std::string(1000, ']')));
    CHECK(Json::read("{\"a\": 1, \"a\": 2}").integer("a") == 2); // the last, and at the place of the first
}

TEST_CASE("json: texts with a few bytes changed are read or refused as by another library") {
    families::Random random(run::seed(0x6a53));
    static constexpr std::string_view bytes = "{}[]:,\"\\0123456789.-+eEtrufalsn \x01\x7f\xc3\xa9\xff";
    static const std::regex large("0[eE][+]?[0-9]{3}");
    int refused = 0, read = 0;
    for (int k = run::cases(40000); k > 0; --k) {
        std::string text = random_value(random, 3).ours.written(random.chance(0.5) ? -1 : 2);
        for (std::int64_t changes = random.integer(1, 2); changes > 0; --changes) {
            const auto at = static_cast<std::size_t>(random.integer(0, std::ssize(text) - 1));
            const char byte = bytes[static_cast<std::size_t>(random.integer(0, std::ssize(bytes) - 1))];
            if (random.chance(0.5))
                text[at] = byte;
            else
                text.insert(at, 1, byte);
        }
        INFO(text);
        const Other other = Other::parse(text, nullptr, false);
        if (std::regex_search(text, large)) continue; // of 0, refused by one alone
        REQUIRE(is_refused(text) == other.is_discarded());
        (other.is_discarded() ? refused : read) += 1;
        if (!other.is_discarded()) REQUIRE(Other::parse(Json::read(text).written()) == other);
    }
    CHECK(refused > run::enough(1000));
    CHECK(read > run::enough(1000));
}
