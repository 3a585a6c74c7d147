// perm_polls [NAME...] - how long a call goes on without looking whether it is to stop, and how soon it
// returns once it is. No test, for no test asserts a time: docs/trust.md has what it printed.
#include "tests/support/hubs.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace families = perm::families;

namespace {

// The library looks at the clock at every poll, by the C library's function, which is this program's.
std::atomic<std::int64_t> last_look = 0, longest_gap = 0;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void begin_watch() {
    longest_gap = last_look = 0;
    (void)now();
}

struct Case {
    std::string name;
    std::function<perm::Csr()> make;
    std::int64_t memory = 0;
};

perm::Csr six_hubs(std::int64_t n) {
    hubs::Rows rows(hubs::at(n));
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < (i < 6 ? n : 6); ++j) rows[hubs::at(i)].emplace_back(j, 1.0);
        if (i >= 6) rows[hubs::at(i)].emplace_back(i, 1.0);
    }
    return hubs::matrix_of(std::move(rows));
}

perm::Csr dense(std::int64_t n, const hubs::Value &value) {
    hubs::Rows rows(hubs::at(n));
    for (auto &row : rows)
        for (std::int64_t j = 0; j < n; ++j) row.emplace_back(j, value());
    return hubs::matrix_of(std::move(rows));
}

perm::Csr all_ones(std::int64_t n) {
    perm::Csr a = dense(n, [] { return 1.0; });
    a.pattern = true;
    return a;
}

// Full to one place right of the diagonal.
perm::Csr hessenberg(std::int64_t n) {
    hubs::Rows rows(hubs::at(n));
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < std::min(n, i + 2); ++j) rows[hubs::at(i)].emplace_back(j, 1.0);
    return hubs::matrix_of(std::move(rows));
}

// The diagonal, and three entries anywhere in each row.
perm::Csr sparse(std::int64_t n, const hubs::Value &value) {
    families::Random random(2);
    hubs::Rows rows(hubs::at(n));
    for (std::int64_t i = 0; i < n; ++i) {
        rows[hubs::at(i)].emplace_back(i, value());
        for (int k = 0; k < 3; ++k) rows[hubs::at(i)].emplace_back(random.integer(0, n - 1), value());
    }
    return hubs::matrix_of(std::move(rows));
}

// Its cells by turns rows and columns, an entry where they touch: the dimer coverings.
perm::Csr grid(std::int64_t side) {
    hubs::Rows rows;
    for (std::int64_t y = 0; y < side; ++y)
        for (std::int64_t x = y % 2; x < side; x += 2) {
            rows.emplace_back();
            const auto touch = [&](std::int64_t to_y, std::int64_t to_x) {
                if (0 <= to_y && to_y < side && 0 <= to_x && to_x < side)
                    rows.back().emplace_back((to_y * side + to_x) / 2, 1.0);
            };
            touch(y - 1, x);
            touch(y, x - 1);
            touch(y, x + 1);
            touch(y + 1, x);
        }
    return hubs::matrix_of(std::move(rows));
}

// What a call comes to that is cancelled so many seconds after it began, and how long it then takes.
struct Cancelled {
    double at;
    perm_status status = PERM_OK;
    double seconds = 0, gap = 0, latency = 0;
};

Cancelled cancelled(const perm::Csr &a, std::int64_t memory, double at) {
    const perm_csr view = a.view();
    double end = 0;
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = "cpu";
    opts.threads = 1;
    opts.cache_dir = "";
    opts.time_limit_seconds = 1e9;
    opts.memory_limit_bytes = memory;
    opts.cancel_user = &end;
    opts.cancel = [](void *user) { return static_cast<int>(now() >= *static_cast<double *>(user)); };
    perm_result result = PERM_RESULT_INIT;
    Cancelled out{at};
    begin_watch();
    const double begin = now();
    end = begin + at;
    out.status = perm_compute(&view, &opts, &result);
    out.seconds = now() - begin;
    out.gap = static_cast<double>(longest_gap) * 1e-9;
    if (out.status == PERM_CANCELLED) out.latency = out.seconds - at;
    perm_result_clear(&result);
    return out;
}

void measure(const Case &c) {
    const perm::Csr a = c.make();
    const auto cancelled_at = [&](double seconds) { return cancelled(a, c.memory, seconds); };
    double gap = 1e9, latency = 0;
    std::string outcome;
    for (int again = 0; again < 2; ++again) { // the shorter: others may have had the processor
        const Cancelled whole = cancelled_at(5);
        gap = std::min(gap, whole.gap);
        outcome = whole.status == PERM_CANCELLED ? "cancelled"
                  : whole.status == PERM_OK      ? "answered"
                                                 : "refused";
        outcome += " after " + std::to_string(whole.seconds).substr(0, 4) + " s";
    }
    for (const double at : {0.0, 0.03, 0.1, 0.25, 0.5, 1.0, 2.0}) {
        const Cancelled one = cancelled_at(at);
        if (one.status != PERM_CANCELLED) break; // done before
        latency = std::max(latency, std::min(one.latency, cancelled_at(at).latency));
    }
    std::printf("| %s | %zu | %s | %.3f | %.2f |\n", c.name.c_str(), a.col_idx.size(), outcome.c_str(), gap,
                latency);
    std::fflush(stdout);
}

std::vector<Case> cases() {
    static families::Random random(1);
    const auto one = [] { return 1.0; };
    const auto any = [] { return random.uniform(-1, 1); };
    return {{"arrow, 10^6", [=] { return hubs::arrow(1000000, one); }},
            {"six hubs, 10^5", [] { return six_hubs(100000); }},
            {"Hessenberg, 1500", [] { return hessenberg(1500); }},
            {"star, 10^5", [=] { return hubs::star(100000, one); }},
            {"caterpillar, 10^5", [=] { return hubs::caterpillar(100000, one); }},
            {"random, 10^6 rows", [=] { return sparse(1000000, any); }},
            {"dense, 24, signed", [=] { return dense(24, any); }},
            {"dense, 36, signed", [=] { return dense(36, any); }},
            {"dense, 2000, signed", [=] { return dense(2000, any); }},
            {"all ones, 800, 50 MB", [] { return all_ones(800); }, 50 << 20},
            {"all ones, 800", [] { return all_ones(800); }},
            {"grid 300 x 300", [] { return grid(300); }}};
}

} // namespace

extern "C" int clock_gettime(clockid_t clock, timespec *time) noexcept {
    const long status = syscall(SYS_clock_gettime, clock, time);
    if (clock != CLOCK_MONOTONIC) return static_cast<int>(status);
    const std::int64_t look = std::int64_t{time->tv_sec} * 1000000000 + time->tv_nsec;
    const std::int64_t before = last_look.exchange(look);
    std::int64_t longest = longest_gap;
    while (before > 0 && look - before > longest &&
           !longest_gap.compare_exchange_weak(longest, look - before)) {
    }
    return static_cast<int>(status);
}

int main(int argc, char **argv) {
    std::printf(
        "| matrix | entries | outcome | longest gap, s | cancelled within, s |\n|---|---|---|---|---|\n");
    for (const Case &c : cases())
        if (argc < 2 ||
            std::any_of(argv + 1, argv + argc, [&](const char *name) { return c.name.starts_with(name); }))
            measure(c);
}
