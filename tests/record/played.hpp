// What a device that the host plays comes to, as a line of the record.
#pragma once

#include "bench/record/lines.hpp"
#include "jit/driver/jit_error.hpp"
#include "tests/support/host_queue.hpp"

#include <fmt/format.h>

#include <functional>
#include <string>

// Without a compiler for the host there is no line, and it has said so.
inline void record_on(RecordLines &to, const std::string &name, HostQueue &queue,
                      const std::function<std::string(HostQueue &)> &work) {
    if (!to.wants(name)) return;
    const int before = queue.launches();
    std::string text;
    try {
        text = work(queue);
    } catch (const libperm::JitError &error) {
        if (error.failure() == libperm::JitFailure::unavailable) return;
        text = fmt::format("error={}", quoted(error.what()));
    }
    to.add(name, fmt::format("{} launches={} whole={}", text, queue.launches() - before, queue.is_whole()));
}
