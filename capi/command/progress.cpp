#include "progress.hpp"

#include "output.hpp"

#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace perm {

std::string in_words(double seconds) {
    constexpr double minute = 60, hour = 60 * minute, day = 24 * hour;
    if (!(seconds < 1e15)) return "for ever";
    if (seconds < 10) return fmt::format("{:.3g} s", seconds);
    if (seconds < minute) return fmt::format("{:.0f} s", std::floor(seconds));
    if (seconds < hour)
        return fmt::format("{:.0f} min {:.0f} s", std::floor(seconds / minute),
                           std::floor(std::fmod(seconds, minute)));
    if (seconds < 2 * day)
        return fmt::format("{:.0f} h {:.0f} min", std::floor(seconds / hour),
                           std::floor(std::fmod(seconds, hour) / minute));
    return fmt::format("{:.0f} days", std::floor(seconds / day));
}

Progress::Progress(bool wanted, Clock::time_point start)
    : wanted_(wanted), on_terminal_(isatty(STDERR_FILENO) == 1), due_(on_terminal_ ? 1 : 10), start_(start) {}

Progress::~Progress() {
    if (width_ == 0) return;
    rewrite("");
    std::fputc('\r', stderr);
}

void Progress::report(double fraction, double seconds_left, void *user) {
    static_cast<Progress *>(user)->show(fraction, seconds_left);
}

void Progress::show(double fraction, double seconds_left) {
    const std::chrono::duration<double> elapsed = Clock::now() - start_;
    if (!wanted_ || elapsed.count() < due_) return;
    // A tenth of a percent, never rounded up to a hundred that is not reached.
    const double percent = std::floor(std::clamp(fraction, 0.0, 1.0) * 1000) / 10;
    std::string line = fmt::format("{:5.1f} %, {} elapsed", percent, in_words(std::floor(elapsed.count())));
    if (seconds_left >= 0) line += fmt::format(", {} left", in_words(std::ceil(seconds_left)));
    if (more_) line += more_();
    if (on_terminal_) return rewrite(line);
    write_message(line.substr(line.find_first_not_of(' ')));
    constexpr double minute = 60;
    due_ = elapsed.count() + minute;
}

void Progress::rewrite(const std::string &line) {
    const std::string text = fmt::format("\r{:<{}}", line, width_);
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
    width_ = std::max(width_, line.size());
}

} // namespace perm
