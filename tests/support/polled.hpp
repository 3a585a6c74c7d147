// A function in a call's place: what is polled in its scope, by any thread that works for it, calls it.
#pragma once

#include "preprocess/limits.hpp"

#include <functional>
#include <utility>

class PolledBy final : public libperm::Polled {
  public:
    explicit PolledBy(std::function<void()> poll) : poll_(std::move(poll)) {}
    void poll() override { poll_(); }

  private:
    std::function<void()> poll_;
    libperm::PolledScope scope_{this};
};
