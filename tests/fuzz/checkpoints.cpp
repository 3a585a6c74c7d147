// Checkpoints with anything behind a right seal, that of the plan within them too: described and gone on
// from.
#include "tests/fuzz/inputs.hpp"
#include "tests/fuzz/sealed.hpp"
#include "tests/support/whole_file.hpp"

#include <filesystem>

namespace {

constexpr const char *engines[] = {"frontier", "tree", "ryser", "tree"};
constexpr const char *precisions[] = {"double", "double", "mpfr:100", "exact"};

perm_opts options_of(std::size_t kind, const std::string &file) {
    perm_opts opts = fuzz::limited();
    opts.engine = engines[kind];
    opts.precision = precisions[kind];
    opts.without = "all";
    opts.checkpoint = file.c_str();
    return opts;
}

std::string file() { return fuzz::scratch_folder() + "/checkpoint"; }

void remove_files() {
    std::error_code none;
    for (const auto &entry : std::filesystem::directory_iterator(fuzz::scratch_folder()))
        std::filesystem::remove_all(entry, none);
}

const std::vector<std::string> &genuine() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> checkpoints;
        for (std::size_t kind = 0; kind < std::size(engines); ++kind) {
            const std::string name = file();
            const fuzz::Band band;
            const perm_opts opts = options_of(kind, name);
            perm_result result = PERM_RESULT_INIT;
            if (perm_compute(&band.csr, &opts, &result) != PERM_OK) fuzz::fail(perm_last_error());
            perm_result_clear(&result);
            checkpoints.push_back(whole_file::read(name));
            remove_files();
        }
        return checkpoints;
    }();
    return all;
}

} // namespace

void fuzz::run(std::string_view input) {
    Bytes bytes(input);
    const std::size_t kind = bytes.bits(1) % std::size(engines);
    const std::string name = file();
    whole_file::write(name, sealed_like(genuine()[kind], std::string(bytes.rest())));
    std::size_t needed = 0;
    for (const perm_format format : {PERM_FORMAT_TEXT, PERM_FORMAT_JSON})
        require(perm_checkpoint_describe(name.c_str(), format, nullptr, 0, &needed) != PERM_INTERNAL,
                perm_last_error());
    const Band band;
    const perm_opts opts = options_of(kind, name);
    perm_result result = PERM_RESULT_INIT;
    check_call(perm_compute(&band.csr, &opts, &result), result);
    remove_files();
}

std::vector<std::string> fuzz::seeds() {
    std::vector<std::string> inputs;
    for (std::size_t kind = 0; kind < std::size(engines); ++kind)
        inputs.push_back(std::string(1, static_cast<char>(kind)) + payload_of(genuine()[kind]));
    return inputs;
}
