// The GPU's engines without a GPU: their kernels run on the host (tests/support/host_kernel.hpp), with the
// launches and the sums of launches of lib/subsets/subset_sum.cpp, against exact permanents.
#include "bench/families.hpp"
#include "jit/kernel/device_code.hpp"
#include "jit/kernel/subset_source.hpp"
#include "lib/input/matrix.hpp"
#include "lib/number/double_double.hpp"
#include "lib/subsets/fixed_point_double.hpp"
#include "lib/subsets/launch.hpp"
#include "preprocess/matching.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/host_kernel.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <gmpxx.h>
#include <limits>
#include <numeric>

using namespace libperm;
using oracle::Exact;
namespace families = perm::families;

namespace {

constexpr GrayEngine engines[] = {GrayEngine::shared, GrayEngine::dense, GrayEngine::purereg,
                                  GrayEngine::hybrid};

std::uint64_t test_seed() { return run::seed(0x6b726e); }

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

Block block_of(const perm::Csr &matrix) {
    const perm_csr view = matrix.view();
    const InputPattern input = read_pattern(&view);
    Block block{input.pattern, {}};
    for (const double x : read_values(input, view.values).real) block.values.push_back(tracked(x));
    return block;
}

bool same_bits(const Outcome &x, const Outcome &y) {
    return x.value.mantissa == y.value.mantissa && x.value.exp2 == y.value.exp2 &&
           x.error.mantissa == y.error.mantissa && x.error.exp2 == y.error.exp2 && x.exact == y.exact;
}

void check(const Outcome &outcome, const Exact &truth) {
    CHECK(std::isfinite(outcome.value.mantissa));
    const Exact error = abs(exactly(outcome.value) - truth);
    if (std::isfinite(outcome.error.mantissa)) CHECK(error <= exactly(outcome.error));
    if (std::isfinite(outcome.rel_error_bound)) CHECK(error <= Exact(outcome.rel_error_bound) * abs(truth));
    if (outcome.exact) CHECK(error == 0);
}

// ---------------------------------------------------------------- plans

std::int32_t columns_within(const GrayKernel &kernel,
                            std::int32_t k) { // the first ones that touch k rows only
    std::int32_t c = 0;
    while (c < kernel.n - 1 && std::all_of(kernel.row.begin() + kernel.column_ptr[at(c)],
                                           kernel.row.begin() + kernel.column_ptr[at(c) + 1],
                                           [k](std::int32_t r) { return r < k; }))
        ++c;
    return c;
}

Ordering any_order(std::int32_t n, families::Random &random) {
    Ordering order;
    for (const std::int64_t i : random.permutation(n)) order.rows.push_back(static_cast<std::int32_t>(i));
    for (const std::int64_t j : random.permutation(n)) order.cols.push_back(static_cast<std::int32_t>(j));
    return order;
}

// In any order, not just those that the planner chooses.
GrayPlan plan_in_order(GrayEngine engine, const Pattern &a, const Ordering &order) {
    GrayPlan plan;
    plan.order = order;
    plan.subsets = std::exp2(a.rows - 1.0);
    plan.kernel.engine = engine;
    plan.kernel.n = a.rows;
    plan.kernel.k = engine == GrayEngine::hybrid ? a.rows : 0;
    if (engine == GrayEngine::dense) return plan;
    const Pattern columns = transpose(reorder(a, order).pattern).pattern;
    plan.kernel.column_ptr = columns.row_ptr;
    plan.kernel.row = columns.col;
    return plan;
}

// Any of the kernel's numbers that the engine allows.
void choose_shape(GrayKernel &kernel, families::Random &random) {
    kernel.threads = static_cast<std::int32_t>(random.integer(4, 8));
    kernel.segment_bits = static_cast<std::int32_t>(random.integer(0, kernel.n - 1));
    std::int64_t most = kernel.segment_bits;
    if (kernel.engine == GrayEngine::hybrid) {
        const std::int64_t kind = random.integer(0, 4);
        if (kind > 0) // else as the planner has it
            kernel.k = static_cast<std::int32_t>(kind == 1   ? 0
                                                 : kind == 2 ? kernel.n
                                                             : random.integer(0, kernel.n));
        const std::int32_t within = columns_within(kernel, kernel.k);
        if (kind == 0) CHECK(kernel.c <= within);
        if (kind > 0) kernel.c = static_cast<std::int32_t>(random.integer(0, within));
        most = std::min<std::int64_t>(most, kernel.c);
    }
    if (values_by_parameter(kernel)) most = std::min<std::int64_t>(most, kernel.n <= 8 ? 7 : 5);
    kernel.unrolled = static_cast<std::int32_t>(random.chance(0.3) ? most : random.integer(0, most));
}

double block_terms(const GrayKernel &kernel) {
    return kernel.equal_chunks ? 16 : std::ldexp(1.0, kernel.unrolled);
}

// ---------------------------------------------------------------- a GPU's work (lib/subsets/subset_sum.cpp)

struct Shape {
    unsigned threads = 4, blocks = 2;
    std::uint64_t longest = 1 << 20;               // segments of a chunk
    std::uint64_t window = std::uint64_t{1} << 40; // segments, or subsets of equal chunks
    std::uint64_t group = 3;
    double rare = 0;           // segments so many times above the average are summed again
    std::uint64_t shuffle = 0; // in an order that follows from it
    std::uint64_t all() const { return std::uint64_t{threads} * blocks; }
};

Shape any_shape(const GrayKernel &kernel, families::Random &random) {
    Shape shape;
    shape.threads = static_cast<unsigned>(
        kernel.engine == GrayEngine::hybrid ? kernel.threads : random.integer(1, kernel.threads));
    shape.blocks = static_cast<unsigned>(random.integer(1, 4));
    // A hundred launches at most: each starts threads.
    const int bits = kernel.n - 1 - (kernel.equal_chunks ? 0 : kernel.segment_bits);
    shape.longest = at(random.chance(0.5) ? 1 << 20 : random.integer(1, 9)) << std::max(0, bits - 5);
    shape.group = at(random.integer(1, 300));
    if (random.chance(0.5))
        shape.window = std::uint64_t{1} << std::max(bits - random.integer(0, 4), std::int64_t{1});
    return shape;
}

const double poison = std::numeric_limits<double>::quiet_NaN();

class HostRun {
  public:
    HostRun(const HostKernel &kernel, const GrayPlan &plan, const GrayValues &values, const Shape &shape)
        : host_(kernel),
          kernel_(plan.kernel),
          numbers_(values.numbers()),
          shape_(shape),
          rows_(at(global_rows(plan.kernel)) * shape.all() + guards, poison) {}

