// oneTBB's threads end with this: at the end of a process it does not wait for them, and LeakSanitizer, which
// looks for leaks then, may crash or hang over one that is just ending.
#pragma once

#include <new>
#include <oneapi/tbb/global_control.h>

struct EndOfThreads {
    ~EndOfThreads() {
        oneapi::tbb::task_scheduler_handle threads{oneapi::tbb::attach{}};
        oneapi::tbb::finalize(threads, std::nothrow);
    }
};
