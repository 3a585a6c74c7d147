// Libraries that libperm can do without, and so loads when it needs them. They are never unloaded: NVIDIA's
// keep threads and handlers of the process's end.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace libperm {

class SharedLibrary {
  public:
    SharedLibrary() = default; // none
    // The first of these names and paths that can be loaded.
    explicit SharedLibrary(const std::vector<std::string> &names);

    // It was loaded, and every symbol that was asked for is there.
    bool complete() const { return handle_ != nullptr && missing_.empty(); }
    const std::string &path() const { return path_; } // of the file
    std::string why_not() const;                      // why each name failed, or which symbols are missing

    template <class Function> void find(Function *&function, const char *name) {
        function = reinterpret_cast<Function *>(symbol(name));
    }

  private:
    void *symbol(const char *name);

    void *handle_ = nullptr;
    std::string path_, failures_, missing_;
};

// An environment variable that may name files to be loaded: "" if it is not set, or if the process has more
// rights than its user.
std::string trusted_environment(const char *name);

} // namespace libperm

namespace libperm::cuda {

// What libperm calls of CUDA's driver and of NVRTC: their binary interfaces, so that no toolkit is needed to
// build. Each member is called as the library's symbol is; results are 0 if all is well.

using Result = int;
using Device = int;
using Address = unsigned long long;
using Context = void *;
using Module = void *;
using Function = void *;
using Stream = void *;
using Program = void *;

enum : Result { // of the driver
    error_out_of_memory = 2,
    error_stub_library = 34,
    error_no_binary_for_gpu = 209,
    error_unsupported_ptx_version = 222,
};

enum DeviceAttribute : int {
    warp_size = 10,
    clock_khz = 13,
    multiprocessor_count = 16,
    memory_clock_khz = 36,
    memory_bus_bits = 37,
    l2_cache_bytes = 38,
    threads_per_multiprocessor = 39,
    capability_major = 75,
    capability_minor = 76,
    registers_per_multiprocessor = 82,
    single_to_double_ratio = 87,
    shared_bytes_per_block_opt_in = 97,
};

enum FunctionAttribute : int { dynamic_shared_bytes = 8 };

enum JitOption : int { error_log = 5, error_log_bytes = 6 };

enum : unsigned { stream_non_blocking = 1 };

struct Driver {
    Result (*cuInit)(unsigned) = nullptr;
    Result (*cuDriverGetVersion)(int *) = nullptr; // 1000 * major + 10 * minor
    Result (*cuGetErrorName)(Result, const char **) = nullptr;
    Result (*cuGetErrorString)(Result, const char **) = nullptr;

    Result (*cuDeviceGetCount)(int *) = nullptr;
    Result (*cuDeviceGet)(Device *, int ordinal) = nullptr;
    Result (*cuDeviceGetName)(char *, int bytes, Device) = nullptr;
    Result (*cuDeviceGetAttribute)(int *, DeviceAttribute, Device) = nullptr;
    Result (*cuDeviceTotalMem_v2)(std::size_t *, Device) = nullptr;

    Result (*cuDevicePrimaryCtxRetain)(Context *, Device) = nullptr;
    Result (*cuDevicePrimaryCtxRelease_v2)(Device) = nullptr;
    Result (*cuCtxPushCurrent_v2)(Context) = nullptr;
    Result (*cuCtxPopCurrent_v2)(Context *) = nullptr;

    Result (*cuMemGetInfo_v2)(std::size_t *free, std::size_t *total) = nullptr;
    Result (*cuMemAlloc_v2)(Address *, std::size_t) = nullptr;
    Result (*cuMemFree_v2)(Address) = nullptr;
    Result (*cuMemHostAlloc)(void **, std::size_t, unsigned flags) = nullptr;
    Result (*cuMemFreeHost)(void *) = nullptr;
    Result (*cuMemcpyHtoDAsync_v2)(Address, const void *, std::size_t, Stream) = nullptr;
    Result (*cuMemcpyDtoHAsync_v2)(void *, Address, std::size_t, Stream) = nullptr;

    Result (*cuStreamCreateWithPriority)(Stream *, unsigned flags, int priority) = nullptr;
    Result (*cuStreamDestroy_v2)(Stream) = nullptr;
    Result (*cuStreamSynchronize)(Stream) = nullptr;

    Result (*cuModuleLoadDataEx)(Module *, const void *image, unsigned options, JitOption *,
                                 void **) = nullptr;
    Result (*cuModuleUnload)(Module) = nullptr;
    Result (*cuModuleGetFunction)(Function *, Module, const char *) = nullptr;
    Result (*cuFuncSetAttribute)(Function, FunctionAttribute, int) = nullptr;
    Result (*cuOccupancyMaxActiveBlocksPerMultiprocessor)(int *, Function, int threads,
                                                          std::size_t dynamic_shared) = nullptr;
    Result (*cuLaunchKernel)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                             unsigned block_y, unsigned block_z, unsigned dynamic_shared, Stream,
                             void **arguments, void **extra) = nullptr;

