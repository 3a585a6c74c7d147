#include "option_table.hpp"

#include "output.hpp"

#include <perm.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <variant>

namespace perm {
namespace {

using libperm::Json;

std::string option_of(const std::string &field) {
    const auto *renamed = std::ranges::find(renamed_fields, field, &RenamedField::field);
    return renamed == std::end(renamed_fields) ? "--" + field : std::string(renamed->option);
}

// What an option may be, in words.
std::string range_of(const Json &facts) {
    const std::string &type = facts.text("type"), &unit = facts.text("unit"), &values = facts.text("values");
    if (!values.empty()) return (type == "words" ? "of " : "") + values;
    if (!unit.empty()) return unit;
    const bool is_whole = type.find("int") != type.npos;
    const std::string most =
        facts.at("most").is_null() ? "" : fmt::format(", at most {:g}", facts.at("most").number());
    if (is_whole) return "a whole number" + most;
    return "a " + (type == "double" ? "number" : type);
}

bool has(const Json &names, const std::string &name) {
    return std::ranges::any_of(names.array(), [&](const Json &one) { return one.text() == name; });
}

std::string joined(const Json &names) {
    std::string text;
    for (const Json &name : names.array()) text += (text.empty() ? "" : ", ") + name.text();
    return text;
}

} // namespace

OptionTable::OptionTable() : table_(Json::read(info(PERM_FORMAT_OPTIONS))) {}

std::vector<std::string> OptionTable::options() const {
    std::vector<std::string> names;
    for (const Json &field : table_.array("options")) names.push_back(option_of(field.text()));
    return names;
}

const Json *OptionTable::rule(const std::string &call, const std::string &option) const {
    for (const Json &rule : table_.array("rules")) {
        const Json::Array &fields = rule.array("options");
        const bool is_named =
            std::ranges::any_of(fields, [&](const Json &field) { return option_of(field.text()) == option; });
        if (is_named && has(rule.at("calls"), call)) return &rule;
    }
    return nullptr;
}

std::optional<std::string> OptionTable::refusal(const std::vector<std::string> &calls,
                                                const std::string &option) const {
    std::optional<std::string> why;
    for (const std::string &call : calls) {
        const Json *of = rule(call, option);
        if (!of || !of->text("values").empty()) return {};
        if (!why) why = of->text("why");
    }
    return why;
}

const std::string &OptionTable::why(const std::string &call, const std::string &option) const {
    return rule(call, option)->text("why");
}

std::string OptionTable::text() const {
    std::string text = "What each option may be, and what it is where it is not given:\n\n";
    for (const auto &[field, facts] : std::get<Json::Object>(table_.at("facts").value()))
        text += fmt::format("  {:<18}  {}; {}\n", field, range_of(facts), facts.text("otherwise"));
    text += "\nEvery option counts for every call, but for these:\n";
    for (const Json &rule : table_.array("rules")) {
        const std::string &values = rule.text("values");
        text += fmt::format("\n{}\n  {}: {}{}\n  {}\n", joined(rule.at("calls")), joined(rule.at("options")),
                            rule.integer("status") == PERM_OK ? "nothing to do" : "refused",
                            values.empty() ? "" : ", but " + values, rule.text("why"));
    }
    return text;
}

} // namespace perm
