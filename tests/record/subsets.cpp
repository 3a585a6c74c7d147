#include "tests/record/host.hpp"

#include "jit/kernel/subset_source.hpp"
#include "lib/subsets/kernel_on_device.hpp"
#include "lib/subsets/kernel_values.hpp"
#include "lib/subsets/segments.hpp"
#include "tests/record/outcome_text.hpp"
#include "tests/support/host_kernel.hpp"
#include "tests/support/trees.hpp"

#include <cstring>

using namespace libperm;
using perm::families::Entries;
using trees::at;
using trees::Random;

namespace {

struct Case {
    std::string name;
    SubsetPlan plan;
    ExactBlock block; // A or A^T, as the plan has it
};

// ---------------------------------------------------------------- matrices and plans

// With a full diagonal: plans are for matrices that have a perfect matching.
Pattern pattern_of(std::int64_t n, double density) {
    Random random(at(n));
    return trees::block_of(perm::families::build(n, n,
                                                 [&](std::int64_t i, std::int64_t j) {
                                                     return i == j || random.chance(density) ? 1.0 : 0.0;
                                                 }))
        .pattern;
}

ExactBlock values_on(const Pattern &p, bool is_complex_block) {
    Random random(at(p.nnz()));
    ExactBlock block{p, {}};
    for (std::int64_t k = 0; k < p.nnz(); ++k) {
        const double re = random.uniform(-1, 1), im = random.uniform(-1, 1);
        block.values.push_back({re, is_complex_block ? mpq_class(im) : mpq_class(0)});
    }
    return block;
}

Block rounded_block(const ExactBlock &block) {
    Block rounded{block.pattern, {}};
    for (const Gaussian &x : block.values) rounded.values.push_back(tracked(x.re.get_d()));
    return rounded;
}

// Small segments and blocks of terms, so that a small matrix has some of each.
SubsetPlan plan_of(SubsetEngine engine, const Pattern &p, bool equal_chunks) {
    if (engine == SubsetEngine::tree) return trees::planned(p, 7);
    SubsetPlan plan = plan_subsets(engine, p, transpose(p).pattern, equal_chunks);
    SubsetKernel &kernel = plan.kernel;
    kernel.threads = 4;
    kernel.segment_bits = kernel.n / 2;
    kernel.unrolled = equal_chunks ? 0 : std::min(kernel.segment_bits, 2);
    if (engine == SubsetEngine::hybrid) kernel.unrolled = std::min(kernel.unrolled, kernel.c);
    return plan;
}

template <class T> struct Named {
    const char *name;
    T it;
};
constexpr Named<SubsetEngine> engines[] = {{"tree", SubsetEngine::tree},
                                           {"shared", SubsetEngine::shared},
                                           {"dense", SubsetEngine::dense},
                                           {"purereg", SubsetEngine::purereg},
                                           {"hybrid", SubsetEngine::hybrid}};
constexpr Named<Arithmetic> arithmetics[] = {{"real", Arithmetic::real},
                                             {"complex", Arithmetic::complex},
                                             {"dd", Arithmetic::dd},
                                             {"complex_dd", Arithmetic::complex_dd},
                                             {"modular", Arithmetic::modular}};
constexpr Named<Summation> summations[] = {{"kahan", Summation::kahan}, {"dq", Summation::dq}};

Case case_of(const Named<SubsetEngine> &engine, std::int64_t n, const Named<Arithmetic> &arithmetic,
             const Named<Summation> &summation = {"plain", Summation::plain}, bool equal = false) {
    const Pattern p = pattern_of(n, engine.it == SubsetEngine::dense ? 1 : 0.6);
    Case c{"", with_arithmetic(plan_of(engine.it, p, equal), arithmetic.it, summation.it),
           values_on(p, is_complex(arithmetic.it))};
    if (c.plan.transposed) c.block = transposed(c.block);
    c.name = fmt::format("gray/{}/{}/{}/n{}{}", engine.name, arithmetic.name, summation.name, n,
                         equal ? "/equal" : "");
    return c;
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    for (const auto &engine : engines) {
        for (const auto &arithmetic : arithmetics)
            for (const std::int64_t n : {4, 8}) cases.push_back(case_of(engine, n, arithmetic));
        cases.push_back(case_of(engine, 11, arithmetics[0]));
        if (engine.it == SubsetEngine::tree) continue;
        cases.push_back(case_of(engine, 9, arithmetics[0], {"plain", Summation::plain}, true));
        for (const auto &summation : summations)
            cases.push_back(case_of(engine, 9, arithmetics[0], summation));
    }
    return cases;
}

// ---------------------------------------------------------------- a GPU's work

// One kernel on one matrix, with its partial sums as they are in the end.
template <class A> class Played {
  public:
    Played(const HostKernel &host, const SubsetPlan &plan, const A &arithmetic,
           const std::vector<double> &values)
        : host_(host),
          kernel_(plan.kernel),
          arithmetic_(arithmetic),
          values_(values),
          parameters_(parameters_of(kernel_, values)),
          threads_(kernel_.engine == SubsetEngine::hybrid ? 4 : 3),
          partials_(kernel_.equal_chunks ? all()
                                         : std::uint64_t{1} << (kernel_.n - 1 - kernel_.segment_bits)) {
        std::memset(static_cast<void *>(partials_.data()), 0xff, partials_.size() * sizeof(Partial));
        parameters_.resize(std::max(parameters_.size(), at(kernel_.n) + 1)); // no array has length 0
    }

    SubsetSum sum() {
        walk();
        SubsetSum sum = gathered();
        if (!refines(kernel_) || kernel_.engine == SubsetEngine::tree) return sum;
        const std::vector<std::uint64_t> chosen = choose(sum.absolute);
        chosen_ = chosen.size();
        if (chosen.empty()) return sum;
        refine(chosen);
        return gathered();
    }

    std::string text() const {
        return fmt::format("partials={} again={} bits={}", partials_.size(), chosen_,
                           digest_of({reinterpret_cast<const char *>(partials_.data()),
                                      partials_.size() * sizeof(Partial)}));
    }

  private:
    using Partial = PartialOf<A>;
    static constexpr unsigned blocks = 2;
    std::uint64_t all() const { return std::uint64_t{threads_} * blocks; }

    void walk() {
        std::vector<double> rows(at(global_rows(kernel_)) * all() * A::parts);
        const double *first = parameters_.data();
        double *x = rows.data();
        Partial *to = partials_.data();
        void *const by = values_by_parameter(kernel_) ? static_cast<void *>(parameters_.data())
                                                      : static_cast<void *>(&first);
        const std::uint64_t subsets = std::uint64_t{1} << (kernel_.n - 1);
        std::vector<SubsetLaunch> launches{{0, subsets, (subsets + all() - 1) / all(), 0}};
        if (!kernel_.equal_chunks) launches = launch_parameters(0, partials_.size(), all(), 1 << 20);
        for (SubsetLaunch &launch : launches) {
            void *const arguments[] = {by, &launch, &x, &to};
            host_.launch(gray_entry, blocks, threads_, shared_bytes(kernel_, static_cast<int>(threads_)),
                         arguments);
        }
    }

    SubsetSum gathered() {
        std::uint64_t count = partials_.size(), group = 3;
        std::vector<Partial> sums((count + group - 1) / group);
        const Partial *from = partials_.data();
        Partial *to = sums.data();
        A f = arithmetic_;
        void *const arguments[] = {&from, &count, &group, &to, &f};
        host_.launch(gather_entry, static_cast<unsigned>(sums.size()), 1, 0, arguments);
        return sum_of_groups(arithmetic_, std::span<const Partial>(sums));
    }

    std::vector<std::uint64_t> choose(double absolute) {
        std::uint64_t count = partials_.size(), number = 0, window = count;
        const int none = 0;
        const int *hopeless = &none;
        double most = absolute / static_cast<double>(count) * 2;
        std::vector<std::uint64_t> chosen(count);
        const Partial *partials = partials_.data();
        std::uint64_t *to = chosen.data(), *counter = &number;
        void *const arguments[] = {&partials, &count, &most, &window, &hopeless, &to, &counter};
        host_.launch(select_entry, static_cast<unsigned>((count + 6) / 7), 7, 0, arguments);
        chosen.resize(number);
        return chosen;
    }

    void refine(const std::vector<std::uint64_t> &chosen) {
        const KernelColumns columns = columns_of(kernel_);
        const std::vector<std::int32_t> column_ptr(columns.column_ptr.begin(), columns.column_ptr.end());
        const double *values = values_.data();
        const std::int32_t *ptr = column_ptr.data(), *rows = columns.row.data();
        const std::uint64_t *which = chosen.data();
        std::uint64_t base = 0;
        Partial *partials = partials_.data();
        void *const arguments[] = {&values, &ptr, &rows, &which, &base, &partials};
        host_.launch(accurate_entry, static_cast<unsigned>(chosen.size()),
                     static_cast<unsigned>(accurate_threads(kernel_)), 0, arguments);
    }

    const HostKernel &host_;
    const SubsetKernel &kernel_;
    const A arithmetic_;
    const std::vector<double> &values_;
    std::vector<double> parameters_;
    const unsigned threads_;
    std::vector<Partial> partials_;
    std::size_t chosen_ = 0;
};

SubsetSum played(const HostKernel &host, const SubsetPlan &plan, const std::vector<double> &values,
                 std::string &text) {
    return with_arithmetic_of(plan.kernel.arithmetic, values, [&](const auto &f) {
        Played<std::remove_cvref_t<decltype(f)>> one(host, plan, f, values);
        const SubsetSum sum = one.sum();
        text += fmt::format("{} sum={},{},{} im={},{}", one.text(), bits_of(sum.sum), bits_of(sum.error),
                            bits_of(sum.absolute), bits_of(sum.im), bits_of(sum.im_error));
        return sum;
    });
}

std::string residues_text(const Case &c, const HostKernel &host) {
    Residues residues{c.block.pattern, {97, 65537, (1ULL << 47) - 115}, {}};
    std::string text;
    for (std::size_t m = 0; m < residues.primes.size(); ++m) {
        const std::uint64_t prime = residues.primes[m];
        Random random(prime);
        residues.values.emplace_back();
        for (std::int64_t k = 0; k < c.block.pattern.nnz(); ++k)
            residues.values.back().push_back(random.bits() % prime);
        const SubsetSum sum = played(host, c.plan, residue_values(c.plan, residues, m), text);
        text += fmt::format(" residue={} ", residue_permanent(c.plan, sum.sum, prime));
    }
    return text;
}

std::string case_text(const Case &c, const HostKernel &host) {
    const SubsetKernel &kernel = c.plan.kernel;
    if (kernel.arithmetic == Arithmetic::modular) return residues_text(c, host);
    std::string text;
    EngineResult result;
    if (kernel.arithmetic == Arithmetic::real) {
        const Block block = rounded_block(c.block);
        const FixedPointDouble values(c.plan, block);
        result = values.close(played(host, c.plan, values.numbers(), text), block, way_of(kernel));
    } else {
        const FixedPointWide values(c.plan, c.block);
        result = values.close(played(host, c.plan, values.numbers(), text), kernel);
    }
    return text + " " + outcome_text(result);
}

} // namespace

void record_subsets(RecordLines &to) {
    if (!to.wants("gray")) return;
    const std::vector<Case> cases = all_cases();
    std::vector<std::string> sources;
    for (const Case &c : cases) sources.push_back(source_of(c.plan.kernel));
    const std::vector<HostKernel> kernels = compile_for_host(sources);
    for (std::size_t k = 0; k < kernels.size(); ++k)
        to.add(cases[k].name,
               fmt::format("source={} {}", digest_of(code_of(sources[k])), case_text(cases[k], kernels[k])));
}
