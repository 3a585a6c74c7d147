// Where work is placed, on machines that options tell of; what is refused; and what follows a GPU that fails.
#include "jit/driver/jit_error.hpp"
#include "lib/run/placement.hpp"

#include <doctest/doctest.h>

#include <memory>

using namespace libperm;

namespace {

Options options_for(Device device, int gpus) {
    Machine machine;
    GpuProperties gpu;
    gpu.name = "a GPU";
    gpu.memory_bytes = std::int64_t{1} << 30;
    machine.gpus.assign(static_cast<std::size_t>(gpus), gpu);
    Options options;
    options.device = device;
    options.machine = std::make_shared<const Machine>(machine);
    options.all_gpus = true;
    return options;
}

Work work_of(double cpu_seconds, double gpu_seconds, bool is_shared = false) {
    return {"a test", cpu_seconds, 1, [=](const GpuProperties &) { return gpu_seconds; }, 0, is_shared};
}

} // namespace

TEST_CASE("work is placed where it is predicted to be done sooner") {
    const Options automatic = options_for(Device::automatic, 2);
    CHECK(!place(work_of(0.9, 0), automatic).on_gpu); // a GPU would begin later
    CHECK(!place(work_of(2.5, 2), automatic).on_gpu);
    const Placement there = place(work_of(3.5, 2), automatic);
    CHECK(there.on_gpu);
    CHECK(there.seconds == 3);
    CHECK(place(work_of(2.5, 2, true), automatic).seconds == 2); // two GPUs share it
    CHECK(!place(work_of(3.5, 2), options_for(Device::automatic, 0)).on_gpu);
    CHECK(!place(work_of(3.5, 2), options_for(Device::cpu, 2)).on_gpu);
    Work large = work_of(3.5, 2);
    large.gpu_bytes = 0.96 * static_cast<double>(std::int64_t{1} << 30);
    CHECK(!place(large, automatic).on_gpu);
    large.gpu_bytes = 0.94 * static_cast<double>(std::int64_t{1} << 30);
    CHECK(place(large, automatic).on_gpu);
}

TEST_CASE("a GPU that is named is taken, or an error says why not") {
    const Placement slower = place(work_of(0.1, 9), options_for(Device::gpu, 1));
    CHECK(slower.on_gpu);
    CHECK(slower.seconds == 10);
    try {
        place(work_of(0.1, 9), options_for(Device::gpu, 0));
        FAIL("there is none");
    } catch (const Error &error) {
        CHECK(error.status() == PERM_UNSUPPORTED);
        CHECK(std::string(error.what()).find("has none") != std::string::npos);
    }
}

TEST_CASE("a GPU that fails is followed by the processor, or by an error where it was named") {
    const auto fails = [] { throw JitError(JitFailure::out_of_memory, "no memory is left"); };
    CHECK(run_on_gpu("a test", options_for(Device::automatic, 1), [] {}));
    CHECK(!run_on_gpu("a test", options_for(Device::automatic, 1), fails));
    try {
        run_on_gpu("a test", options_for(Device::gpu, 1), fails);
        FAIL("it did not fail");
    } catch (const Error &error) {
        CHECK(error.status() == PERM_OUT_OF_MEMORY);
    }
    const auto refuses = [] { throw Error(PERM_REFUSED_TIME, "no"); };
    CHECK_THROWS_AS(run_on_gpu("a test", options_for(Device::automatic, 1), refuses), Error);
}

TEST_CASE("refusals say what it would take, what the limit is, and how to go on") {
    Options options;
    options.refuse_seconds = 60;
    const Error time = refused_for_time("a test is", 7200, options);
    CHECK(time.status() == PERM_REFUSED_TIME);
    CHECK(std::string(time.what()) ==
          "a test is " + beyond_time_limit(7200, options) + "\n  raise the limit: time_limit_seconds");
    CHECK(beyond_time_limit(7200, options, "8 threads").find(" on 8 threads, ") != std::string::npos);
    const Error memory = refused_for_memory("a test: 2 GB", 1e9, "take less");
    CHECK(memory.status() == PERM_REFUSED_MEMORY);
    CHECK(std::string(memory.what()).find("is the limit\n  take less") != std::string::npos);
}
