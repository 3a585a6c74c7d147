// libFuzzer has the seeds from a folder: PERM_FUZZ_CORPUS names where they are written before it begins.
#include "tests/fuzz/target.hpp"

#include <cstdlib>
#include <fstream>

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
    if (const char *folder = std::getenv("PERM_FUZZ_CORPUS")) {
        const std::vector<std::string> inputs = fuzz::seeds();
        for (std::size_t k = 0; k < inputs.size(); ++k)
            std::ofstream(std::string(folder) + "/seed" + std::to_string(k), std::ios::binary) << inputs[k];
    }
    return 0;
}
