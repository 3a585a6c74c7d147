// The tree engine's interpreter against the sum it stands for, one segment at a time, in every instruction
// set that this machine has: the same bits. And permanents, against the definition.
#include "bench/families.hpp"
#include "jit/kernel/subsets.hpp"
#include "jit/lanes/tree_walk.hpp"
#include "tests/support/run.hpp"
#include "tests/support/simd_targets.hpp"

#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <vector>

using namespace libperm;
namespace families = perm::families;
using families::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x77616c6b); }

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// ---------------------------------------------------------------- reference

struct Value {
    double sum, absolute;
};

class Reference {
  public:
    Reference(const Tree &tree, const std::vector<double> &numbers) : tree_(tree), numbers_(numbers) {}

    Partial3 segment(std::uint64_t s) {
        x_.assign(numbers_.begin(), numbers_.begin() + tree_.n);
        const std::uint64_t gray = s ^ s >> 1;
        for (std::int32_t j = tree_.segment_bits; j + 1 < tree_.n; ++j)
            if (gray >> (j - tree_.segment_bits) & 1) change(j, 1);
        double top = 1;
        for (const std::int32_t r : tree_.fixed_rows) top *= x_[at(r)];
        const TreePart &root = tree_.root;
        for (auto j = root.level.size(); j-- > at(tree_.segment_bits - root.loop);)
            for (const std::int32_t r : root.level[j]) top *= x_[at(r)];
        const int bits = tree_.segment_bits - root.loop;
        const Partial3 sums = loop(root, bits, top);
        const double sign = s % 2 == 1 ? -1 : 1;
        return {{sign * sums.sum.sum, sign * sums.sum.error}, sums.absolute};
    }

  private:
    void change(std::int32_t column, double sign) {
        for (auto e = tree_.column_ptr[at(column)]; e < tree_.column_ptr[at(column) + 1]; ++e)
            x_[at(tree_.row[at(e)])] += sign * numbers_[at(tree_.n + e)];
    }

    static double high_word(double x) {
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7fffffff00000000);
    }

    Value leaf(const StraightLine &program) const {
        std::vector<double> v = x_;
        for (const Instruction &i : program.code) {
            const auto of = [&](std::int32_t k) { return v[at(k)]; };
            const auto constant = [&] { return numbers_[at(tree_.n) + tree_.row.size() + at(i.b)]; };
            switch (i.op) {
            case Op::add:
                v.push_back(of(i.a) + constant());
                break;
            case Op::multiply:
                v.push_back(of(i.a) * of(i.b));
                break;
            case Op::subtract:
                v.push_back(of(i.a) - of(i.b));
                break;
            case Op::nmadd:
                v.push_back(std::fma(-of(i.a), of(i.b), of(i.c)));
                break;
            case Op::add_absolute:
                v.push_back(std::fabs(of(i.a)) + std::fabs(of(i.b)));
                break;
            case Op::multiply_absolute:
                v.push_back(std::fabs(of(i.a)) * of(i.b));
                break;
            case Op::madd_absolute:
                v.push_back(std::fma(std::fabs(of(i.a)), of(i.b), of(i.c)));
                break;
            case Op::plus:
                v.push_back(of(i.a) + of(i.b));
                break;
            case Op::madd:
                v.push_back(std::fma(of(i.a), of(i.b), of(i.c)));
                break;
            case Op::least:
                v.push_back(std::min(high_word(of(i.a)), high_word(of(i.b))));
                break;
            case Op::reciprocal: {
                const auto bits = std::bit_cast<std::uint64_t>(std::max(of(i.a), 0x1p-400));
                v.push_back(std::bit_cast<double>(std::uint64_t{0x8020000000000000} - bits));
                break;
            }
            case Op::derivative_absolute:
                v.push_back(std::fma(std::fabs(of(i.a)), of(i.b), std::fabs(of(i.c))));
                break;
            }
        }
        return {v[at(program.outputs[0])], v[at(program.outputs[1])]};
    }

    Value inner(const TreePart &part) {
        if (part.parts.empty()) return part.leaf.outputs.empty() ? Value{1, 1} : leaf(part.leaf);
        Value product{1, 1};
        for (const TreePart &p : part.parts) {
            const Value v = value(p);
            product.sum *= v.sum;
            product.absolute *= v.absolute;
        }
        return product;
    }

    Value value(const TreePart &part) {
        const int bits = part.end - part.loop;
        if (bits == 0) return inner(part);
        const Partial3 sums = loop(part, bits, 1);
        return {sums.sum.sum + sums.sum.error, sums.absolute};
    }

    Partial3 loop(const TreePart &part, int bits, double top) {
        Partial3 sums{{0, 0}, 0};
        for (std::uint64_t b = 0; b < std::uint64_t{1} << bits; ++b) {
            if (b > 0) {
                const int j = std::countr_zero(b);
                change(part.loop + j, (b >> (j + 1) & 1) == 0 ? 1 : -1);
            }
            double factor = top;
            for (int j = bits; j-- > 0;)
                for (const std::int32_t r : part.level[at(j)]) factor *= x_[at(r)];
            const Value v = inner(part);
            double t = factor * v.sum;
            if (b & 1) t = -t;
            const double s = sums.sum.sum + t, bb = s - sums.sum.sum;
            sums.sum.error += (sums.sum.sum - (s - bb)) + (t - bb);
            sums.sum.sum = s;
            sums.absolute = std::fma(std::fabs(factor), v.absolute, sums.absolute);
        }
        if (bits > 0) change(part.loop + bits - 1, -1);
        return sums;
    }

    const Tree &tree_;
    const std::vector<double> &numbers_;
    std::vector<double> x_;
};