    GraySum run() {
        const auto bits = at(kernel_.n - 1 - (kernel_.equal_chunks ? 0 : kernel_.segment_bits));
        const std::uint64_t count = std::uint64_t{1} << bits, window = std::min(count, shape_.window);
        for (std::uint64_t first = 0; first < count; first += window) {
            partials_.assign((kernel_.equal_chunks ? shape_.all() : window) + guards,
                             {{poison, poison}, poison});
            if (kernel_.equal_chunks) {
                start({first, first + window, (window + shape_.all() - 1) / shape_.all(), 0});
            } else {
                for (const GrayLaunch &launch :
                     launch_parameters(first, first + window, shape_.all(), shape_.longest))
                    start(launch);
            }
            GraySum sum = added_up();
            if (shape_.rare > 0 && !kernel_.equal_chunks) {
                plain_.insert(plain_.end(), partials_.begin(), partials_.end() - guards);
                const std::vector<std::uint64_t> chosen = choose_largest(first, sum.absolute);
                sum_accurately(first, chosen);
                if (!chosen.empty()) sum = added_up();
            }
            add(sum);
        }
        for (std::size_t k = rows_.size() - guards; k < rows_.size(); ++k) CHECK(std::isnan(rows_[k]));
        return total_;
    }

    const std::vector<Partial3> &segments() const { return segments_; } // all partial sums in their order
    // As they were before some were summed again; and which.
    const std::vector<Partial3> &plain_segments() const { return plain_; }
    const std::vector<std::uint64_t> &chosen() const { return chosen_; }

  private:
    static constexpr std::size_t guards = 8; // numbers behind an array that no kernel may touch

    void start(GrayLaunch launch) {
        const std::uint64_t chunks = (launch.end - launch.first + launch.length - 1) / launch.length;
        const std::uint64_t needed = (chunks + shape_.threads - 1) / shape_.threads;
        const unsigned blocks = kernel_.equal_chunks
                                    ? shape_.blocks
                                    : static_cast<unsigned>(std::min<std::uint64_t>(needed, shape_.blocks));
        const double *values = numbers_.data();
        double *rows = rows_.data();
        Partial3 *partials = partials_.data();
        void *first =
            values_by_parameter(kernel_) ? const_cast<double *>(values) : static_cast<void *>(&values);
        void *const parameters[] = {first, &launch, &rows, &partials};
        host_.launch(gray_entry, blocks, shape_.threads,
                     shared_bytes(kernel_, static_cast<int>(shape_.threads)), parameters);
    }

    GraySum added_up() {
        std::uint64_t count = partials_.size() - guards, group = shape_.group;
        const std::uint64_t groups = (count + group - 1) / group;
        for (std::size_t k = 0; k < partials_.size(); ++k)
            if (std::isnan(partials_[k].sum.sum) != (k >= count))
                FAIL_CHECK("partial " << k << " of " << count);
        std::vector<Partial3> gathered(groups + guards, {{poison, poison}, poison});
        const Partial3 *from = partials_.data();
        Partial3 *to = gathered.data();
        number::Real<double> real;
        void *const parameters[] = {&from, &count, &group, &to, &real};
        host_.launch(gather_entry, static_cast<unsigned>((groups + 3) / 4), 4, 0, parameters);
        CHECK(std::isnan(gathered[groups].sum.sum));
        DoubleDouble sum;
        GraySum all;
        for (std::uint64_t g = 0; g < groups; ++g) {
            sum = sum + two_sum(gathered[g].sum.sum, gathered[g].sum.error);
            all.absolute += gathered[g].absolute;
        }
        all.sum = sum.hi;
        all.error = sum.lo;
        return all;
    }

    void add(const GraySum &part) {
        const DoubleDouble sum = DoubleDouble{total_.sum, total_.error} + DoubleDouble{part.sum, part.error};
        total_ = {sum.hi, sum.lo, total_.absolute + part.absolute};
        segments_.insert(segments_.end(), partials_.begin(), partials_.end() - guards);
    }

    // Those above the threshold, and no other.
    std::vector<std::uint64_t> choose_largest(std::uint64_t base, double absolute) {
        std::uint64_t window = partials_.size() - guards, number = 0;
        double most = absolute / static_cast<double>(window) * shape_.rare;
        std::uint64_t room =
            std::min(window, static_cast<std::uint64_t>(static_cast<double>(window) / shape_.rare) + 1);
        constexpr std::uint64_t none = ~std::uint64_t{0};
        std::vector<std::uint64_t> chosen(room + guards, none);
        const Partial3 *partials = partials_.data();
        std::uint64_t *to = chosen.data(), *counter = &number;
        const double *of_window = &most;
        int window_bits = 63;
        void *const parameters[] = {&partials, &window, &of_window, &window_bits, &to, &room, &counter};
        host_.launch(select_entry, static_cast<unsigned>((window + 6) / 7), 7, 0, parameters);
        std::vector<std::uint64_t> right;
        for (std::uint64_t t = 0; t < window; ++t)
            if (partials_[t].absolute > most) right.push_back(t);
        CHECK(number == right.size());
        for (std::size_t k = room; k < chosen.size(); ++k) CHECK(chosen[k] == none);
        CHECK(number <= room); // Markov's inequality
        chosen.resize(std::min(number, room));
        std::vector<std::uint64_t> sorted = chosen;
        std::sort(sorted.begin(), sorted.end());
        CHECK(sorted == right);
        for (const std::uint64_t t : right) chosen_.push_back(base + t);
        families::Random random(shape_.shuffle); // the GPU's threads come in any order
        std::vector<std::uint64_t> shuffled;
        for (const std::int64_t k : random.permutation(static_cast<std::int64_t>(chosen.size())))
            shuffled.push_back(chosen[at(k)]);
        return shape_.shuffle > 0 ? shuffled : chosen;
    }

