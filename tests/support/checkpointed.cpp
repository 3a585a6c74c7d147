// One computation with a checkpoint in a process of its own, to be killed: its result's bits go to stdout.
//   checkpointed CASE SEED SECONDS FILE [most bytes of a file]      FILE "": no checkpoint
#define DOCTEST_CONFIG_IMPLEMENT // of what the support library refers to
#include <doctest/doctest.h>

#include "tests/support/checkpointed.hpp"
#include "tests/support/end_of_threads.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    const EndOfThreads end_of_threads;
    const std::string name = argv[1];
    const std::uint64_t seed = std::strtoull(argv[2], nullptr, 10);
    perm_opts kept = PERM_OPTS_INIT;
    kept.checkpoint = argv[4];
    kept.checkpoint_seconds = std::strtod(argv[3], nullptr);
    if (is_of_minors(name)) {
        kept.device = "cpu";
        kept.threads = 2;
        std::string bits;
        if (minors_in_bits(name, seed, kept, bits) != PERM_OK) return 1;
        std::printf("%s\n", bits.c_str());
        return 0;
    }
    LargeCase c = checkpointed_case(name, seed);
    c.opts.checkpoint = kept.checkpoint;
    c.opts.checkpoint_seconds = kept.checkpoint_seconds;
    if (argc > 5) { // as a disk that is full
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{std::strtoul(argv[5], nullptr, 10), RLIM_INFINITY};
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 3;
    }
    perm_result r = PERM_RESULT_INIT;
    const perm_status status = perm_compute(&c.csr, &c.opts, &r);
    if (status == PERM_OK) std::printf("%s\n", bits_of(r).c_str());
    if (status != PERM_OK) std::fprintf(stderr, "%s\n", perm_last_error());
    perm_result_clear(&r);
    return status == PERM_OK ? 0 : 1;
}