// ---------------------------------------------------------------- trees

struct Work {
    Tree tree;
    std::vector<double> numbers;
    std::vector<std::vector<double>> matrix; // if the tree sums its permanent
};

// Entries are multiples of 2^-10, so that sums of them are exact.
double entry(Random &random) {
    const double x = static_cast<double>(random.integer(1, 2048)) * 0x1p-10;
    return random.chance(0.4) ? -x : x;
}

// Most operands are the latest values, inputs, or sums of an input and a constant.
StraightLine random_program(std::int32_t n, std::int32_t constants, Random &random) {
    ProgramBuilder builder(n);
    std::vector<std::int32_t> values(at(n)), sums{0};
    std::iota(values.begin(), values.end(), 0);
    const auto one_of = [&](const std::vector<std::int32_t> &from) {
        return from[at(random.integer(0, static_cast<std::int64_t>(from.size()) - 1))];
    };
    const auto value = [&] {
        const double which = random.uniform();
        return which < 0.35 ? values.back() : which < 0.6 ? one_of(sums) : one_of(values);
    };
    const auto constant = [&] { return static_cast<std::int32_t>(random.integer(0, constants - 1)); };
    for (std::int64_t size = random.integer(0, 100); size > 0; --size) switch (random.integer(0, 11)) {
        case 0:
        case 1: // several sums, so that what came before them is the latest still
            for (std::int64_t k = random.integer(1, 4); k > 0; --k)
                sums.push_back(builder.add(static_cast<std::int32_t>(random.integer(0, n - 1)), constant()));
            break;
        case 2:
            values.push_back(builder.add(value(), constant()));
            break;
        case 3:
            values.push_back(builder.subtract(value(), value()));
            break;
        case 4:
            values.push_back(builder.nmadd(value(), value(), value()));
            break;
        case 5:
            values.push_back(builder.add_absolute(value(), value()));
            break;
        case 6:
            values.push_back(builder.multiply_absolute(value(), value()));
            break;
        case 7:
            values.push_back(builder.madd_absolute(value(), value(), value()));
            break;
        case 9:
            values.push_back(builder.plus(value(), value()));
            values.push_back(builder.madd(value(), value(), value()));
            break;
        case 10: {
            const std::int32_t least = builder.least(value(), value());
            const std::int32_t reciprocals =
                builder.add_absolute(builder.reciprocal(least), builder.reciprocal(least));
            values.push_back(builder.derivative_absolute(value(), reciprocals, value()));
            break;
        }
        case 8: // a chain
            for (std::int64_t k = random.integer(1, 9); k > 0; --k)
                values.push_back(builder.multiply(values.back(), one_of(sums)));
            break;
        default:
            values.push_back(builder.multiply(value(), value()));
        }
    const std::int32_t first = value(), second = value();
    return std::move(builder).finish({first, second}, constants);
}

// A sum of terms and the sum of their absolute values, as values of a program.
struct Sums {
    std::int32_t sum, absolute;
};