    void sum_accurately(std::uint64_t base, const std::vector<std::uint64_t> &chosen) {
        if (chosen.empty()) return;
        std::vector<std::int32_t> column_ptr(kernel_.column_ptr.begin(), kernel_.column_ptr.end()),
            row = kernel_.row;
        if (kernel_.engine == GrayEngine::dense) {
            for (std::int32_t j = 0; j <= kernel_.n; ++j) column_ptr.push_back(j * kernel_.n);
            for (std::int32_t e = 0; e < kernel_.n * kernel_.n; ++e) row.push_back(e % kernel_.n);
        }
        const double *values = numbers_.data();
        const std::int32_t *ptr = column_ptr.data(), *rows = row.data();
        const std::uint64_t *which = chosen.data();
        Partial3 *partials = partials_.data();
        void *const parameters[] = {&values, &ptr, &rows, &which, &base, &partials};
        host_.launch(accurate_entry, static_cast<unsigned>(chosen.size()),
                     static_cast<unsigned>(accurate_threads(kernel_)), 0, parameters);
    }

    const HostKernel &host_;
    const GrayKernel &kernel_;
    const std::vector<double> &numbers_;
    const Shape shape_;
    std::vector<double> rows_;
    std::vector<Partial3> partials_, segments_, plain_;
    std::vector<std::uint64_t> chosen_;
    GraySum total_;
};

// ---------------------------------------------------------------- matrices

// With a perfect matching.
perm::Csr matrix_with(std::int64_t n, families::Entries entries, families::Random &random) {
    for (;;) {
        const std::uint64_t seed = random.bits();
        perm::Csr a;
        switch (random.integer(0, 5)) {
        case 0:
            a = families::erdos_renyi(n, random.uniform(0.2, 0.9), entries, seed);
            break;
        case 1:
            a = families::erdos_renyi(n, 1, entries, seed);
            break;
        case 2:
            a = families::banded(n, random.integer(0, 3), random.integer(0, 3), entries, seed);
            break;
        case 3: { // one full row
            std::vector<double> row(at(n));
            for (double &x : row) x = families::random_entry(entries, random);
            a = families::with_row(families::permutation_plus(n, random.integer(0, 2), entries, seed),
                                   random.integer(0, n - 1), row);
            break;
        }
        case 4:
            a = families::arrow(n, entries, seed);
            break;
        default:
            a = families::permutation_plus(n, random.integer(0, 4), entries, seed);
        }
        a = families::permute(a, random.permutation(n), random.permutation(n));
        if (maximum_matching(block_of(a).pattern).size == n) return a;
    }
}

// Products of whole numbers and their sums that a double holds: such a permanent must be exact.
bool must_be_exact(const Block &block, const Exact &truth, double terms) {
    double bits = std::log2(terms);
    std::size_t k = 0;
    for (std::int32_t i = 0; i < block.n(); ++i) {
        double sum = 0;
        for (std::size_t of_row = 0; of_row < block.pattern.row(i).size(); ++of_row, ++k) {
            const Exact x = exactly(block.values[k]);
            if (x.get_den() != 1) return false;
            sum += std::fabs(x.get_d());
        }
        bits += std::floor(std::log2(std::max(sum, 1.0))) + 1;
    }
    return bits <= 53 && abs(truth) < Exact(0x1p53);
}

struct Case {
    std::string name;
    Exact truth;
    GrayPlan plan;
    Block block; // A or A^T, as the plan has it
};

Case make_case(const perm::Csr &matrix, const Exact &truth, GrayPlan plan) {
    const GrayKernel &k = plan.kernel;
    Case it{std::string(gray_engine_name(k.engine)) + (k.equal_chunks ? " equal" : " ceg") +
                " n=" + std::to_string(k.n) + " k=" + std::to_string(k.k) + " c=" + std::to_string(k.c) +
                " segment_bits=" + std::to_string(k.segment_bits) +
                " unrolled=" + std::to_string(k.unrolled) + " threads=" + std::to_string(k.threads),
            truth, plan, block_of(matrix)};
    if (plan.transposed) it.block = transposed(it.block);
    return it;
}

// Either as planned or in any order, in any case with numbers of its own.
Case any_case(GrayEngine engine, bool equal_chunks, std::int64_t n, families::Random &random) {
    const auto entries = static_cast<families::Entries>(random.integer(0, 4));
    perm::Csr a = matrix_with(n, entries, random);
    if (random.chance(0.15)) a.values[at(random.integer(0, a.row_ptr.back() - 1))] = 0; // stored all the same
    const Pattern p = block_of(a).pattern, t = transpose(p).pattern;
    GrayPlan plan = random.chance(0.6) ? plan_gray(engine, p, t, equal_chunks)
                                       : plan_in_order(engine, p, any_order(p.rows, random));
    plan.kernel.equal_chunks = equal_chunks;
    choose_shape(plan.kernel, random);
    return make_case(a, oracle::by_frontier(a), plan);
}

Outcome run_case(const Case &c, const HostKernel &kernel, const Shape &shape) {
    const GrayValues values(c.plan, c.block);
    Outcome outcome;
    values.close(HostRun(kernel, c.plan, values, shape).run(), c.block, way_of(c.plan.kernel), outcome);
    return outcome;
}

struct Counts {
    int compared = 0, exact = 0, close = 0;
};

void check_cases(const std::vector<Case> &cases, int shapes, families::Random &random, Counts &counts) {
    std::vector<std::string> sources;
    for (const Case &c : cases) sources.push_back(source_of(c.plan.kernel));
    const std::vector<HostKernel> kernels = compile_for_host(sources);
    if (kernels.empty()) return;
    REQUIRE(kernels.size() == cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case &c = cases[i];
        CAPTURE(i);
        CAPTURE(c.name);
        for (int s = 0; s < shapes; ++s) {
            const Shape shape = any_shape(c.plan.kernel, random);
            CAPTURE(shape.threads);
            CAPTURE(shape.blocks);
            CAPTURE(shape.window);
            const Outcome outcome = run_case(c, kernels[i], shape);
            check(outcome, c.truth);
            if (must_be_exact(c.block, c.truth, block_terms(c.plan.kernel))) {
                CHECK(outcome.exact);
                ++counts.exact;
            }
            ++counts.compared;
            counts.close += outcome.rel_error_bound < 1e-9;
        }
    }
}

// ---------------------------------------------------------------- segments summed again

// The sum of a segment without any rounding, times 2^scale_of(n).
std::int64_t scale_of(std::int64_t n) { return 60 * n; } // |x| <= 1, multiples of 2^-55

mpz_class exact_segment(const GrayKernel &kernel, const std::vector<double> &numbers, std::uint64_t segment) {
    const auto n = at(kernel.n);
    const auto whole = [](double x) {
        const double scaled = std::ldexp(x, 60);
        if (scaled != std::nearbyint(scaled)) FAIL("not on the grid: " << x);
        return mpz_class(scaled);
    };
    mpz_class sum = 0;
    for (std::uint64_t m = 0; m < std::uint64_t{1} << kernel.segment_bits; ++m) {
        const std::uint64_t i = segment << kernel.segment_bits | m, set = i ^ i >> 1;
        std::vector<mpz_class> x;
        for (std::size_t r = 0; r < n; ++r) x.push_back(whole(numbers[r]));
        for (std::size_t j = 0; j + 1 < n; ++j) {
            if (!(set >> j & 1)) continue;
            if (kernel.engine == GrayEngine::dense)
                for (std::size_t r = 0; r < n; ++r) x[r] += whole(numbers[n * (j + 1) + r]);
            else
                for (auto e = kernel.column_ptr[j]; e < kernel.column_ptr[j + 1]; ++e)
                    x[at(kernel.row[at(e)])] += whole(numbers[n + at(e)]);
        }
        mpz_class product = i & 1 ? -1 : 1;
        for (const mpz_class &factor : x) product *= factor;
        sum += product;
    }
    return sum;
}

// Rows in pairs that are nearly opposite, so that terms cancel.
perm::Csr nearly_opposite(std::int64_t n, families::Random &random) {
    families::Dense rows =
        families::to_dense(families::erdos_renyi(n, 1, families::Entries::real, random.bits()));
    for (std::size_t i = 1; i < at(n); i += 2)
        for (std::size_t j = 0; j < at(n); ++j)
            rows[i][j] = -rows[i - 1][j] * (1 + std::ldexp(random.uniform(-1, 1), -static_cast<int>(n)));
    return families::from_dense(rows);
}

// As many bits as the shape of a kernel has, of what was summed.
bool same_bits(const std::vector<Partial3> &x, const std::vector<Partial3> &y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(Partial3)) == 0;
}

