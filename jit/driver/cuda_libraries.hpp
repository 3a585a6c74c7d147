// Libraries that libperm can do without, and so loads when it needs them. They are never unloaded: NVIDIA's
// keep threads and handlers of the process's end.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace libperm {

class SharedLibrary {
  public:
    // The first of these names and paths that can be loaded.
    explicit SharedLibrary(const std::vector<std::string> &names);

    // A function, by its name; null if it is missing.
    class Symbol {
      public:
        explicit Symbol(void *address) : address_(address) {}
        template <class Function> operator Function *() const { // NOLINT(google-explicit-constructor)
            return reinterpret_cast<Function *>(address_);
        }

      private:
        void *address_;
    };
    Symbol find(const char *name);

    // It was loaded, and every symbol that was asked for is there.
    bool complete() const { return handle_ != nullptr && missing_.empty(); }
    const std::string &path() const { return path_; } // of the file
    std::string why_not() const;                      // why each name failed, or which symbols are missing

  private:
    void *handle_ = nullptr;
    std::string path_, failures_, missing_;
};

// An environment variable that may name files to be loaded: "" if it is not set, or if the process has more
// rights than its user.
std::string trusted_environment(const char *name);

} // namespace libperm

namespace libperm::cuda {

// What libperm calls of CUDA's driver and of NVRTC: their binary interfaces, so that no toolkit is needed to
// build. Each function has the name of the library's symbol; results are 0 if all is well.

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

struct Driver { // complete, if the library is
    SharedLibrary &library;

    Result (*cuInit)(unsigned) = library.find("cuInit");
    Result (*cuDriverGetVersion)(int *) = library.find("cuDriverGetVersion"); // 1000 * major + 10 * minor
    Result (*cuGetErrorName)(Result, const char **) = library.find("cuGetErrorName");
    Result (*cuGetErrorString)(Result, const char **) = library.find("cuGetErrorString");

    Result (*cuDeviceGetCount)(int *) = library.find("cuDeviceGetCount");
    Result (*cuDeviceGet)(Device *, int ordinal) = library.find("cuDeviceGet");
    Result (*cuDeviceGetName)(char *, int bytes, Device) = library.find("cuDeviceGetName");
    Result (*cuDeviceGetAttribute)(int *, DeviceAttribute, Device) = library.find("cuDeviceGetAttribute");
    Result (*cuDeviceTotalMem_v2)(std::size_t *, Device) = library.find("cuDeviceTotalMem_v2");

    Result (*cuDevicePrimaryCtxRetain)(Context *, Device) = library.find("cuDevicePrimaryCtxRetain");
    Result (*cuDevicePrimaryCtxRelease_v2)(Device) = library.find("cuDevicePrimaryCtxRelease_v2");
    Result (*cuCtxPushCurrent_v2)(Context) = library.find("cuCtxPushCurrent_v2");
    Result (*cuCtxPopCurrent_v2)(Context *) = library.find("cuCtxPopCurrent_v2");

    Result (*cuMemGetInfo_v2)(std::size_t *free, std::size_t *total) = library.find("cuMemGetInfo_v2");
    Result (*cuMemAlloc_v2)(Address *, std::size_t) = library.find("cuMemAlloc_v2");
    Result (*cuMemFree_v2)(Address) = library.find("cuMemFree_v2");
    Result (*cuMemHostAlloc)(void **, std::size_t, unsigned flags) = library.find("cuMemHostAlloc");
    Result (*cuMemFreeHost)(void *) = library.find("cuMemFreeHost");
    Result (*cuMemcpyHtoDAsync_v2)(Address, const void *, std::size_t,
                                   Stream) = library.find("cuMemcpyHtoDAsync_v2");
    Result (*cuMemcpyDtoHAsync_v2)(void *, Address, std::size_t,
                                   Stream) = library.find("cuMemcpyDtoHAsync_v2");

    Result (*cuStreamCreateWithPriority)(Stream *, unsigned flags,
                                         int priority) = library.find("cuStreamCreateWithPriority");
    Result (*cuStreamDestroy_v2)(Stream) = library.find("cuStreamDestroy_v2");
    Result (*cuStreamSynchronize)(Stream) = library.find("cuStreamSynchronize");

    Result (*cuModuleLoadDataEx)(Module *, const void *image, unsigned options, JitOption *,
                                 void **) = library.find("cuModuleLoadDataEx");
    Result (*cuModuleUnload)(Module) = library.find("cuModuleUnload");
    Result (*cuModuleGetFunction)(Function *, Module, const char *) = library.find("cuModuleGetFunction");
    Result (*cuFuncSetAttribute)(Function, FunctionAttribute, int) = library.find("cuFuncSetAttribute");
    Result (*cuOccupancyMaxActiveBlocksPerMultiprocessor)(int *, Function, int threads,
                                                          std::size_t dynamic_shared) =
        library.find("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    Result (*cuLaunchKernel)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                             unsigned block_y, unsigned block_z, unsigned dynamic_shared, Stream,
                             void **arguments, void **extra) = library.find("cuLaunchKernel");
};

enum : Result { // of NVRTC
    nvrtc_out_of_memory = 1,
    nvrtc_builtins_failed = 7,
};

struct Nvrtc {
    SharedLibrary &library;

    const char *(*nvrtcGetErrorString)(Result) = library.find("nvrtcGetErrorString");
    Result (*nvrtcVersion)(int *major, int *minor) = library.find("nvrtcVersion");
    Result (*nvrtcGetNumSupportedArchs)(int *) = library.find("nvrtcGetNumSupportedArchs");
    Result (*nvrtcGetSupportedArchs)(int *) = library.find("nvrtcGetSupportedArchs");
    Result (*nvrtcCreateProgram)(Program *, const char *source, const char *name, int headers,
                                 const char *const *texts,
                                 const char *const *names) = library.find("nvrtcCreateProgram");
    Result (*nvrtcDestroyProgram)(Program *) = library.find("nvrtcDestroyProgram");
    Result (*nvrtcCompileProgram)(Program, int options,
                                  const char *const *) = library.find("nvrtcCompileProgram");
    Result (*nvrtcGetProgramLogSize)(Program, std::size_t *) = library.find("nvrtcGetProgramLogSize");
    Result (*nvrtcGetProgramLog)(Program, char *) = library.find("nvrtcGetProgramLog");
    Result (*nvrtcGetCUBINSize)(Program, std::size_t *) = library.find("nvrtcGetCUBINSize");
    Result (*nvrtcGetCUBIN)(Program, char *) = library.find("nvrtcGetCUBIN");
    Result (*nvrtcGetPTXSize)(Program, std::size_t *) = library.find("nvrtcGetPTXSize");
    Result (*nvrtcGetPTX)(Program, char *) = library.find("nvrtcGetPTX");
};

} // namespace libperm::cuda
