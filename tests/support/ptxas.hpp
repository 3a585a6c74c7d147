// What ptxas says of kernels in its log (--ptxas-options=-v).
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxas {

// The number in a line of ptxas that stands before these words, which begin with a space.
inline int number_before(std::string_view line, std::string_view words) {
    const auto at = line.find(words);
    if (at == std::string_view::npos) return 0;
    std::string_view text = line.substr(0, at);
    text.remove_prefix(text.find_last_of(' ') + 1); // npos + 1 is 0
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

// What follows these words up to `end`, if the line has them.
inline std::optional<std::string_view> text_after(std::string_view line, std::string_view words, char end) {
    const auto at = line.find(words);
    if (at == std::string_view::npos) return {};
    line.remove_prefix(at + words.size());
    return line.substr(0, line.find(end));
}

} // namespace ptxas

// Of one kernel.
struct PtxasReport {
    std::string kernel;
    int registers = 0, spill_stores = 0, spill_loads = 0, stack = 0; // bytes but for the registers
};

inline std::vector<PtxasReport> read_ptxas(const std::string &log) {
    std::vector<PtxasReport> reports;
    bool of_kernel = false; // and not of a function that it calls
    std::string_view rest = log;
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        if (const auto kernel = ptxas::text_after(line, "Compiling entry function '", '\'')) {
            reports.push_back({.kernel = std::string(*kernel)});
            of_kernel = true;
        } else if (const auto function = ptxas::text_after(line, "Function properties for ", ' ')) {
            of_kernel = !reports.empty() && *function == reports.back().kernel;
        } else if (of_kernel && line.find("bytes stack frame") != std::string_view::npos) {
            reports.back().stack = ptxas::number_before(line, " bytes stack frame");
            reports.back().spill_stores = ptxas::number_before(line, " bytes spill stores");
            reports.back().spill_loads = ptxas::number_before(line, " bytes spill loads");
        } else if (!reports.empty() && line.find(" Used ") != std::string_view::npos) {
            reports.back().registers = ptxas::number_before(line, " registers");
        }
    }
    return reports;
}
