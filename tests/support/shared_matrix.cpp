#include "tests/support/shared_matrix.hpp"

#include "capi/command/matrix_file.hpp"
#include "tests/support/run.hpp"

#include <cstdlib>
#include <filesystem>

bool shared_matrix(const std::string &name, perm::Csr &a) {
    const char *folder = std::getenv("PERM_MATRIX_DIR");
    const std::filesystem::path path =
        std::filesystem::path(folder != nullptr ? folder : PERM_SHARED_MATRICES) / (name + ".mtx");
    if (!std::filesystem::exists(path)) {
        run::skip("no file " + name + ".mtx (PERM_MATRIX_DIR names the folder)");
        return false;
    }
    a = perm::read_matrix_file(path.string());
    return true;
}
