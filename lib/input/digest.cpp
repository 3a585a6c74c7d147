#include "lib/input/digest.hpp"

#include "jit/compile/digest.hpp"

namespace libperm {

std::string digest_of(const Values &values) {
    std::string bytes(reinterpret_cast<const char *>(values.real.data()),
                      values.real.size() * sizeof(double));
    for (const Gaussian &x : values.wide) bytes += x.re.get_str(62) + ' ' + x.im.get_str(62) + '\n';
    return digest_of_bytes(bytes);
}

} // namespace libperm
