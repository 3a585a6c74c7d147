// oneTBB's threads end with this: at the end of a process it does not wait for them, and LeakSanitizer, which
// looks for leaks then, may crash or hang over one that is just ending.
#pragma once

#include <chrono>
#include <filesystem>
#include <iterator>
#include <new>
#include <oneapi/tbb/global_control.h>
#include <thread>

// Of this process.
inline std::ptrdiff_t count_threads() {
    const std::filesystem::directory_iterator threads("/proc/self/task");
    return std::distance(begin(threads), end(threads));
}

struct EndOfThreads {
    ~EndOfThreads() {
        oneapi::tbb::task_scheduler_handle threads{oneapi::tbb::attach{}};
        oneapi::tbb::finalize(threads, std::nothrow);
        // One that was only starting is not waited for.
        for (int k = 0; k < 200 && count_threads() > 1; ++k)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
};
