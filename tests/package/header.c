/* perm.h before anything else, twice: it needs no other header and guards itself. C11, compiled as C++11 too.
 */
#include <perm.h>

static const perm_csr a = PERM_CSR_INIT;
static const perm_opts opts = PERM_OPTS_INIT;
static const perm_result result = PERM_RESULT_INIT;

int header_alone(void);
int header_alone(void) { return a.struct_size && opts.struct_size && result.struct_size; }