// What is left when the terms with a column are subtracted.
Sums less(ProgramBuilder &builder, const Sums &without, const Sums &with) {
    return {builder.subtract(without.sum, with.sum), builder.add_absolute(without.absolute, with.absolute)};
}

// A part, and what may be in a row: the columns of the parts around it.
class RandomTree {
  public:
    RandomTree(std::int32_t n, bool is_permanent, Random &random)
        : random_(random), is_permanent_(is_permanent), row_of_(at(n)) {
        work_.tree.n = n;
        for (std::int32_t i = 0; i < n; ++i) row_of_[at(i)] = i;
        const auto order = random.permutation(n);
        for (std::int32_t i = 0; i < n; ++i) row_of_[at(i)] = static_cast<std::int32_t>(order[at(i)]);
        rows_.resize(at(n));
        allowed_.resize(at(n));
    }

    Work make() && {
        Tree &tree = work_.tree;
        const std::int32_t n = tree.n;
        shape(tree.root, 0, n - 1, {n - 1});
        tree.segment_bits = static_cast<std::int32_t>(random_.integer(tree.root.loop, n - 1));
        allowed_[at(n - 1)] = {n - 1};
        // Each leaf's first column is some row's lowest.
        for (std::int32_t i = 0; i < n; ++i) {
            const auto j =
                at(i) < first_.size() ? first_[at(i)] : static_cast<std::int32_t>(random_.integer(0, n - 1));
            rows_[at(j)].push_back(row_of_[at(i)]);
        }
        std::vector<std::vector<double>> a(at(n), std::vector<double>(at(n)));
        for (std::int32_t j = 0; j < n; ++j)
            for (const std::int32_t r : rows_[at(j)]) {
                a[at(r)][at(j)] = entry(random_);
                for (const std::int32_t k : allowed_[at(j)])
                    if (k > j && random_.chance(0.6)) a[at(r)][at(k)] = entry(random_);
            }
        tree.fixed_rows = rows_[at(n - 1)];
        std::vector<double> x(at(n)), entries;
        for (std::int32_t i = 0; i < n; ++i) {
            for (std::int32_t j = 0; j < n; ++j) x[at(i)] -= a[at(i)][at(j)] / 2;
            x[at(i)] += a[at(i)][at(n - 1)];
        }
        for (std::int32_t j = 0; j < n; ++j) {
            tree.column_ptr.push_back(static_cast<std::int64_t>(tree.row.size()));
            for (std::int32_t i = 0; i < n; ++i)
                if (a[at(i)][at(j)] != 0) {
                    tree.row.push_back(i);
                    entries.push_back(a[at(i)][at(j)]);
                }
        }
        tree.column_ptr.push_back(static_cast<std::int64_t>(tree.row.size()));
        if (!is_permanent_)
            for (int k = 0; k < 20; ++k) constants_.push_back(entry(random_));
        fill(tree.root, a);
        work_.numbers = x;
        work_.numbers.insert(work_.numbers.end(), entries.begin(), entries.end());
        work_.numbers.insert(work_.numbers.end(), constants_.begin(), constants_.end());
        work_.matrix = std::move(a);
        return std::move(work_);
    }

  private:
    void shape(TreePart &part, std::int32_t begin, std::int32_t end, std::vector<std::int32_t> around) {
        part.begin = begin;
        part.end = end;
        part.loop = static_cast<std::int32_t>(random_.integer(begin, end));
        const std::int32_t columns = part.loop - begin;
        for (std::int32_t j = part.loop; j < end; ++j) around.push_back(j);
        for (std::int32_t j = part.loop; j < end; ++j) allowed_[at(j)] = around;
        if (columns > 5 || (columns > 0 && random_.chance(0.6))) {
            std::int32_t from = begin;
            while (from < part.loop) {
                const auto to = static_cast<std::int32_t>(random_.integer(from + 1, part.loop));
                part.parts.emplace_back();
                shape(part.parts.back(), from, to, around);
                from = to;
            }
            return;
        }
        if (columns == 0) return;
        first_.push_back(begin);
        for (std::int32_t j = begin; j < part.loop; ++j) around.push_back(j);
        for (std::int32_t j = begin; j < part.loop; ++j) allowed_[at(j)] = around;
    }

