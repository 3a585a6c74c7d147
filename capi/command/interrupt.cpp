#include "interrupt.hpp"

#include "output.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

namespace perm {
namespace {

// Lock-free, so a signal handler may use them.
std::atomic<bool> cancellable = false;
std::atomic<bool> cancel_requested = false;
std::atomic<const char *> notice_of_stopping = nullptr;
std::atomic<bool> is_line_open = false; // of progress, on a terminal
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<const char *>::is_always_lock_free);

void write_now(std::string_view message) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, message.data(), message.size());
}

} // namespace

extern "C" {
static void on_signal(int) {
    const bool again = cancel_requested.exchange(true);
    if (cancellable && !again) {
        if (const char *notice = notice_of_stopping) {
            if (is_line_open) write_now("\r");
            write_now(notice);
        }
        return;
    }
    // Nothing is under way that needs an orderly end, and reading a pipe may block for ever.
    write_now("perm: cancelled\n");
    _exit(exit_cancelled);
}
}

void catch_signals() {
    for (int number : {SIGINT, SIGTERM}) {
        struct sigaction action = {};
        // Whoever started us in the background may have chosen that signals do not reach us.
        if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
        action = {};
        action.sa_handler = on_signal;
        action.sa_flags = static_cast<int>(SA_RESTART);
        sigaction(number, &action, nullptr);
    }
    // A reader that leaves is an error of write, not a silent death.
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a file that may not grow is one that cannot be written
}

Cancellable::Cancellable(const char *notice) {
    notice_of_stopping = notice;
    is_line_open = isatty(STDERR_FILENO) == 1;
    cancellable = true;
}
Cancellable::~Cancellable() { cancellable = false; }
int Cancellable::requested(void *) { return cancel_requested; }

} // namespace perm
