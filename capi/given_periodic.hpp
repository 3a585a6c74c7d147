// A caller's periodic matrix, kept: as bytes for other processes, and as perm.h has it again.
#pragma once

#include "capi/given_matrix.hpp"
#include "lib/base/fields.hpp"

#include <perm.h>

namespace capi {

class GivenPeriodic {
  public:
    GivenPeriodic() = default;
    explicit GivenPeriodic(const perm_periodic &a); // which was read, so that it is sound

    // work(the matrix), which is valid within it.
    template <class Work> auto with_view(const Work &work) const {
        const perm_csr cell = cell_.csr(), head = head_.csr(), tail = tail_.csr();
        perm_periodic a = PERM_PERIODIC_INIT;
        a.cell = &cell;
        a.joined = joined_;
        if (has_head_) a.head = &head;
        if (has_tail_) a.tail = &tail;
        return work(a);
    }

    template <class Archive> void serialize(Archive &ar) {
        ar(cell_, head_, tail_);
        libperm::flags(ar, has_head_, has_tail_, joined_);
    }

  private:
    GivenMatrix cell_, head_, tail_;
    bool has_head_ = false, has_tail_ = false, joined_ = false;
};

} // namespace capi
