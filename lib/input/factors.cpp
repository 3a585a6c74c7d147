#include "lib/input/factors.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/input/matrix.hpp"

#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace libperm {
namespace {

perm_factors checked(const perm_factors *given) {
    if (!given) throw Error(PERM_BAD_ARGUMENT, "the factors are a null pointer");
    perm_factors a = read_known(*given, sizeof(perm_factors), "perm_factors");
    if (a.n < 0 || a.rank < 0)
        throw Error(PERM_BAD_MATRIX, formatted("negative size: n = {}, rank = {}", a.n, a.rank));
    constexpr std::int64_t most_lines = std::numeric_limits<std::int32_t>::max() - 1;
    constexpr std::int64_t most_values = std::int64_t{1} << 40;
    if (std::max(a.n, a.rank) > most_lines || (a.rank > 0 && a.n > most_values / a.rank))
        throw Error(PERM_UNSUPPORTED,
                    formatted("factors of {} x {} are more than this version can index", a.n, a.rank));
    if (a.value_type == PERM_VALUE_PATTERN || a.value_type < PERM_VALUE_F64 || a.value_type > PERM_VALUE_TEXT)
        throw Error(PERM_BAD_ARGUMENT, formatted("value_type {} is not one of factors: use PERM_VALUE_F64, "
                                                 "PERM_VALUE_C128, PERM_VALUE_I64 or PERM_VALUE_TEXT",
                                                 a.value_type));
    if (a.reserved != 0) throw Error(PERM_BAD_ARGUMENT, "perm_factors.reserved must be 0");
    if (a.n > 0 && a.rank > 0)
        for (const auto &[values, name] : {std::pair(a.u, "u"), std::pair(a.v, "v")})
            if (!values) throw Error(PERM_BAD_ARGUMENT, formatted("{} is a null pointer", name));
    if (a.n == 0) a.rank = 0;
    return a;
}

// Every place of n x rank.
InputPattern full_pattern(const perm_factors &a) {
    InputPattern full;
    full.value_type = static_cast<perm_value_type>(a.value_type);
    Pattern &p = full.pattern;
    p.rows = static_cast<std::int32_t>(a.n);
    p.cols = static_cast<std::int32_t>(a.rank);
    std::vector<std::int32_t> row(static_cast<std::size_t>(a.rank));
    std::iota(row.begin(), row.end(), 0);
    PolledSteps steps;
    for (std::int64_t i = 0; i < a.n; ++i) {
        steps.take(a.rank);
        p.col.insert(p.col.end(), row.begin(), row.end());
        p.row_ptr.push_back((i + 1) * a.rank);
    }
    return full;
}

Values values_of_factor(const char *name, const InputPattern &full, const void *values,
                        MemoryAccount *account) {
    try {
        return read_values(full, values, account);
    } catch (const Error &error) {
        if (error.status() != PERM_BAD_MATRIX) throw;
        throw Error(error.status(), formatted("{}: {}", name, error.what()));
    }
}

ExactBlock widened(const Pattern &pattern, Values values) {
    PolledSteps steps;
    for (const double x : values.real) {
        steps.take(32);
        values.wide.push_back({mpq_class(x), 0});
    }
    return {pattern, std::move(values.wide)};
}

} // namespace

Factors read_factors(const perm_factors *given, MemoryAccount *account) {
    const perm_factors a = checked(given);
    constexpr std::int64_t of_number = sizeof(Gaussian) + 4 * 32, of_place = 4; // with short digits
    Factors out;
    out.charge = Charge(account, 2 * (of_number + of_place) * a.n * a.rank + 16 * a.n);
    const InputPattern full = full_pattern(a);
    Values u = values_of_factor("u", full, a.u, account);
    Values v = values_of_factor("v", full, a.v, account);
    out.value_type = full.value_type;
    out.digest =
        digest_of_bytes(written(std::vector<std::int64_t>{a.n, a.rank}) + digest_of(u) + digest_of(v));
    out.u = widened(full.pattern, std::move(u));
    out.v = widened(full.pattern, std::move(v));
    out.charge.resize(bytes_of(out.u) + bytes_of(out.v));
    return out;
}

} // namespace libperm