    void fill(TreePart &part, const std::vector<std::vector<double>> &a) {
        for (std::int32_t j = part.loop; j < part.end; ++j) part.level.push_back(rows_[at(j)]);
        for (TreePart &p : part.parts) fill(p, a);
        if (!part.parts.empty() || part.loop == part.begin) return;
        if (!is_permanent_) {
            part.leaf = random_program(work_.tree.n, static_cast<std::int32_t>(constants_.size()), random_);
            return;
        }
        ProgramBuilder builder(work_.tree.n);
        const Sums sums = alternating(builder, part, part.loop - 1, 0, a);
        part.leaf = std::move(builder).finish({sums.sum, sums.absolute},
                                              static_cast<std::int32_t>(constants_.size()));
    }

    std::int32_t constant(double x) {
        constants_.push_back(x);
        return static_cast<std::int32_t>(constants_.size()) - 1;
    }

    Sums alternating(ProgramBuilder &builder, const TreePart &part, std::int32_t column, std::uint32_t set,
                     const std::vector<std::vector<double>> &a) {
        const std::uint32_t with = set | 1U << (column - part.begin);
        return less(builder, below(builder, part, column, set, a), below(builder, part, column, with, a));
    }

    Sums below(ProgramBuilder &builder, const TreePart &part, std::int32_t column, std::uint32_t set,
               const std::vector<std::vector<double>> &a) {
        std::int32_t v = -1;
        for (const std::int32_t r : rows_[at(column)]) {
            double sum = 0;
            for (std::int32_t j = part.begin; j < part.loop; ++j)
                if (set >> (j - part.begin) & 1) sum += a[at(r)][at(j)];
            const std::int32_t x = set == 0 ? r : builder.add(r, constant(sum));
            v = v < 0 ? x : builder.multiply(v, x);
        }
        if (column == part.begin) return {v, v};
        const Sums sums = alternating(builder, part, column - 1, set, a);
        if (v < 0) return sums;
        return {builder.multiply(v, sums.sum), builder.multiply_absolute(v, sums.absolute)};
    }

    Random &random_;
    bool is_permanent_;
    Work work_;
    std::vector<std::int32_t> row_of_, first_;
    std::vector<std::vector<std::int32_t>> rows_, allowed_; // by lowest column
    std::vector<double> constants_;
};

// The lowest columns of a dense matrix, all rows in each product.
Work dense_work(std::int32_t n, std::int32_t leaf_bits, std::int32_t segment_bits, Random &random) {
    Work work;
    Tree &tree = work.tree;
    tree.n = n;
    tree.segment_bits = segment_bits;
    std::vector<std::vector<double>> a(at(n), std::vector<double>(at(n)));
    for (auto &row : a)
        for (double &x : row) x = entry(random) / 4;
    for (std::int32_t i = 0; i < n; ++i) {
        double x = a[at(i)][at(n - 1)];
        for (std::int32_t j = 0; j < n; ++j) x -= a[at(i)][at(j)] / 2;
        work.numbers.push_back(x);
    }
    for (std::int32_t j = 0; j < n; ++j) {
        tree.column_ptr.push_back(static_cast<std::int64_t>(tree.row.size()));
        for (std::int32_t i = 0; i < n; ++i) {
            tree.row.push_back(i);
            work.numbers.push_back(a[at(i)][at(j)]);
        }
    }
    tree.column_ptr.push_back(static_cast<std::int64_t>(tree.row.size()));
    TreePart &root = tree.root;
    root.loop = leaf_bits;
    root.end = n - 1;
    root.level.resize(at(n - 1 - leaf_bits));
    ProgramBuilder builder(n);
    std::int32_t constants = 0;
    const auto chain = [&](std::uint32_t set) {
        std::int32_t v = -1;
        for (std::int32_t i = 0; i < n; ++i) {
            double sum = 0;
            for (std::int32_t j = 0; j < leaf_bits; ++j)
                if (set >> j & 1) sum += a[at(i)][at(j)];
            std::int32_t x = i;
            if (set != 0) {
                x = builder.add(i, constants++);
                work.numbers.push_back(sum);
            }
            v = v < 0 ? x : builder.multiply(v, x);
        }
        return v;
    };
    const auto sums = [&](const auto &self, std::int32_t column, std::uint32_t set) -> Sums {
        if (column < 0) {
            const std::int32_t v = chain(set);
            return {v, v};
        }
        const Sums without = self(self, column - 1, set);
        return less(builder, without, self(self, column - 1, set | 1U << column));
    };
    const Sums all = sums(sums, leaf_bits - 1, 0);
    root.leaf = std::move(builder).finish({all.sum, all.absolute}, constants);
    work.matrix = std::move(a);
    return work;
}