    // The library is complete() if it has all of them.
    void find_in(SharedLibrary &library);
};

enum : Result { // of NVRTC
    nvrtc_out_of_memory = 1,
    nvrtc_builtins_failed = 7,
};

struct Nvrtc {
    const char *(*nvrtcGetErrorString)(Result) = nullptr;
    Result (*nvrtcVersion)(int *major, int *minor) = nullptr;
    Result (*nvrtcGetNumSupportedArchs)(int *) = nullptr;
    Result (*nvrtcGetSupportedArchs)(int *) = nullptr;
    Result (*nvrtcCreateProgram)(Program *, const char *source, const char *name, int headers,
                                 const char *const *texts, const char *const *names) = nullptr;
    Result (*nvrtcDestroyProgram)(Program *) = nullptr;
    Result (*nvrtcCompileProgram)(Program, int options, const char *const *) = nullptr;
    Result (*nvrtcGetProgramLogSize)(Program, std::size_t *) = nullptr;
    Result (*nvrtcGetProgramLog)(Program, char *) = nullptr;
    Result (*nvrtcGetCUBINSize)(Program, std::size_t *) = nullptr;
    Result (*nvrtcGetCUBIN)(Program, char *) = nullptr;
    Result (*nvrtcGetPTXSize)(Program, std::size_t *) = nullptr;
    Result (*nvrtcGetPTX)(Program, char *) = nullptr;

    void find_in(SharedLibrary &library);
};

inline void Driver::find_in(SharedLibrary &library) {
    library.find(cuInit, "cuInit");
    library.find(cuDriverGetVersion, "cuDriverGetVersion");
    library.find(cuGetErrorName, "cuGetErrorName");
    library.find(cuGetErrorString, "cuGetErrorString");
    library.find(cuDeviceGetCount, "cuDeviceGetCount");
    library.find(cuDeviceGet, "cuDeviceGet");
    library.find(cuDeviceGetName, "cuDeviceGetName");
    library.find(cuDeviceGetAttribute, "cuDeviceGetAttribute");
    library.find(cuDeviceTotalMem_v2, "cuDeviceTotalMem_v2");
    library.find(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
    library.find(cuDevicePrimaryCtxRelease_v2, "cuDevicePrimaryCtxRelease_v2");
    library.find(cuCtxPushCurrent_v2, "cuCtxPushCurrent_v2");
    library.find(cuCtxPopCurrent_v2, "cuCtxPopCurrent_v2");
    library.find(cuMemGetInfo_v2, "cuMemGetInfo_v2");
    library.find(cuMemAlloc_v2, "cuMemAlloc_v2");
    library.find(cuMemFree_v2, "cuMemFree_v2");
    library.find(cuMemHostAlloc, "cuMemHostAlloc");
    library.find(cuMemFreeHost, "cuMemFreeHost");
    library.find(cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync_v2");
    library.find(cuMemcpyDtoHAsync_v2, "cuMemcpyDtoHAsync_v2");
    library.find(cuStreamCreateWithPriority, "cuStreamCreateWithPriority");
    library.find(cuStreamDestroy_v2, "cuStreamDestroy_v2");
    library.find(cuStreamSynchronize, "cuStreamSynchronize");
    library.find(cuModuleLoadDataEx, "cuModuleLoadDataEx");
    library.find(cuModuleUnload, "cuModuleUnload");
    library.find(cuModuleGetFunction, "cuModuleGetFunction");
    library.find(cuFuncSetAttribute, "cuFuncSetAttribute");
    library.find(cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    library.find(cuLaunchKernel, "cuLaunchKernel");
}

inline void Nvrtc::find_in(SharedLibrary &library) {
    library.find(nvrtcGetErrorString, "nvrtcGetErrorString");
    library.find(nvrtcVersion, "nvrtcVersion");
    library.find(nvrtcGetNumSupportedArchs, "nvrtcGetNumSupportedArchs");
    library.find(nvrtcGetSupportedArchs, "nvrtcGetSupportedArchs");
    library.find(nvrtcCreateProgram, "nvrtcCreateProgram");
    library.find(nvrtcDestroyProgram, "nvrtcDestroyProgram");
    library.find(nvrtcCompileProgram, "nvrtcCompileProgram");
    library.find(nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize");
    library.find(nvrtcGetProgramLog, "nvrtcGetProgramLog");
    library.find(nvrtcGetCUBINSize, "nvrtcGetCUBINSize");
    library.find(nvrtcGetCUBIN, "nvrtcGetCUBIN");
    library.find(nvrtcGetPTXSize, "nvrtcGetPTXSize");
    library.find(nvrtcGetPTX, "nvrtcGetPTX");
}

} // namespace libperm::cuda
