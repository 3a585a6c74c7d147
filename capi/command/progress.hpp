// One line on the terminal that says how far the work is; nothing in the first second. It is erased when the
// Progress ends. Where stderr is no terminal: a message after ten seconds, and then every minute.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>

namespace perm {

// "0.42 s", "12 s", "3 min 20 s", "5 h 10 min", "12 days".
std::string in_words(double seconds);

class Progress {
  public:
    using Clock = std::chrono::steady_clock;
    explicit Progress(bool wanted, Clock::time_point start = Clock::now());
    ~Progress();
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    // What more there is to be said, behind the time that is left.
    void show_beside(std::function<std::string()> more) { more_ = std::move(more); }

    // A perm_progress_fn whose user pointer is the Progress.
    static void report(double fraction, double seconds_left, void *user);

  private:
    void show(double fraction, double seconds_left);
    void rewrite(const std::string &line);

    bool wanted_, on_terminal_;
    double due_; // in seconds after the start: the next that is said
    std::function<std::string()> more_;
    std::size_t width_ = 0; // of what stands on the line now
    Clock::time_point start_;
};

} // namespace perm
