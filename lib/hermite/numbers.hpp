// Doubles, alone or several for a number, as a table has them (lib/hermite/table.hpp).
#pragma once

#include "lib/hermite/books.hpp"
#include "lib/number/ranged.hpp"
#include "lib/number/with_fma.hpp"
#include "preprocess/frontier_program.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace libperm {

// NonNegative or Signed.
template <class N> struct PlainOperations {
    using Number = N;
    using Factor = N;
    static constexpr bool has_exponents = false;

    static Number zero() { return N::number(0); }
    static Number one() { return N::number(1); }
    static Number add(const Number &x, const Number &y) { return x + y; }
    static Number multiply(const Factor &factor, const Number &x) { return factor * x; }
    static Factor times(const Factor &factor, std::int32_t copies) { return factor * N::number(copies); }
    static Factor factor_of(const N &coefficient, std::int64_t) { return coefficient; }
    static const N &number_of(const Number &x) { return x; }
    static std::int64_t exponent_of(const Number &) { return 0; }

    static Extent extent_of(const Number *numbers, std::size_t count) {
        Extent extent;
        for (std::size_t k = 0; k < count; ++k) {
            const double size = numbers[k].magnitude();
            extent.largest = std::max(extent.largest, size);
            if (size != 0) extent.smallest = std::min(extent.smallest, size);
        }
        return extent;
    }
};

template <class N> struct WithExponents : RangedOperations<N> {
    using typename RangedOperations<N>::Number, typename RangedOperations<N>::Factor;
    static constexpr bool has_exponents = true;

    static Factor times(const Factor &factor, std::int32_t copies) {
        return factor * Factor::normalised(N::number(copies), 0);
    }
    static Factor factor_of(const N &coefficient, std::int64_t exp2) {
        return Factor::normalised(coefficient, exp2);
    }
    static const N &number_of(const Number &x) { return x.number; }
    static std::int64_t exponent_of(const Number &x) { return x.exp2; }
    static Extent extent_of(const Number *, std::size_t) { return {1, 1}; }
};

template <class N, template <class> class Operations> class HermiteNumbers : public Operations<N> {
  public:
    using typename Operations<N>::Number, typename Operations<N>::Factor;
    static constexpr bool is_slow = false;

    HermiteNumbers(const HermitePlan &plan, const HermiteEntries &entries)
        : plan_(plan), books_(plan, entries, Operations<N>::has_exponents) {}
    template <class Work> static void with(const Work &work) { with_fma(work); }

    const std::vector<Factor> &begin_step(const FrontierStep &step) {
        factors_.clear();
        for (const FrontierTerm &t : step.terms) {
            const bool is_loop = std::ranges::find(plan_.loops, t.entry) != plan_.loops.end();
            const HermiteBooks::Coefficient c = books_.coefficient(t.entry, is_loop);
            typename N::Arithmetic::Number value;
            std::memcpy(&value, c.value.data(), sizeof value);
            factors_.push_back(Operations<N>::factor_of(N::coefficient(value, c.magnitude), c.exp2));
        }
        return factors_;
    }
    bool holds(const Extent &extent) { return books_.holds(extent); }

    EngineResult close(const Number &last) const {
        const N &number = Operations<N>::number_of(last);
        PackedParts value{};
        std::memcpy(value.data(), &number.value, sizeof number.value);
        return books_.close(value, number.magnitude(), Operations<N>::exponent_of(last));
    }

  private:
    const HermitePlan &plan_;
    HermiteBooks books_;
    std::vector<Factor> factors_;
};

} // namespace libperm
