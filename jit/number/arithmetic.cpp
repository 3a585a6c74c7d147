#include "jit/number/arithmetic.hpp"

#include <cstddef>

namespace libperm {
namespace {

struct Text {
    const char *name, *type;
};
constexpr Text texts[] = {
    // in the order of Arithmetic
    {"double", "Real<double>"},
    {"complex", "Complex<Real<double>>"},
    {"dd", "DD<double>"},
    {"complex dd", "Complex<DD<double>>"},
    {"modular", "Modular<double>"},
    {"pair", "Compensated<double>"},
    {"split", "Compensated<double, SplitRow<double>>"},
    {"two grids", "TwoGrids<double>"},
    {"complex two grids", "Complex<TwoGrids<double>>"},
    {"complex split", "Complex<Compensated<double, SplitRow<double>>>"},
};

} // namespace

const char *arithmetic_name(Arithmetic a) { return texts[static_cast<std::size_t>(a)].name; }
const char *arithmetic_type(Arithmetic a) { return texts[static_cast<std::size_t>(a)].type; }

} // namespace libperm
