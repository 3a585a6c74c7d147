#include "capi/given_periodic.hpp"

#include "lib/base/struct_size.hpp"

#include <cstddef>

namespace capi {
namespace {

GivenMatrix part_of(const perm_csr *given) {
    if (!given) return {};
    const perm_csr a = libperm::read_known(*given, offsetof(perm_csr, row_multiplicity), "perm_csr");
    return {a, a.values, a.nnz};
}

} // namespace

GivenPeriodic::GivenPeriodic(const perm_periodic &a)
    : cell_(part_of(a.cell)),
      head_(part_of(a.head)),
      tail_(part_of(a.tail)),
      has_head_(a.head != nullptr),
      has_tail_(a.tail != nullptr),
      joined_(a.joined != 0) {}

} // namespace capi