std::string without_comments(const std::string &source) {
    std::string code;
    for (std::size_t from = 0; from < source.size();) {
        const std::size_t end = source.find('\n', from);
        if (source.compare(from, 2, "//") != 0) code += source.substr(from, end - from) + "\n";
        from = end == std::string::npos ? end : end + 1;
    }
    return code;
}

std::string without(std::string text, const std::string &part) {
    const std::size_t where = text.find(part);
    return where == std::string::npos ? text : text.erase(where, part.size());
}

} // namespace

TEST_CASE("every engine, both ways to cut into chunks: random matrices of order 1 to 16 against the oracle") {
    families::Random random(test_seed());
    Counts counts;
    for (int repeat = 0; repeat < run::multiplier(); ++repeat) {
        std::vector<Case> cases;
        for (const GrayEngine engine : engines)
            for (const bool equal_chunks : {false, true})
                for (std::int64_t n = 1; n <= 16; ++n)
                    cases.push_back(any_case(engine, equal_chunks, n, random));
        check_cases(cases, 3, random, counts);
        for (const Case &c : cases) // whether or not there is a compiler
            CHECK(shared_bytes(c.plan.kernel, 8) >= shared_bytes(c.plan.kernel, 1));
    }
    if (counts.compared == 0) return;
    CHECK(counts.compared >= 384);
    CHECK(counts.exact > 50);
    CHECK(counts.close > 200);
}

TEST_CASE("every length of a segment and of a block, of a small matrix") {
    families::Random random(test_seed() + 1);
    Counts counts;
    std::vector<Case> cases;
    for (const GrayEngine engine : engines)
        for (const std::int64_t n : {1, 2, 4}) {
            const perm::Csr a = matrix_with(n, families::Entries::integers, random);
            const Pattern p = block_of(a).pattern;
            const Exact truth = oracle::by_frontier(a);
            for (std::int32_t segment_bits = 0; segment_bits < n; ++segment_bits)
                for (std::int32_t unrolled = 0; unrolled <= segment_bits; ++unrolled) {
                    GrayPlan plan = plan_in_order(engine, p, any_order(p.rows, random));
                    plan.kernel.segment_bits = segment_bits;
                    plan.kernel.unrolled = unrolled;
                    plan.kernel.threads = 4;
                    if (engine == GrayEngine::hybrid) plan.kernel.c = p.rows - 1; // and k = n
                    cases.push_back(make_case(a, truth, plan));
                }
        }
    check_cases(cases, 2, random, counts);
    if (counts.compared > 0) CHECK(counts.exact == counts.compared);
}

