// Matrices of equal cells: terms in all kinds of numbers, generating functions, growth.
#include "bench/record/record.hpp"

#include <fmt/format.h>

using namespace perm::families;

namespace {

struct Matrix {
    Sample cell;
    bool joined = false;
    Sample head{}, tail{}; // without rows: none

    std::string name() const {
        return fmt::format("periodic/{}{}{}", cell.name, joined ? "/joined" : "",
                           head.n_rows > 0 ? "/ends" : "");
    }
};

// r rows and r (2 reach + 1) columns, the diagonal of the cell itself among them.
perm::Csr random_cell(std::int64_t r, std::int64_t reach, Entries entries, std::uint64_t seed) {
    Random random(seed);
    return build(r, r * (2 * reach + 1), [&](std::int64_t i, std::int64_t j) {
        return j == i + r * reach || random.chance(0.4) ? random_entry(entries, random) : 0.0;
    });
}

std::vector<Matrix> matrices() {
    std::vector<Matrix> all;
    for (const bool joined : {false, true}) {
        for (const char *lattice :
             {"grid:2", "grid:4", "grid:2x3", "ring:4", "hexagonal:4", "circulant:3", "toeplitz:2,1"})
            all.push_back({samples::pattern(lattice, perm::lattice_cell(lattice)), joined});
        all.push_back({samples::real("real2", random_cell(2, 1, Entries::real, 151)), joined});
        all.push_back({samples::real("nonnegative3", random_cell(3, 1, Entries::nonnegative, 152)), joined});
        all.push_back({samples::whole("whole2", random_cell(2, 1, Entries::integers, 153)), joined});
        all.push_back({samples::complex("complex2", random_cell(2, 1, Entries::real, 154)), joined});
        all.push_back(
            {samples::text("text1", random_cell(1, 2, Entries::real, 155), samples::Written::fractions),
             joined});
    }
    const Sample three = samples::whole("three", from_dense({{1, 2, 1}}));
    all.push_back({three, false, samples::whole("head", from_dense({{3, 1}})), {}});
    all.push_back({three, false, samples::whole("head", from_dense({{3, 1}})),
                   samples::whole("tail", from_dense({{2, 5}}))});
    all.back().cell.name = "three_and_tail";
    return all;
}

std::string growth_text(const perm::Periodic &plan) {
    const perm::Periodic::Growth x = plan.growth();
    return fmt::format("growth={} lower={} upper={}", bits_of(x.value), bits_of(x.lower), bits_of(x.upper));
}

void record_matrix(Recorder &to, const Matrix &matrix) {
    const std::string name = matrix.name();
    if (!to.wants(name)) return;
    const GivenSample cell(matrix.cell), head(matrix.head), tail(matrix.tail);
    const perm_csr cell_view = cell.csr(), head_view = head.csr(), tail_view = tail.csr();
    perm_periodic a = PERM_PERIODIC_INIT;
    a.cell = &cell_view;
    a.head = matrix.head.n_rows > 0 ? &head_view : nullptr;
    a.tail = matrix.tail.n_rows > 0 ? &tail_view : nullptr;
    a.joined = matrix.joined;
    const auto plan_with = [&](const char *precision) {
        return perm::Periodic(a, to.options("auto", precision));
    };
    for (const char *precision : {"auto", "double", "dd", "exact", "mod:1000003"}) {
        to.attempt_each(fmt::format("{}/{}/terms", name, precision),
                        [&] { return plan_with(precision).terms(1, 9); });
        for (const std::int64_t length : {matrix.joined ? 1 : 0, 40, 3000})
            to.attempt(fmt::format("{}/{}/{}", name, precision, length), [&] {
                const perm::Result result = plan_with(precision).execute(length);
                return result_text(*result.operator->());
            });
    }
    to.attempt_text(name + "/generating_function",
                    [&] { return plan_with("auto").generating_function(PERM_FORMAT_JSON); });
    to.attempt(name + "/growth", [&] { return growth_text(plan_with("auto")); });
    to.attempt(name + "/mod/1e15", [&] {
        const perm::Result result = plan_with("mod:1000003").execute(1000000000000000);
        return result_text(*result.operator->());
    });
}

} // namespace

void record_periodic(Recorder &to) {
    for (const Matrix &matrix : matrices()) record_matrix(to, matrix);
}
