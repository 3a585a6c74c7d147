// SIGINT and SIGTERM. The first one ends the command by exit 130: at once, or through the library's cancel
// callback while a Cancellable lives. A second one kills.
#pragma once

namespace perm {

void catch_signals();

class Cancellable {
  public:
    Cancellable();
    ~Cancellable();
    Cancellable(const Cancellable &) = delete;
    Cancellable &operator=(const Cancellable &) = delete;

    // A perm_cancel_fn.
    static int requested(void *);
};

} // namespace perm
