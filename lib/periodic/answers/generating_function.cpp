#include "lib/periodic/answers/periodic_plan.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/number/chinese_remainder.hpp"
#include "lib/number/residues.hpp"
#include "lib/periodic/answers/residue_terms.hpp"
#include "lib/run/placement.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

// The terms that are known modulo one prime.
struct Image {
    std::uint64_t prime;
    std::vector<std::uint64_t> terms;
    Recurrence recurrence;
};

// The whole numbers below half the product of the primes in absolute value.
template <class Of>
std::vector<mpz_class> whole_numbers(const std::vector<const Image *> &images, std::size_t count,
                                     const Of &of) {
    std::vector<std::uint64_t> primes;
    for (const Image *image : images) primes.push_back(image->prime);
    const ChineseRemainder numbers(primes, false);
    std::vector<mpz_class> out(count);
    parallel_for(count, [&](std::uint64_t k) {
        std::vector<std::uint64_t> residues;
        for (const Image *image : images) {
            const std::vector<std::uint64_t> &some = of(*image);
            residues.push_back(k < some.size() ? some[k] : 0);
        }
        out[k] = numbers.from(residues).re.get_num();
    });
    return out;
}

double bits_of(const mpz_class &x) {
    return x == 0 ? 0 : static_cast<double>(mpz_sizeinbase(x.get_mpz_t(), 2));
}

class Search {
  public:
    Search(const PeriodicPlan &plan) : plan_(&plan), entries_(integer_entries(plan)) {
        first_ = plan.joined() ? 1 : 0;
        longest_ = plan.recurrence_order() + (plan.joined() ? 0 : plan.open.least);
        count_ = 2 * longest_ + 2;
        residue_bits_ = bits_of_primes(plan, 1e3);
    }

    GeneratingFunction find() {
        refuse_if_long(1);
        add_images(residues_at_once_);
        const std::size_t order = longest_order();
        // The terms and coefficients that the proof is about (docs/periodic.md).
        const std::int64_t looked_at = static_cast<std::int64_t>(order) + longest_ + 1;
        const std::vector<std::int64_t> bits = term_bits(*plan_, first_, looked_at);
        const double of_terms = static_cast<double>(*std::max_element(bits.begin(), bits.end())) +
                                factor_bits(entries_, first_ + looked_at);
        std::vector<mpz_class> c;
        for (;;) {
            const std::vector<const Image *> used = of_longest_order();
            std::vector<mpz_class> next = whole_numbers(
                used, longest_order() + 1, [](const Image &i) -> const auto & { return i.recurrence.c; });
            const bool is_stable = next == c;
            c = std::move(next);
            double largest = 0;
            for (const mpz_class &x : c) largest = std::max(largest, bits_of(x));
            // The bits of a sum of products of coefficients and terms.
            const double needed = of_terms + largest + std::log2(static_cast<double>(c.size())) + 2;
            const double known = static_cast<double>(used.size()) * (residue_bits_ - 0.01);
            if (is_stable && known > needed) return told(c, used);
            const auto more = static_cast<std::size_t>(
                                  std::max(1.0, std::min(needed, 2 * known + 1e3) - known) / residue_bits_) +
                              1;
            refuse_if_long(images_.size() + more);
            add_images(is_stable ? more : std::max(more, images_.size()));
        }
    }

  private:
    static constexpr std::size_t residues_at_once_ = 8;

    void refuse_if_long(std::size_t primes) const {
        const double order = static_cast<double>(longest_),
                     seconds = exact_seconds(*plan_, first_, count_, 62.0 * static_cast<double>(primes)) +
                               4e-9 * order * order * static_cast<double>(primes);
        if (seconds > plan_->options.refuse_seconds)
            throw refused_for_time(
                formatted("the generating function, whose recurrence may have order {}, is", longest_),
                seconds, plan_->options, "raise the limit (time_limit_seconds), or ask for terms");
    }

    void add_images(std::size_t more) {
        const std::vector<std::uint64_t> all = primes_below(residue_bits_, images_.size() + more, false);
        const std::vector<std::uint64_t> primes(all.begin() + static_cast<std::ptrdiff_t>(images_.size()),
                                                all.end());
        const Charge charge(&call().memory(),
                            static_cast<std::int64_t>(primes.size()) * count_ * std::int64_t{32});
        ResidueTerms terms = terms_modulo(*plan_, entries_, primes, first_, count_);
        std::vector<Image> images(primes.size());
        parallel_for(primes.size(), [&](std::uint64_t k) {
            Recurrence recurrence = shortest_recurrence(terms[k], primes[k]);
            images[k] = {primes[k], std::move(terms[k]), std::move(recurrence)};
        });
        for (Image &image : images) images_.push_back(std::move(image));
    }

    std::size_t longest_order() const {
        std::size_t order = 0;
        for (const Image &image : images_) order = std::max(order, image.recurrence.order);
        return order;
    }
    // A prime that divides what it should not has a shorter recurrence: it is left out.
    std::vector<const Image *> of_longest_order() const {
        std::vector<const Image *> out;
        for (const Image &image : images_)
            if (image.recurrence.order == longest_order()) out.push_back(&image);
        return out;
    }

    GeneratingFunction told(const std::vector<mpz_class> &c, const std::vector<const Image *> &used) const {
        GeneratingFunction out;
        out.order = static_cast<std::int64_t>(c.size()) - 1;
        out.states = longest_;
        out.checked = count_ - 2 * out.order;
        const std::vector<mpz_class> a = whole_numbers(
            used, std::min<std::size_t>(c.size(), static_cast<std::size_t>(count_)),
            [](const Image &i) -> const auto & { return i.terms; });
        // The whole numbers are A(m) = a(m) per_cell^m of_ends: back to a(m).
        mpz_class power = 1;
        for (const mpz_class &x : c) {
            out.denominator.emplace_back(x, power);
            out.denominator.back().canonicalize();
            power *= entries_.per_cell;
        }
        power = entries_.of_ends;
        for (std::int64_t k = 0; k < first_; ++k) {
            out.numerator.emplace_back(0);
            power *= entries_.per_cell;
        }
        for (std::size_t n = 0; n + 1 < c.size(); ++n) {
            mpz_class sum = 0;
            for (std::size_t j = 0; j <= n; ++j) sum += c[j] * a[n - j];
            out.numerator.emplace_back(sum, power);
            out.numerator.back().canonicalize();
            power *= entries_.per_cell;
        }
        while (!out.numerator.empty() && out.numerator.back() == 0) out.numerator.pop_back();
        while (out.denominator.size() > 1 && out.denominator.back() == 0) out.denominator.pop_back();
        return out;
    }

    const PeriodicPlan *plan_;
    IntegerEntries entries_;
    std::int64_t first_ = 0, longest_ = 0, count_ = 0;
    int residue_bits_ = 0; // of the primes
    std::vector<Image> images_;
};

} // namespace

GeneratingFunction generating_function(const PeriodicPlan &plan) {
    if (plan.tables && plan.may_be_written) return generating_function(written_out(plan));
    if (plan.tables)
        throw Error(
            PERM_REFUSED_MEMORY,
            "the operator is too large to be written out, and so for a generating function: ask for terms");
    if (!plan.real)
        throw Error(PERM_UNSUPPORTED,
                    "the generating function is found for real entries alone: these are complex");
    const Charge of_plan(&call().memory(), held_bytes(plan));
    return Search(plan).find();
}

} // namespace libperm
