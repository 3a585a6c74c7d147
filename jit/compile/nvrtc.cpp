#include "jit/compile/nvrtc.hpp"

#include "jit/driver/cuda_libraries.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/text/text.hpp"

#include <algorithm>
#include <mutex>
#include <new>

namespace libperm {
namespace {

// As the dynamic linker finds it, then where toolkits are installed.
std::vector<std::string> likely_places() {
    const std::vector<std::string> names{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    std::vector<std::string> places = names;
    for (const std::string &toolkit :
         {trusted_environment("CUDA_HOME"), trusted_environment("CUDA_PATH"), std::string("/usr/local/cuda")})
        for (const std::string &name : names)
            if (const std::string place = formatted("{}/lib64/{}", toolkit, name);
                !toolkit.empty() && std::find(places.begin(), places.end(), place) == places.end())
                places.push_back(place);
    return places;
}

struct Loaded {
    const std::string chosen = trusted_environment("PERM_NVRTC");
    SharedLibrary library{chosen.empty() ? likely_places() : std::vector{chosen}};
    const cuda::Nvrtc nvrtc{library};
    NvrtcStatus status;
};

// NVRTC asks the dynamic linker for its second half by name alone, which finds it in a folder that the linker
// does not search only if it is loaded already. If it is not there either, NVRTC itself will say so.
void load_builtins_beside(const NvrtcStatus &status) {
    const auto slash = status.path.rfind('/');
    if (slash == std::string::npos) return;
    const std::string folder = status.path.substr(0, slash);
    const SharedLibrary kept({formatted("{}/libnvrtc-builtins.so.{}", folder, status.version)});
}

// Fills in the status as far as it gets, and returns what stopped it, or "".
std::string start_nvrtc(Loaded &loaded) {
    const SharedLibrary &library = loaded.library;
    const cuda::Nvrtc &nvrtc = loaded.nvrtc;
    NvrtcStatus &status = loaded.status;
    status.path = library.path();
    if (!library.complete() && !loaded.chosen.empty())
        return "no NVRTC where PERM_NVRTC says: " + library.why_not();
    if (!library.complete())
        return formatted("no NVRTC: {}. It comes with NVIDIA's CUDA toolkit, 12.1 or newer; PERM_NVRTC can "
                         "name the library's file",
                         library.why_not());

    int major = 0, minor = 0, count = 0;
    auto result = nvrtc.nvrtcVersion(&major, &minor);
    status.version = formatted("{}.{}", major, minor);
    if (result == 0) result = nvrtc.nvrtcGetNumSupportedArchs(&count);
    status.architectures.resize(static_cast<std::size_t>(std::max(count, 0)));
    if (result == 0 && count > 0) result = nvrtc.nvrtcGetSupportedArchs(status.architectures.data());
    std::sort(status.architectures.begin(), status.architectures.end());
    load_builtins_beside(status);
    if (result == 0 && count > 0) return "";
    return formatted("no NVRTC: {} does not say what it compiles for: {}", status.path,
                     nvrtc.nvrtcGetErrorString(result));
}

// Made once and never destroyed: threads may compile at the process's very end.
const Loaded &loaded_nvrtc() {
    static const Loaded &once = [&]() -> Loaded & {
        auto &loaded = *new Loaded;
        loaded.status.why_not = start_nvrtc(loaded);
        loaded.status.found = loaded.status.why_not.empty();
        return loaded;
    }();
    return once;
}

const cuda::Nvrtc &found_nvrtc() {
    const Loaded &loaded = loaded_nvrtc();
    if (!loaded.status.found) throw JitError(JitFailure::unavailable, loaded.status.why_not);
    return loaded.nvrtc;
}

// `log` is of NVRTC, or empty.
void check(const cuda::Nvrtc &nvrtc, cuda::Result result, const char *call, const std::string &log = "") {
    if (result == 0) return;
    if (result == cuda::nvrtc_out_of_memory) throw std::bad_alloc();
    const bool broken = result == cuda::nvrtc_builtins_failed; // a part of it is not installed
    throw JitError(broken ? JitFailure::unavailable : JitFailure::compile,
                   formatted("{} of NVRTC {}: {}{}{}", call, nvrtc_status().version,
                             nvrtc.nvrtcGetErrorString(result), log.empty() ? "" : "\n", log));
}

class Program {
  public:
    Program(const cuda::Nvrtc &nvrtc, const std::string &source) : nvrtc_(nvrtc) {
        check(nvrtc_, nvrtc_.nvrtcCreateProgram(&handle_, source.c_str(), "libperm.cu", 0, nullptr, nullptr),
              "nvrtcCreateProgram");
    }
    ~Program() { (void)nvrtc_.nvrtcDestroyProgram(&handle_); }
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;
    cuda::Program handle() const { return handle_; }

    using Size = decltype(cuda::Nvrtc::nvrtcGetPTXSize);
    using Text = decltype(cuda::Nvrtc::nvrtcGetPTX);
    std::string result(Size size, Text text, const char *call) const {
        std::size_t bytes = 0;
        check(nvrtc_, size(handle_, &bytes), call);
        std::string it(bytes, '\0');
        if (bytes > 0) check(nvrtc_, text(handle_, it.data()), call);
        return it;
    }

  private:
    const cuda::Nvrtc &nvrtc_;
    cuda::Program handle_ = nullptr;
};

// NVRTC's texts count the zero at their end.
std::string without_zeros(std::string text) {
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
}

} // namespace

const NvrtcStatus &nvrtc_status() { return loaded_nvrtc().status; }

Compiled compile(const std::string &source, const std::string &target,
                 const std::vector<std::string> &flags) {
    const cuda::Nvrtc &nvrtc = found_nvrtc();
    const Program program(nvrtc, source);
    const std::string architecture = "--gpu-architecture=" + target;
    std::vector options{architecture.c_str()};
    for (const std::string &flag : flags) options.push_back(flag.c_str());
    const auto result =
        nvrtc.nvrtcCompileProgram(program.handle(), static_cast<int>(options.size()), options.data());
    const std::string log = without_zeros(
        program.result(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, "nvrtcGetProgramLog"));
    check(nvrtc, result, ("nvrtcCompileProgram for " + target).c_str(), log);
    if (target.starts_with("sm_"))
        return {program.result(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, "nvrtcGetCUBIN"), log};
    return {without_zeros(program.result(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, "nvrtcGetPTX")), log};
}

void begin_nvrtc() noexcept {
    static std::once_flag once;
    std::call_once(once, []() noexcept {
        if (!nvrtc_status().found) return;
        try {
            (void)compile("extern \"C\" __global__ void begin(double *x) { *x += 1; }",
                          formatted("sm_{}", nvrtc_status().architectures.back()), {});
        } catch (...) { // told to who compiles a kernel
        }
    });
}

std::string target_for(int compute_capability) {
    const NvrtcStatus &status = nvrtc_status();
    if (!status.found) throw JitError(JitFailure::unavailable, status.why_not);
    const auto above =
        std::upper_bound(status.architectures.begin(), status.architectures.end(), compute_capability);
    if (above == status.architectures.begin())
        throw JitError(
            JitFailure::unavailable,
            formatted("the GPU's compute capability {}.{} is older than anything NVRTC {} compiles for; "
                      "the oldest is {}.{}",
                      compute_capability / 10, compute_capability % 10, status.version, *above / 10,
                      *above % 10));
    // A cubin runs on its own and later minor versions, PTX on everything later.
    const int below = *std::prev(above);
    return formatted("{}_{}", below / 10 == compute_capability / 10 ? "sm" : "compute", below);
}

} // namespace libperm
