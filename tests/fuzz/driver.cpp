// Runs a target without libFuzzer: over its seeds, and over what random changes make of them, for a while. Or
// over files, as the one that a failure leaves:
//     fuzz_TARGET [--seconds S] [--seed N] [--write-corpus FOLDER] [FILE...]
// An input may take five seconds of the processor, and the process two gigabytes.
#include "tests/fuzz/target.hpp"
#include "tests/support/run.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*)());

namespace {

const int most_seconds = run::sanitized ? 30 : 5;
constexpr long most_kilobytes = 2 << 20;
constexpr const char *left = "fuzz-failure";

const std::string *running = nullptr;

// What was running, as a file. Signal-safe.
void leave_input() {
    if (!running) return;
    const int file = open(left, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0) return;
    const bool is_written = write(file, running->data(), running->size()) >= 0;
    close(file);
    if (is_written) std::fprintf(stderr, "the input is in %s\n", left);
    running = nullptr;
}

void on_signal(int signal) {
    if (signal == SIGPROF) std::fprintf(stderr, "FAILED: an input takes more than %d s\n", most_seconds);
    leave_input();
    std::signal(signal, SIG_DFL);
    if (signal == SIGPROF) std::abort();
    raise(signal);
}

void run_one(const std::string &input) {
    running = &input;
    const itimerval limit{{0, 0}, {most_seconds, 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
    fuzz::run(input);
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    if (!run::sanitized && used.ru_maxrss > most_kilobytes) fuzz::fail("an input takes more than 2 GB");
    running = nullptr;
}

std::string read_file(const char *name) {
    std::ifstream in(name, std::ios::binary);
    if (!in) fuzz::fail(std::string("cannot read ") + name);
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

int main(int argc, char **argv) {
    double seconds = 1;
    std::uint64_t seed = run::seed(2200);
    std::vector<std::string> inputs;
    bool goes_on = true;
    const char *corpus = nullptr;
    for (int k = 1; k < argc; ++k) {
        const std::string_view argument = argv[k];
        const bool has_value = k + 1 < argc;
        if (argument == "--seconds" && has_value)
            seconds = std::atof(argv[++k]);
        else if (argument == "--seed" && has_value)
            seed = std::strtoull(argv[++k], nullptr, 0);
        else if (argument == "--write-corpus" && has_value)
            corpus = argv[++k];
        else {
            inputs.push_back(read_file(argv[k]));
            goes_on = false;
        }
    }
    if (goes_on) inputs = fuzz::seeds();
    if (corpus) {
        for (std::size_t k = 0; k < inputs.size(); ++k)
            std::ofstream(std::string(corpus) + "/seed" + std::to_string(k), std::ios::binary) << inputs[k];
        return EXIT_SUCCESS;
    }
    for (const int signal : {SIGABRT, SIGPROF}) std::signal(signal, on_signal);
    if (!run::sanitized) // which tells more itself
        for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, on_signal);
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(leave_input);

    std::fprintf(stderr, "--seed %llu\n", static_cast<unsigned long long>(seed));
    long long runs = 0;
    for (const std::string &input : inputs) {
        run_one(input);
        ++runs;
    }
    const auto start = std::chrono::steady_clock::now();
    const auto since = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    for (std::uint64_t k = 0; goes_on && !inputs.empty() && since() < seconds; ++k) {
        const std::uint64_t one = (seed + k) * 0x9e3779b97f4a7c15;
        const std::string &input = inputs[(one >> 16) % inputs.size()],
                          &other = inputs[(one >> 40) % inputs.size()];
        run_one(fuzz::mutated(input, other, one));
        ++runs;
    }
    std::fprintf(stderr, "%lld inputs in %.1f s\n", runs, since());
    return runs > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