// ---------------------------------------------------------------- comparisons

double permanent(const std::vector<std::vector<double>> &a) {
    std::vector<long double> ways(std::size_t{1} << a.size());
    ways[0] = 1;
    for (std::size_t set = 0; set + 1 < ways.size(); ++set) {
        const auto i = static_cast<std::size_t>(std::popcount(set));
        for (std::size_t j = 0; j < a.size(); ++j)
            if (!(set >> j & 1)) ways[set | std::size_t{1} << j] += ways[set] * a[i][j];
    }
    return static_cast<double>(ways.back());
}

// The sum over all S of prod_i |x_i(S)|.
double absolute_terms(const std::vector<std::vector<double>> &a) {
    double sum = 0;
    for (std::size_t set = 0; set < std::size_t{1} << (a.size() - 1); ++set) {
        double product = 1;
        for (const auto &row : a) {
            double x = row.back();
            for (std::size_t j = 0; j < a.size(); ++j) x += (set >> j & 1 ? 0.5 : -0.5) * row[j];
            product *= x;
        }
        sum += std::fabs(product);
    }
    return sum;
}

bool same(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

std::uint64_t segments(const Tree &tree) { return std::uint64_t{1} << (tree.n - 1 - tree.segment_bits); }

std::vector<Partial3> all_partials(const Work &work, std::uint64_t at_once) {
    const TreeWalk walk(work.tree, work.numbers);
    std::vector<Partial3> partials(segments(work.tree));
    for (std::uint64_t first = 0; first < partials.size(); first += at_once)
        walk.run(first, std::span(partials).subspan(first, std::min(at_once, partials.size() - first)));
    return partials;
}

void check_against_reference(const Work &work, Random &random) {
    const auto partials = all_partials(work, static_cast<std::uint64_t>(random.integer(1, TreeWalk::lanes)));
    Reference reference(work.tree, work.numbers);
    bool all_same = true;
    for (std::uint64_t s = 0; s < partials.size(); ++s) {
        const Partial3 is = partials[s], should = reference.segment(s);
        all_same = all_same && same(is.sum.sum, should.sum.sum) && same(is.sum.error, should.sum.error) &&
                   same(is.absolute, should.absolute);
    }
    CHECK(all_same);
}

} // namespace

TEST_CASE("random trees of random programs, bit for bit") {
    for_each_target([] {
        INFO(std::string("target ") << tree_walk_target());
        Random random(test_seed());
        for (int k = 0; k < run::cases(150); ++k) {
            CAPTURE(k);
            const auto n = static_cast<std::int32_t>(random.integer(1, 12));
            check_against_reference(RandomTree(n, false, random).make(), random);
        }
    });
}

TEST_CASE("permanents by random trees") {
    for_each_target([] {
        INFO(std::string("target ") << tree_walk_target());
        Random random(test_seed() + 1);
        for (int k = 0; k < run::cases(150); ++k) {
            CAPTURE(k);
            const auto n = static_cast<std::int32_t>(random.integer(2, 13));
            const Work work = RandomTree(n, true, random).make();
            check_against_reference(work, random);
            double sum = 0, absolute = 0;
            for (const Partial3 &p : all_partials(work, TreeWalk::lanes)) {
                sum += p.sum.sum + p.sum.error;
                absolute += p.absolute;
            }
            const double factor = n % 2 == 1 ? 2 : -2;
            CHECK(std::fabs(factor * sum - permanent(work.matrix)) <= 1e-12 * absolute);
            CHECK(absolute == doctest::Approx(absolute_terms(work.matrix)).epsilon(1e-12));
        }
    });
}

TEST_CASE("dense leaves") {
    for_each_target([] {
        Random random(test_seed() + 2);
        for (const std::int32_t leaf_bits : {1, 3, 5}) {
            const Work work = dense_work(12, leaf_bits, 7, random);
            check_against_reference(work, random);
        }
    });
}