TEST_CASE("hybrid with any number of rows in registers, none and all of them too") {
    families::Random random(test_seed() + 2);
    Counts counts;
    std::vector<Case> cases;
    for (const std::int64_t n : {1, 2, 6, 11}) {
        const perm::Csr a =
            matrix_with(n, n == 11 ? families::Entries::nonnegative : families::Entries::counts, random);
        const Pattern p = block_of(a).pattern, t = transpose(p).pattern;
        const Exact truth = oracle::by_frontier(a);
        const GrayPlan planned = plan_gray(GrayEngine::hybrid, p, t, false);
        for (std::int32_t k = 0; k <= n; ++k) {
            GrayPlan plan = planned;
            plan.kernel.k = k;
            plan.kernel.c = columns_within(plan.kernel, k);
            plan.kernel.threads = 4 + k % 3;
            plan.kernel.segment_bits = static_cast<std::int32_t>(random.integer(n / 2, n - 1));
            plan.kernel.unrolled = std::min({plan.kernel.segment_bits, plan.kernel.c, 5});
            cases.push_back(make_case(a, truth, plan));
        }
    }
    check_cases(cases, 2, random, counts);
    if (counts.compared > 0) CHECK(counts.close == counts.compared);
}

TEST_CASE("what a segment adds up to has the same bits whoever sums it, and so has the permanent") {
    families::Random random(test_seed() + 3);
    std::vector<Case> cases;
    for (const GrayEngine engine : engines)
        for (const std::int64_t n : {5, 9, 13}) {
            const perm::Csr a = matrix_with(n, families::Entries::real, random);
            const Pattern p = block_of(a).pattern;
            GrayPlan plan = plan_gray(engine, p, transpose(p).pattern, false);
            choose_shape(plan.kernel, random);
            plan.kernel.segment_bits = static_cast<std::int32_t>(n / 3);
            plan.kernel.unrolled = std::min(plan.kernel.unrolled, plan.kernel.segment_bits);
            for (const std::int32_t threads : {5, 8}) { // for hybrid the kernels differ
                plan.kernel.threads = threads;
                cases.push_back(make_case(a, oracle::by_frontier(a), plan));
            }
        }
    std::vector<std::string> sources;
    for (const Case &c : cases) sources.push_back(source_of(c.plan.kernel));
    const std::vector<HostKernel> kernels = compile_for_host(sources);
    if (kernels.empty()) return;
    for (std::size_t pair = 0; pair < cases.size(); pair += 2) {
        std::vector<Partial3> first;
        Outcome first_outcome;
        for (std::size_t i = pair; i < pair + 2; ++i) {
            const Case &c = cases[i];
            CAPTURE(c.name);
            const GrayValues values(c.plan, c.block);
            for (int trial = 0; trial < 6; ++trial) {
                Shape shape = any_shape(c.plan.kernel, random);
                shape.group = 7;
                shape.window = 16; // other windows and groups are other sums of the same segments
                HostRun run(kernels[i], c.plan, values, shape);
                Outcome outcome;
                values.close(run.run(), c.block, way_of(c.plan.kernel), outcome);
                if (first.empty()) {
                    first = run.segments();
                    first_outcome = outcome;
                    REQUIRE(first.size() == std::size_t{1}
                                                << (c.plan.kernel.n - 1 - c.plan.kernel.segment_bits));
                    check(outcome, c.truth);
                }
                CHECK(same_bits(run.segments(), first));
                CHECK(same_bits(outcome, first_outcome));
                shape.window = std::uint64_t{1} << 40;
                HostRun at_once(kernels[i], c.plan, values, shape);
                (void)at_once.run();
                CHECK(same_bits(at_once.segments(), first));
            }
        }
    }
}

