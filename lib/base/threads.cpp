#include "lib/base/threads.hpp"

#include "lib/base/system.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <oneapi/tbb/task_arena.h>

namespace libperm {

void with_threads(int threads, const std::function<void()> &work) {
    oneapi::tbb::task_arena arena(std::min(threads, available_cores())); // TBB complains on stderr about more
    Handover enter, leave;
    const ArriveOnExit left{leave};
    enter.depart();
    arena.execute([&] {
        enter.arrive();
        const DepartOnExit done{leave};
        work();
    });
}

} // namespace libperm
