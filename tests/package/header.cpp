// perm.hpp before anything else, twice: it needs no other header and guards itself.
#include <perm.hpp>

perm::Result header_alone(const perm::Csr &a) { return perm::compute(a); }