TEST_CASE("segments summed again, in any order: the bound holds, and they are nearer to the truth") {
    families::Random random(test_seed() + 9);
    std::vector<Case> cases;
    for (int repeat = 0; repeat < run::multiplier(); ++repeat)
        for (const GrayEngine engine : engines)
            for (std::int64_t n = 1; n <= 12; ++n) {
                if (n % 2 == 0 && n > 2) {
                    const perm::Csr a = nearly_opposite(n, random);
                    GrayPlan plan = plan_in_order(engine, block_of(a).pattern,
                                                  any_order(static_cast<std::int32_t>(n), random));
                    choose_shape(plan.kernel, random);
                    cases.push_back(make_case(a, oracle::by_frontier(a), plan));
                } else {
                    cases.push_back(any_case(engine, false, n, random));
                }
            }
    for (Case &c : cases) { // a planned segment has 1024 subsets, or n = 1; and not too many threads to play
        std::int32_t &bits = c.plan.kernel.segment_bits;
        bits = std::max({bits, c.plan.kernel.n - 8, std::min(1, c.plan.kernel.n - 1)});
    }
    std::vector<std::string> sources;
    for (const Case &c : cases) sources.push_back(source_of(c.plan.kernel));
    const std::vector<HostKernel> kernels = compile_for_host(sources);
    if (kernels.empty()) return;
    int some = 0, segments = 0, nearer = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case &c = cases[i];
        const GrayKernel &kernel = c.plan.kernel;
        CAPTURE(c.name);
        const GrayValues values(c.plan, c.block);
        for (const double rare : {0.25, 1.0, 2.0}) {
            CAPTURE(rare);
            Shape shape = any_shape(kernel, random);
            const std::int32_t bits = kernel.n - 1 - kernel.segment_bits;
            shape.window = std::uint64_t{1} << std::max(0, bits - (rare > 1 ? 0 : 2));
            shape.rare = rare;
            HostRun again(kernels[i], c.plan, values, shape);
            Outcome outcome;
            values.close(again.run(), c.block, way_of(kernel), outcome);
            check(outcome, c.truth);
            some += !again.chosen().empty();

            shape.shuffle = 1 + random.bits() / 2;
            HostRun other_order(kernels[i], c.plan, values, shape);
            Outcome other_outcome;
            values.close(other_order.run(), c.block, way_of(kernel), other_outcome);
            CHECK(same_bits(other_order.segments(), again.segments()));
            CHECK(same_bits(other_outcome, outcome));

            const std::vector<Partial3> &plain = again.plain_segments(), &accurate = again.segments();
            REQUIRE(plain.size() == accurate.size());
            std::vector<bool> is_chosen(plain.size());
            for (const std::uint64_t s : again.chosen()) is_chosen[s] = true;
            for (std::size_t s = 0; s < plain.size(); ++s)
                if (!is_chosen[s] && std::memcmp(&plain[s], &accurate[s], sizeof(Partial3)) != 0)
                    FAIL_CHECK("segment " << s << " was not chosen, but has changed");
            for (std::size_t k = 0; k < std::min<std::size_t>(8, again.chosen().size()); ++k) {
                const auto s = again.chosen()[at(random.integer(0, std::ssize(again.chosen()) - 1))];
                const Exact truth =
                    times_power(Exact(exact_segment(kernel, values.numbers(), s)), -scale_of(kernel.n));
                const auto error_of = [&](const Partial3 &p) {
                    return Exact(abs(Exact(p.sum.sum) + Exact(p.sum.error) - truth));
                };
                const Exact of_plain = error_of(plain[s]), of_accurate = error_of(accurate[s]),
                            absolute(plain[s].absolute);
                const double terms = std::ldexp(1.0, kernel.segment_bits);
                CHECK(of_plain <= absolute * Exact((kernel.n + terms) * 0x1p-53 * 1.01));
                // What the bound says of each.
                const double relative = gamma_bound(kernel.n + block_terms(kernel) + 4);
                CHECK(of_plain <= absolute * Exact(relative));
                CHECK(of_accurate <= Exact(accurate[s].absolute) * Exact(relative));
                CHECK(std::fabs(accurate[s].absolute * accurate_gain - plain[s].absolute) <=
                      1e-12 * plain[s].absolute);
                // The plain one may be right by chance, the other one within its own rounding only.
                const Exact least = absolute * Exact(kernel.n * (kernel.n + terms) * 0x1p-104);
                CHECK((of_accurate <= of_plain || of_accurate <= least));
                CHECK(of_accurate <= least);
                ++segments;
                nearer += of_accurate < of_plain;
            }
        }
    }
    CHECK(some > static_cast<int>(cases.size()));
    CHECK(segments > 300);
    CHECK(nearer > segments / 3);
}

TEST_CASE("subsets of 64 columns can be counted, of 65 not") {
    for (const bool equal : {false, true})
        for (const std::int64_t n : {64, 65})
            for (const GrayEngine engine : engines) {
                const Block block = block_of(families::banded(n, 2, 2, families::Entries::ones, 1));
                const Pattern at_ = transpose(block.pattern).pattern;
                CHECK(gray_why_not(plan_gray(engine, block.pattern, at_, equal)).empty() == (n == 64));
            }
}

TEST_CASE("launches: every segment once, powers of two as long as all threads have one") {
    families::Random random(test_seed() + 4);
    for (int trial = 0; trial < 3000 * run::multiplier(); ++trial) {
        CAPTURE(trial);
        const bool large = trial % 3 == 0;
        const std::uint64_t first =
            random.bits() >> (large ? random.integer(13, 63) : random.integer(50, 63));
        const std::uint64_t segments =
            trial % 7 == 0 ? std::uint64_t{1} << random.integer(0, large ? 50 : 14)
                           : random.bits() >> (large ? random.integer(13, 30) : random.integer(50, 63));
        const std::uint64_t threads =
            at(random.chance(0.5) ? random.integer(1, 40) : random.integer(1, 400000));
        const std::uint64_t longest = large ? std::uint64_t{1} << 40 : at(random.integer(1, 70));
        const std::uint64_t end = first + segments;
        const auto launches = launch_parameters(first, end, threads, longest);
        std::uint64_t next = first;
        for (std::size_t i = 0; i < launches.size(); ++i) {
            const GrayLaunch &launch = launches[i];
            const bool last = i + 1 == launches.size();
            const std::uint64_t left = end - launch.first,
                                chunks = (launch.end - launch.first) / launch.length;
            bool good = launch.first == next && launch.end > launch.first && launch.end <= end &&
                        launch.base == first;
            good = good && std::has_single_bit(launch.length) && launch.length <= longest;
            good = good && chunks * launch.length == launch.end - launch.first; // none is shorter
            good = good && (last ? chunks <= threads : chunks == threads);
            // As long as can be.
            good = good && (2 * launch.length > longest || 2 * launch.length > left / threads);
            if (!good) {
                CAPTURE(i);
                FAIL_CHECK("first " << launch.first << " end " << launch.end << " length " << launch.length);
                break;
            }
            next = launch.end;
        }
        CHECK(next == end);
    }
    CHECK(launch_parameters(5, 5, 3, 8).empty());
}

