#include "lib/bjorklund/sums.hpp"

#include "jit/number/number_parts.hpp"
#include "lib/number/with_fma.hpp"
#include "preprocess/index.hpp"

#include <bit>
#include <vector>

namespace libperm {
namespace {

// Of sets of lines, the first of which has each of the others for a partner, or its loop.
template <class A> class Matchings {
    using Number = typename A::Number;

  public:
    struct Sum {
        Number value;
        double size, error; // the terms' absolute values, and what the value can be wrong by
    };

    Matchings(const LineNumbers &lines, A a) : lines_(lines), a_(a) {}

    Sum of_all() const {
        const int n = 2 * lines_.pairs;
        std::vector<Sum> sums(std::size_t{1} << n);
        sums[0] = {A::number(1), 1, 0};
        for (std::size_t set = 1; set < sums.size(); ++set)
            if (lines_.has_loops || std::popcount(set) % 2 == 0) sums[set] = of(set, sums);
        return sums.back();
    }

  private:
    Sum of(std::size_t set, const std::vector<Sum> &known) const {
        Sum sum{A::number(0), 0, 0};
        const int first = std::countr_zero(set), loops = 2 * lines_.pairs;
        set &= set - 1;
        for (std::size_t others = set; others != 0; others &= others - 1) {
            const std::size_t other = others & (~others + 1);
            add(lines_.place(first, std::countr_zero(others)), known[set ^ other], sum);
        }
        if (lines_.has_loops) add(lines_.place(first, loops), known[set], sum);
        if constexpr (A::bounded) {
            const double roundings = (fused_roundings(lines_.arithmetic) + 1) * loops;
            sum.error += sum.size * unit_of(lines_.arithmetic) * roundings + 0x1p-1000;
        }
        return sum;
    }

    void add(std::size_t place, const Sum &rest, Sum &to) const {
        const Number x = gathered<Number>(&lines_.entries[place * at(A::parts)]);
        to.value = a_.madd(x, rest.value, to.value);
        if constexpr (A::bounded) {
            const double size = A::magnitude(x), error = lines_.errors[place];
            to.size += size * rest.size;
            to.error += error * (rest.size + rest.error) + size * rest.error;
        }
    }

    const LineNumbers &lines_;
    const A a_;
};

} // namespace

HafnianPart hafnian_by_definition(const LineNumbers &lines) {
    HafnianPart part;
    with_arithmetic_of(lines.arithmetic, lines.prime, [&]<class A>(A a) {
        typename Matchings<A>::Sum sum{};
        with_fma([&] { sum = Matchings<A>(lines, a).of_all(); });
        scatter(sum.value, part.parts.data());
        part.error = sum.error * (1 + 0x1p-29); // for the bound's own roundings
    });
    return part;
}

} // namespace libperm
