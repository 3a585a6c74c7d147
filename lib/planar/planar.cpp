#include "lib/planar/planar.hpp"

#include "lib/planar/determinant.hpp"
#include "lib/planar/drawing.hpp"
#include "lib/planar/fronts.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/results.hpp"
#include "preprocess/index.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

namespace libperm {
namespace {

// Pfaffians of skew-symmetric matrices by dense fronts, as determinants are found (determinant.hpp): two
// lines at a time, P K P^T = L D L^T with pivots of two rows and two columns (Bunch, Math. Comp. 38, 1982).
//
// Field: as of a Determinant.
template <class Field> class Pfaffian {
    using Number = typename Field::Number;

  public:
    Pfaffian(const Fronts &fronts, Field &field) : fronts_(fronts), field_(field) {}

    // Of the matrix with `entry(k)` where entry k of the graph has its first line as row and its second as
    // column: into the field's product. `done`, `hold`, and what is returned: as of Determinant::find.
    template <class Entry, class Done, class Hold>
    bool find(const Entry &entry, const Done &done, const Hold &hold) {
        place_.assign(2 * fronts_.pairs(), 0);
        bool is_whole = true;
        const auto of_front = [&](std::size_t f) {
            const Front &front = fronts_.all()[f];
            Work work = assembled(f, entry, hold);
            const std::size_t eliminated = eliminate(work);
            if (front.parent != -1)
                rests_.push_back(rest_of(work, eliminated));
            else
                lose(work, eliminated);
            is_whole &= front.parent != -1 || eliminated == work.candidates;
            return products_of(work, eliminated);
        };
        fronts_.each(of_front, done);
        if (is_odd_permutation(order_)) field_.negate_product();
        return is_whole;
    }

  private:
    // Of a skew-symmetric matrix the diagonal and what is right of it.
    struct Triangle {
        std::vector<std::int32_t> lines;
        std::vector<Number> numbers; // by row
        // Has numbers from [i] on.
        Number *row(std::size_t i) { return numbers.data() + i * (2 * lines.size() - i - 1) / 2; }
        static std::size_t count(std::size_t lines) { return lines * (lines + 1) / 2; }
    };
    // A front at work: lines that may be eliminated here, then the others.
    struct Work : Triangle {
        std::size_t candidates = 0;
        // By line its numbers in the rows u, w of each pivot, one pivot p after the other.
        std::vector<std::vector<Number>> columns;
        std::vector<Number> inverse; // 1 / p
    };
    // What is left of a front: the delayed lines come first.
    struct Rest : Triangle {
        std::size_t delayed = 0;
    };

    static double products_of(const Work &work, std::size_t eliminated) {
        double products = 0;
        for (std::size_t left = work.lines.size(), last = left - eliminated; left > last;) {
            left -= 2;
            products += static_cast<double>(left * left);
        }
        return products;
    }

    template <class Entry, class Hold> Work assembled(std::size_t f, const Entry &entry, const Hold &hold) {
        const Front &front = fronts_.all()[f];
        const auto first_child = rests_.end() - front.children;
        Work work;
        std::vector<std::int32_t> &lines = work.lines;
        for (std::int32_t line = 2 * front.first; line < 2 * front.last; ++line) lines.push_back(line);
        for (auto child = first_child; child != rests_.end(); ++child)
            lines.insert(lines.end(), child->lines.begin(),
                         child->lines.begin() + static_cast<std::ptrdiff_t>(child->delayed));
        work.candidates = lines.size();
        for (const std::int32_t pair : front.rest) lines.insert(lines.end(), {2 * pair, 2 * pair + 1});
        for (std::size_t k = 0; k < lines.size(); ++k) place_[at(lines[k])] = k;
        std::size_t held = work.count(lines.size()) + lines.size() * work.candidates;
        for (const Rest &rest : rests_) held += rest.numbers.size();
        hold(static_cast<double>(held));
        work.numbers.assign(work.count(lines.size()), field_.zero());
        work.columns.resize(lines.size());
        for (std::vector<Number> &of_line : work.columns) of_line.reserve(work.candidates);
        for (const Fronts::Entry &e : fronts_.entries(f)) add(work, e.row, e.col, entry(at(e.entry)));
        for (auto child = first_child; child != rests_.end(); ++child)
            for (std::size_t i = 0; i < child->lines.size(); ++i)
                for (std::size_t j = i + 1; j < child->lines.size(); ++j)
                    add(work, child->lines[i], child->lines[j], child->row(i)[j]);
        rests_.erase(first_child, rests_.end());
        return work;
    }

    void add(Work &work, std::int32_t line, std::int32_t other, const Number &x) {
        const std::size_t i = place_[at(line)], j = place_[at(other)];
        if (i < j)
            field_.add(work.row(i)[j], x);
        else
            field_.subtract(work.row(j)[i], x);
    }

    // Of the lines that may be eliminated as many as there are pivots for; what these leave of the others.
    // Rows are brought up to date when they are looked at, by all pivots since they last were.
    std::size_t eliminate(Work &work) {
        std::size_t step = 0, since = 0;
        for (; step + 1 < work.candidates; step += 2) {
            update(work, step, since);
            if (field_.may_be_zero(work.row(step)[step + 1])) {
                for (std::size_t i = step + 1; i < work.lines.size(); ++i) update(work, i, since);
                since = step;
                if (!bring_pivot(work, step)) break;
            }
            update(work, step + 1, since);
            take_out(work, step);
        }
        for (std::size_t i = step; i < work.lines.size(); ++i) update(work, i, since);
        return step;
    }

    // K[i][j] - (u_i w_j - w_i u_j) / p for each pivot since.
    void update(Work &work, std::size_t i, std::size_t since) {
        const std::vector<Number> &own = work.columns[i];
        factors_.clear();
        for (std::size_t t = since; t < own.size(); t += 2) {
            for (const std::size_t k : {t + 1, t}) {
                factors_.push_back(own[k]);
                field_.multiply(factors_.back(), work.inverse[t / 2]);
            }
            field_.negate(factors_[factors_.size() - 2]);
        }
        if (factors_.empty()) return;
        Number *const row = work.row(i);
        for (std::size_t j = i + 1; j < work.lines.size(); ++j)
            field_.subtract_products(row[j], factors_.data(), work.columns[j].data() + since,
                                     factors_.size());
    }

    // Exchanges lines so that the pivot of this step is not 0; false: all that are left may be.
    bool bring_pivot(Work &work, std::size_t step) {
        for (std::size_t i = step; i < work.candidates; ++i)
            for (std::size_t j = i + 1; j < work.candidates; ++j) {
                if (field_.may_be_zero(work.row(i)[j])) continue;
                exchange(work, step, i, step);
                exchange(work, step + 1, j, step);
                return true;
            }
        return false;
    }

    // Lines x <= y of those from `first` on.
    void exchange(Work &work, std::size_t x, std::size_t y, std::size_t first) {
        if (x == y) return;
        for (std::size_t k = first; k < x; ++k) std::swap(work.row(k)[x], work.row(k)[y]);
        for (std::size_t k = x + 1; k < y; ++k) {
            std::swap(work.row(x)[k], work.row(k)[y]);
            field_.negate(work.row(x)[k]);
            field_.negate(work.row(k)[y]);
        }
        field_.negate(work.row(x)[y]);
        for (std::size_t k = y + 1; k < work.lines.size(); ++k) std::swap(work.row(x)[k], work.row(y)[k]);
        std::swap(work.columns[x], work.columns[y]);
        std::swap(work.lines[x], work.lines[y]);
    }

    void take_out(Work &work, std::size_t step) {
        Number *const u = work.row(step), *const w = work.row(step + 1);
        field_.multiply_product(u[step + 1]);
        work.inverse.push_back(field_.inverse(u[step + 1]));
        for (std::size_t j = step + 2; j < work.lines.size(); ++j) {
            work.columns[j].push_back(std::move(u[j]));
            work.columns[j].push_back(std::move(w[j]));
        }
        order_.insert(order_.end(), {work.lines[step], work.lines[step + 1]});
    }

    // Of the lines of a last front those without pivots: their Pfaffian is at most the sum of all products of
    // so many numbers.
    void lose(Work &work, std::size_t eliminated) {
        std::vector<Number> left;
        for (std::size_t i = eliminated; i < work.candidates; ++i) {
            std::move(work.row(i) + i + 1, work.row(i) + work.candidates, std::back_inserter(left));
            order_.push_back(work.lines[i]);
        }
        for (std::size_t i = eliminated; i < work.candidates; i += 2)
            field_.multiply_bound(left.data(), left.size());
    }

    static Rest rest_of(Work &work, std::size_t eliminated) {
        Rest rest{{{work.lines.begin() + static_cast<std::ptrdiff_t>(eliminated), work.lines.end()}, {}},
                  work.candidates - eliminated};
        rest.numbers.reserve(rest.count(rest.lines.size()));
        for (std::size_t i = eliminated; i < work.lines.size(); ++i)
            std::move(work.row(i) + i, work.row(i) + work.lines.size(), std::back_inserter(rest.numbers));
        return rest;
    }

    const Fronts &fronts_;
    Field &field_;
    std::vector<Rest> rests_;
    std::vector<std::size_t> place_;  // by line, in the front at work
    std::vector<Number> factors_;     // of the row that is brought up to date
    std::vector<std::int32_t> order_; // in which lines are eliminated
};

struct PlanarWork {
    const PlanarPlan &plan;
    const PatternGraph &graph; // of the block
};

// One of the determinants, or the Pfaffian, with its sign, in numbers that the field makes of entries:
// entry(k, factor); bytes of so many numbers.
template <class Field, class Entry, class Bytes>
void find_determinant(const PlanarWork &work, const SignedSum::Term &term, Field &field, const Entry &entry,
                      const Bytes &bytes) {
    const std::vector<signed char> factors = work.plan.sum.factors(work.graph, term);
    Charge charge(&call().memory(), static_cast<std::int64_t>(bytes(work.plan.fronts.peak())));
    const auto with_sign = [&](std::size_t k) { return entry(k, factors[k]); };
    const auto done = [&](double products) { call().advance(products); };
    const auto hold = [&](double numbers) { grow_to(charge, bytes(numbers)); };
    if (work.plan.fronts.are_of_graph())
        Pfaffian(work.plan.fronts, field).find(with_sign, done, hold);
    else
        Determinant(work.plan.fronts, field).find(with_sign, done, hold);
    if (term.is_odd) field.negate_product();
}

std::uint64_t modulo(const PlanarWork &work, const Residues &residues, std::uint64_t matrix) {
    const std::vector<std::uint64_t> &values = residues.values[matrix];
    const std::uint64_t prime = residues.primes[matrix];
    const ModularField all(prime);
    std::uint64_t sum = ModularField::zero();
    for (const SignedSum::Term &term : work.plan.sum.terms) {
        ModularField field(prime);
        find_determinant(
            work, term, field,
            [&](std::size_t k, int factor) {
                const std::uint64_t x = factor == 0 ? 0 : values[k];
                return field.number(factor < 0 && x != 0 ? prime - x : x);
            },
            [](double numbers) { return 8 * numbers; });
        all.add(sum, field.product());
    }
    for (std::int32_t k = 0; k < work.plan.sum.genus; ++k) all.multiply(sum, all.inverse(all.number(2)));
    return all.residue(sum);
}

// Nothing: it is not known at all.
std::optional<BallField::Number> in_balls(const PlanarWork &work, const SignedSum::Term &term,
                                          const Block &block, int bits) {
    BallField field(bits);
    find_determinant(
        work, term, field,
        [&](std::size_t k, int factor) {
            return field.number(factor * block.values[k].value, block.values[k].exp2);
        },
        [&](double numbers) { return bytes_of_ball(bits) * numbers; });
    if (!field.knows_product()) return {};
    return field.product();
}

// A sum's bytes that other machines read.
struct DoubleBall {
    double value = 0, error = std::numeric_limits<double>::infinity();
    std::int64_t exp2 = 0;
};

DoubleBall double_ball(const BallField::Number &x) {
    DoubleBall ball;
    long exponent = 0;
    const double mantissa = mpfr_get_d_2exp(&exponent, x.middle, MPFR_RNDN);
    ball.exp2 = x.radius.is_zero() ? exponent : x.radius.exp2();
    if (mantissa != 0) ball.exp2 = std::max<std::int64_t>(ball.exp2, exponent);
    const auto down = static_cast<int>(std::max<std::int64_t>(exponent - ball.exp2, -2000));
    ball.value = mantissa == 0 ? 0 : std::ldexp(mantissa, down);
    ball.error = (x.radius.over(ball.exp2) + 0x1p-52 * std::fabs(ball.value) + (down < -900 ? 0x1p-900 : 0)) *
                 (1 + 0x1p-40);
    return ball;
}

// The determinants cancel each other, and one of them may be 0: their errors add up.
DoubleBall sum_of_balls(const PlanarWork &work, const Block &block, int bits) {
    const std::vector<SignedSum::Term> &terms = work.plan.sum.terms;
    std::vector<std::optional<BallField::Number>> parts(terms.size());
    parallel_for(parts.size(), [&](std::uint64_t k) { parts[k] = in_balls(work, terms[k], block, bits); });
    BallField field(bits);
    BallField::Number sum = field.zero();
    for (const std::optional<BallField::Number> &part : parts) {
        if (!part) return {};
        field.add(sum, *part);
    }
    DoubleBall ball = double_ball(sum);
    ball.exp2 -= work.plan.sum.genus;
    return ball;
}

// In more bits each time, until a double has all that it holds.
EngineResult by_balls(const PlanarWork &work, const Block &block) {
    constexpr int fewest_bits = 192, most_bits = 960;
    const double products = work.plan.matrix_products();
    const auto run = [&](std::uint64_t) {
        for (int bits = fewest_bits;; bits = std::min(2 * bits, most_bits)) {
            const DoubleBall ball = sum_of_balls(work, block, bits);
            if (ball.error <= 0x1p-50 * std::fabs(ball.value) || bits == most_bits) return ball;
            call().expect_more(products);
        }
    };
    const DoubleBall ball = parts_of_pieces(1, products, DoubleBall(), each_on_its_thread(run)).front();
    EngineResult result;
    result.value = ball_from(block, ball.value, ball.error, ball.exp2);
    result.counts.operations = products;
    return result;
}

// An inverse has been seen to lose twice the bits of its determinant.
int bits_needed(int bits, double relative_error) {
    constexpr int of_double = 54, apart = 64;
    const double lost = std::max(0.0, bits + std::log2(relative_error));
    const double needed = of_double + 2 * std::min(lost, double{most_ball_bits});
    return std::min(apart * static_cast<int>(std::ceil(needed / apart)), most_ball_bits);
}

} // namespace

EngineResult run_planar(const EngineRun &run, const EngineInput &input) {
    const PatternGraph graph(input.pattern());
    const PlanarWork work{*plan_as<PlanarPlan>(run.choice), graph};
    if (const Residues *residues = input.residues())
        return matrix_by_matrix(*residues, work.plan.matrix_products(),
                                bytes_of_residue * work.plan.fronts.peak(),
                                [&](std::uint64_t matrix) { return modulo(work, *residues, matrix); });
    return by_balls(work, *input.block());
}

DerivativesInBits planar_derivatives(const PlanarPlan &plan, int bits, const BallEntries &entries) {
    const double each = bytes_of_ball(bits);
    Charge of_fronts(&call().memory());
    const auto hold = [&](double numbers) { grow_to(of_fronts, each * numbers); };
    const auto done = [](double products) { call().advance(products); };
    BallField field(bits);
    const auto signed_entry = [&](std::size_t k) {
        BallField::Number x = entries(k);
        if (plan.sum.is_negative[k]) mpfr_neg(x.middle, x.middle, MPFR_RNDN);
        return x;
    };
    Inverse inverse(plan.fronts, field);
    if (!inverse.eliminate(signed_entry, done, hold)) return {{}, std::min(2 * bits, most_ball_bits)};
    if (const int needed = bits_needed(bits, field.relative_error()); needed > bits) return {{}, needed};
    if (plan.sum.terms.front().is_odd) field.negate_product();
    const std::size_t count = plan.sum.is_negative.size();
    PlanarDerivatives found{
        Charge(&call().memory(), static_cast<std::int64_t>(each * static_cast<double>(count))),
        field.product(), std::vector<BallField::Number>(count, field.zero())};
    inverse.go_back(done, hold, [&](std::size_t k, const BallField::Number &x) {
        BallField::Number &to = found.over_permanent[k];
        to = x;
        if (plan.sum.is_negative[k]) mpfr_neg(to.middle, to.middle, MPFR_RNDN);
    });
    return {std::move(found), std::min(2 * bits, most_ball_bits)};
}

bool is_singular(const PlanarPlan &plan, const std::function<mpq_class(std::size_t entry)> &entries) {
    constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;
    ModularField field(prime);
    const auto entry = [&](std::size_t k) {
        const mpq_class x = plan.sum.is_negative[k] ? mpq_class(-entries(k)) : entries(k);
        std::uint64_t number = field.number(mpz_fdiv_ui(x.get_num_mpz_t(), prime));
        field.multiply(number, field.inverse(field.number(mpz_fdiv_ui(x.get_den_mpz_t(), prime))));
        return number;
    };
    Charge of_fronts(&call().memory());
    return !Determinant(plan.fronts, field)
                .find(
                    entry, [](double) { poll(); }, [&](double numbers) { grow_to(of_fronts, 8 * numbers); });
}

double products_of_derivatives(const PlanarPlan &plan) { return 3 * plan.fronts.products(); }

double seconds_of_derivatives(const PlanarPlan &plan) {
    constexpr double of_product = 2.5e-7, of_entry = 2e-6;
    return of_product * products_of_derivatives(plan) +
           of_entry * static_cast<double>(plan.sum.is_negative.size());
}

void round_to_multiple(BallField::Number &x, std::int64_t unit) {
    if (!(x.radius < Radius(0.5, unit))) return;
    const auto exp2 = static_cast<long>(unit);
    mpfr_mul_2si(x.middle, x.middle, -exp2, MPFR_RNDN);
    mpfr_rint(x.middle, x.middle, MPFR_RNDN);
    mpfr_mul_2si(x.middle, x.middle, exp2, MPFR_RNDN);
    x.radius = {};
}

ScaledBall in_double(const BallField::Number &x) {
    long exp2 = 0;
    const double value = mpfr_get_d_2exp(&exp2, x.middle, MPFR_RNDN);
    MpfrNumber rest(x.middle.bits()); // that is lost, exactly
    mpfr_set_d(rest, value, MPFR_RNDN);
    mpfr_mul_2si(rest, rest, exp2, MPFR_RNDN);
    mpfr_sub(rest, x.middle, rest, MPFR_RNDN);
    const Radius error = x.radius + BallField::at_most(rest);
    return {make_scaled(value, exp2), make_scaled(error.mantissa(), error.exp2())};
}

} // namespace libperm