TEST_CASE("row sums of the kernels' numbers round nowhere") {
    families::Random random(test_seed() + 5);
    int off_grid = 0;
    for (int trial = 0; trial < 120 * run::multiplier(); ++trial) {
        CAPTURE(trial);
        const std::int64_t n = random.integer(1, 24);
        const auto entries = static_cast<families::Entries>(trial % 5);
        Block block = block_of(matrix_with(n, entries, random));
        const int spread = trial % 3 == 0 ? 0 : trial % 3 == 1 ? 60 : 2000;
        for (Tracked &x : block.values) x.exp2 += random.integer(-spread, spread);
        const GrayEngine engine = engines[trial / 5 % 4];
        const GrayPlan plan = plan_in_order(engine, block.pattern, any_order(block.n(), random));
        const std::vector<double> numbers = GrayValues(plan, block).numbers();
        REQUIRE(numbers.size() == at(value_count(plan.kernel)));
        // Entries by column of the kernel.
        std::vector<std::vector<std::pair<std::size_t, double>>> column(at(n));
        for (std::size_t j = 0; j < at(n); ++j)
            if (engine == GrayEngine::dense)
                for (std::size_t r = 0; r < at(n); ++r)
                    column[j].emplace_back(r, numbers[at(n) * (j + 1) + r]);
            else
                for (auto e = plan.kernel.column_ptr[j]; e < plan.kernel.column_ptr[j + 1]; ++e)
                    column[j].emplace_back(at(plan.kernel.row[at(e)]), numbers[at(n + e)]);
        std::vector<double> x(numbers.begin(), numbers.begin() + n);
        std::vector<Exact> exact(at(n));
        for (std::size_t j = 0; j < at(n); ++j)
            for (const auto &[r, value] : column[j])
                exact[r] += Exact(value) * Exact(j + 1 == at(n) ? 0.5 : -0.5);
        std::vector<bool> in(at(n));
        bool right = true;
        for (int step = 0; step < 60; ++step) {
            for (std::size_t r = 0; r < at(n); ++r)
                right = right && Exact(x[r]) == exact[r] && std::fabs(x[r]) <= 1;
            if (n == 1) break;
            const auto j = at(random.integer(0, n - 2));
            for (const auto &[r, value] : column[j]) {
                x[r] += in[j] ? -value : value;
                if (in[j])
                    exact[r] -= Exact(value);
                else
                    exact[r] += Exact(value);
            }
            in[j] = !in[j];
        }
        CHECK(right);
        std::size_t k = 0; // whether it had to be put on a grid
        for (std::int32_t i = 0; i < block.n(); ++i) {
            double lowest = 1e9, highest = -1e9;
            for (std::size_t of_row = 0; of_row < block.pattern.row(i).size(); ++of_row, ++k) {
                lowest = std::min(lowest, static_cast<double>(block.values[k].exp2));
                highest = std::max(highest, static_cast<double>(block.values[k].exp2));
            }
            off_grid += highest - lowest > 60;
        }
    }
    CHECK(off_grid > 50);
}

TEST_CASE("a row whose values add up to just above 1 is put on a coarser grid") {
    constexpr double u = 0x1p-53;
    perm::Csr a = families::constant(9, 1);
    for (std::size_t j = 0; j < 8; ++j) a.values[j] = (j % 2 ? -1 : 1) * (0.125 - 0.375 * u);
    a.values[8] = u; // on the grid of u they add up to 1 + u, which as a double is 1
    const Block block = block_of(a);
    const GrayPlan plan =
        plan_gray(GrayEngine::dense, block.pattern, transpose(block.pattern).pattern, false);
    const std::vector<double> numbers = GrayValues(plan, block).numbers();
    Exact sum = 0, unit = 0x1p-52;
    bool coarse = true;
    for (std::size_t j = 0; j < 9; ++j) {
        const Exact entry(numbers[9 + 9 * j]);
        sum += abs(entry);
        coarse = coarse && Exact(entry / unit).get_den() == 1;
    }
    CHECK((coarse || sum <= 1));
}

TEST_CASE("what the grid moved is in the bound, on nasty values too") {
    families::Random random(test_seed() + 6);
    int finite = 0, beyond = 0, infinite = 0, exact = 0;
    for (int trial = 0; trial < 800 * run::multiplier(); ++trial) {
        CAPTURE(trial);
        const std::int64_t n = random.integer(1, 8);
        const bool nonnegative = random.chance(0.5);
        Block block = block_of(
            matrix_with(n, nonnegative ? families::Entries::nonnegative : families::Entries::real, random));
        for (Tracked &x : block.values) {
            const double sign = x.value < 0 ? -1 : 1;
            switch (trial % 8) {
            case 0: // spread a little
                x.exp2 += random.integer(-12, 12);
                break;
            case 1:
                x = tracked(sign * (random.chance(0.5) ? 1e300 : 1e-300) * random.uniform(1, 2));
                break;
            case 2: // a unit in the last place, or half of one
                x = tracked(sign * (random.chance(0.5)   ? 1 + 0x1p-52
                                    : random.chance(0.5) ? 0x1p-53
                                                         : 0x1.8p-53));
                break;
            case 3: // denormal, beside what is not
                x = tracked(sign * static_cast<double>(random.integer(1, 9)) *
                            (random.chance(0.6)   ? 0x1p-1074
                             : random.chance(0.5) ? 0x1p-1040
                                                  : 0x1p-1022));
                break;
            case 4: // far beyond a double's range
                x.exp2 += random.integer(-3000, 3000);
                break;
            case 5:
                x = tracked(sign * static_cast<double>(random.integer(1, 99)));
                break;
            case 6: // tiny beside large
                x.exp2 -= random.chance(0.4) ? random.integer(20, 56) : 0;
                break;
            default: // far below its magnitude
                if (random.chance(0.4))
                    x.value = std::ldexp(x.value, static_cast<int>(-random.integer(1, 60)));
            }
        }
        if (random.chance(0.1)) block.values[at(random.integer(0, block.pattern.nnz() - 1))].value = 0;
        const GrayPlan plan = plan_in_order(engines[trial % 4], block.pattern, any_order(block.n(), random));
        const GrayValues values(plan, block);
        const auto permanent = [&](const std::function<Exact(std::int32_t, std::size_t)> &entry) {
            std::vector<Exact> ways(std::size_t{1} << n); // of sets of columns, row by row
            ways[0] = 1;
            for (std::size_t set = 0; set + 1 < ways.size(); ++set) {
                const auto i = static_cast<std::int32_t>(std::popcount(set));
                auto k = at(block.pattern.row_begin(i));
                for (const std::int32_t j : block.pattern.row(i)) {
                    if (!(set >> j & 1) && ways[set] != 0)
                        ways[set | std::size_t{1} << j] += ways[set] * entry(i, k);
                    ++k;
                }
            }
            return ways.back();
        };
        const Exact truth = permanent([&](std::int32_t, std::size_t k) { return exactly(block.values[k]); });
        // The kernels' numbers where they stand in the block.
        std::vector<double> moved(block.values.size());
        std::vector<std::int64_t> next = plan.kernel.column_ptr;
        std::vector<std::size_t> column_place(at(n));
        for (std::size_t c = 0; c < at(n); ++c) column_place[at(plan.order.cols[c])] = c;
        for (std::size_t r = 0; r < at(n); ++r) {
            const std::int32_t i = plan.order.rows[r];
            auto k = at(block.pattern.row_begin(i));
            for (const std::int32_t j : block.pattern.row(i)) {
                const std::size_t c = column_place[at(j)];
                moved[k++] = values.numbers()[at(n) + (next.empty() ? c * at(n) + r : at(next[c]++))];
            }
        }
        const Exact summed = permanent([&](std::int32_t, std::size_t k) { return Exact(moved[k]); });
        // A sum without any rounding of its own but for the result's.
        const Exact total = summed / (n % 2 ? 2 : -2);
        GraySum sum;
        sum.sum = total.get_d();
        sum.error = Exact(total - Exact(sum.sum)).get_d();
        sum.absolute = std::fabs(sum.sum);
        Outcome outcome;
        values.close(sum, block, {1, block.n() + 1.0}, outcome);
        check(outcome, truth);
        if (trial % 8 == 5 && n <= 5) CHECK(outcome.exact);
        exact += outcome.exact;
        if (std::isinf(outcome.rel_error_bound))
            ++infinite;
        else if (!outcome.exact) {
            ++finite;
            beyond += abs(exactly(outcome.value) - truth) > abs(truth) * Exact(0x1p-48);
        }
    }
    CHECK(finite > 200);
    CHECK(beyond > 20); // the grid was to be noticed
    CHECK(infinite > 20);
    CHECK(exact > 80);
}

