#include "tests/record/host.hpp"

#include "tests/record/played.hpp"
#include "tests/support/set_gates.hpp"

using perm::families::Random;

namespace {

// `memory`: with less of it fewer tables are kept, and some are made again.
std::string sets_text(HostQueue &queue, const MatchingInput &input, std::int64_t memory) {
    const auto found = gates::found_in(input, {.memory = memory, .device = &queue});
    if (!found) return "none";
    const libperm::Scaled &sum = found->value.value;
    return fmt::format("value={},{} rel={} marginals={} bounds={}", bits_of(sum.mantissa), sum.exp2,
                       bits_of(found->value.rel_error_bound), digest_of(found->marginals),
                       digest_of(found->bounds));
}

} // namespace

void record_sets(RecordLines &to) {
    struct Size {
        std::int64_t rows, cols;
        double density;
    };
    HostQueue queue;
    for (const Size &size : {Size{0, 4, 1}, Size{5, 8, 1}, Size{9, 12, 0.5}, Size{13, 20, 0.6}})
        for (const auto &[name, draw] : {std::pair<const char *, gates::Draw>{"uniform", gates::uniform},
                                         {"far_apart", gates::far_apart}}) {
            Random random(static_cast<std::uint64_t>(size.cols));
            const MatchingInput input(gates::drawn(random, size.rows, size.cols, size.density, draw),
                                      PERM_VALUE_F64, random);
            for (const int megabytes : {1024, 4})
                record_on(to, fmt::format("sets/{}x{}/{}/{}MB", size.rows, size.cols, name, megabytes), queue,
                          [&](HostQueue &q) { return sets_text(q, input, std::int64_t{megabytes} << 20); });
        }
}
