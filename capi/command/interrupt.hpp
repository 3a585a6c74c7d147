// SIGINT and SIGTERM. The first one ends the command by exit 130: at once, or through the library's cancel
// callback while a Cancellable lives. A second one ends it at once.
#pragma once

namespace perm {

void catch_signals();

// A notice for Cancellable.
inline constexpr const char *finishing =
    "perm: stopping: what is under way has 10 seconds to finish; once more stops at once\n";

class Cancellable {
  public:
    // `notice` (static, may be null) is written at the first signal.
    explicit Cancellable(const char *notice = nullptr);
    ~Cancellable();
    Cancellable(const Cancellable &) = delete;
    Cancellable &operator=(const Cancellable &) = delete;

    // A perm_cancel_fn.
    static int requested(void *);
};

} // namespace perm