TEST_CASE("another code has another key, equal keys are equal sources") {
    families::Random random(test_seed() + 7);
    std::vector<GrayKernel> kernels;
    for (const GrayEngine engine : engines)
        for (const std::int64_t n : {1, 3, 6}) {
            const Case c = any_case(engine, false, n, random);
            const GrayKernel base = c.plan.kernel;
            kernels.insert(kernels.end(), {base, base}); // equal ones as well
            const auto changed = [&](const std::function<void(GrayKernel &)> &change) {
                kernels.push_back(base);
                change(kernels.back());
            };
            changed([](GrayKernel &k) { k.equal_chunks = true; });
            changed([](GrayKernel &k) { ++k.threads; });
            changed([](GrayKernel &k) { k.unrolled = k.unrolled > 0 ? 0 : std::min(1, k.segment_bits); });
            changed(
                [](GrayKernel &k) { k.segment_bits = k.segment_bits > k.unrolled ? k.unrolled : k.n - 1; });
            if (engine == GrayEngine::hybrid) {
                changed([](GrayKernel &k) { k.k = k.k > 0 ? k.k - 1 : 1; });
                changed([](GrayKernel &k) { k.c = k.c > 0 ? k.c - 1 : 1; });
            }
            if (engine == GrayEngine::dense || n == 1) continue;
            const Pattern other = block_of(matrix_with(n, families::Entries::ones, random)).pattern;
            const GrayPlan plan = plan_in_order(engine, other, any_order(other.rows, random));
            changed([&](GrayKernel &k) {
                k.column_ptr = plan.kernel.column_ptr;
                k.row = plan.kernel.row;
            });
            for (const GrayEngine as : {GrayEngine::shared, GrayEngine::purereg})
                changed([&](GrayKernel &k) { k.engine = as; });
        }
    int equal = 0, different = 0;
    for (const GrayKernel &x : kernels)
        for (const GrayKernel &y : kernels) {
            const bool same_key = key_of(x) == key_of(y);
            CHECK(same_key == (source_of(x) == source_of(y)));
            if (without_comments(source_of(x)) != without_comments(source_of(y))) {
                CHECK(!same_key);
                ++different;
            }
            equal += same_key;
        }
    CHECK(equal > static_cast<int>(kernels.size()));
    CHECK(different > 2000);
    for (const GrayKernel &kernel : kernels)
        CHECK(key_of(kernel).find(generator_digest) != std::string::npos);
}

bool has_number_with_point(const std::string &text) {
    for (std::size_t k = 0; k + 1 < text.size(); ++k)
        if (text[k] == '.' && text[k + 1] >= '0' && text[k + 1] <= '9') return true;
    return false;
}

TEST_CASE("no value is in a kernel's text") {
    families::Random random(test_seed() + 8);
    CHECK(has_number_with_point("x += 0.5;"));
    for (const GrayEngine engine : engines)
        for (const bool equal_chunks : {false, true}) {
            const perm::Csr a = matrix_with(8, families::Entries::real, random);
            perm::Csr b = a;
            for (double &x : b.values) x = random.uniform(1, 2);
            std::string text[2], key[2];
            for (const int i : {0, 1}) {
                const Pattern p = block_of(i == 0 ? a : b).pattern;
                const GrayKernel kernel = plan_gray(engine, p, transpose(p).pattern, equal_chunks).kernel;
                text[i] = source_of(kernel);
                key[i] = key_of(kernel);
            }
            CHECK(text[0] == text[1]);
            CHECK(key[0] == key[1]);
            std::string own = without(text[0], gray_walk_cuh);
            CHECK(own.size() < text[0].size());
            for (const char *part : {number_cuh, terms_cuh, rows_dense_cuh, rows_shared_cuh})
                own = without(own, part);
            own = without(own, "constexpr double accurate_share = 1.0 / "); // the same in every kernel
            if (!equal_chunks) own = without(own, accurate_cuh);
            CHECK(!has_number_with_point(own));
        }
}
