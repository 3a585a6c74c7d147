#include "tests/support/run.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace run {

namespace {
std::atomic<int> skip_count = 0;
}

#ifdef PERM_SANITIZED
const bool sanitized = true;
#else
const bool sanitized = false;
#endif

std::uint64_t seed(std::uint64_t salt) {
    const char *text = std::getenv("PERM_TEST_SEED");
    const std::uint64_t base = text != nullptr ? std::strtoull(text, nullptr, 0) : 20260101;
    return base * 1000003 + salt;
}

int multiplier() {
    const char *text = std::getenv("PERM_TEST_MULTIPLIER");
    return text != nullptr ? std::max(1, std::atoi(text)) : 1;
}

int cases(int usual) {
    const int some = usual * multiplier();
    return sanitized ? std::max({1, some / 8, std::min(some / 3, 20)}) : some;
}

int sweep(int usual) {
    return cases(std::getenv("PERM_TEST_SWEEPS") != nullptr ? usual : std::max(1, usual / 8));
}

int enough(int usual) { return std::max(1, usual / (sanitized ? 14 : 1)); }

void skip(const std::string &why) {
    ++skip_count;
    std::printf("SKIPPED: %s\n", why.c_str());
    std::fflush(stdout);
}

int skips() { return skip_count; }

} // namespace run
