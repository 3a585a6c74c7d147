// A stand-in for CUDA's driver with two GPUs and one kernel, for tests of what jit/driver/gpu.cpp asks of the
// real one. Memory is the host's, everything is done at once, and each call that needs a current context
// fails without. FAKE_DRIVER_FAIL=CALL:CODE lets calls of this name fail, CALL:CODE:3 three of them.
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { gpus = 2, deepest = 16, most_calls = 64 };
enum { invalid_value = 1, out_of_memory = 2, no_context = 201, bad_image = 200, not_found = 500 };
typedef unsigned long long address;

static const size_t memory_bytes = (size_t)80 << 30;
static char contexts[gpus];
static _Thread_local void *stack[deepest];
static _Thread_local int depth;

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const char *call;
    int times;
} counts[most_calls];

static int *count_of(const char *call) {
    int k = 0;
    while (counts[k].call != NULL && strcmp(counts[k].call, call) != 0) ++k;
    counts[k].call = call;
    return &counts[k].times;
}

static int failures; // so far

// How many calls of this name succeeded.
EXPORT int fake_driver_count(const char *call) {
    pthread_mutex_lock(&counting);
    int times = 0;
    for (int k = 0; k < most_calls && counts[k].call != NULL; ++k)
        if (strcmp(counts[k].call, call) == 0) times = counts[k].times;
    pthread_mutex_unlock(&counting);
    return times;
}

// How many contexts this thread has pushed; the current one's GPU, or -1.
EXPORT int fake_driver_depth(void) { return depth; }
EXPORT int fake_driver_current(void) { return depth > 0 ? (int)((char *)stack[depth - 1] - contexts) : -1; }

static int finish(const char *call, int result) {
    const char *fail = getenv("FAKE_DRIVER_FAIL");
    const size_t length = strlen(call);
    if (fail != NULL && strncmp(fail, call, length) == 0 && fail[length] == ':') {
        const char *times = strchr(fail + length + 1, ':');
        pthread_mutex_lock(&counting);
        const int fails = times == NULL || failures++ < atoi(times + 1);
        pthread_mutex_unlock(&counting);
        if (fails) return atoi(fail + length + 1);
    }
    if (result != 0) return result;
    pthread_mutex_lock(&counting);
    ++*count_of(call);
    pthread_mutex_unlock(&counting);
    return 0;
}

// Before anything is done; the caller goes on if it is 0.
#define START(condition) const int failed = finish(__func__, (condition) ? 0 : invalid_value)
#define START_IN_CONTEXT() const int failed = finish(__func__, depth > 0 ? 0 : no_context)
#define GO_ON()                                                                                              \
    if (failed) return failed

EXPORT int cuInit(unsigned flags) {
    START(flags == 0);
    return failed;
}

EXPORT int cuDriverGetVersion(int *version) {
    START(version);
    GO_ON();
    *version = 12040;
    return 0;
}

EXPORT int cuGetErrorName(int result, const char **name) {
    *name = result == out_of_memory   ? "CUDA_ERROR_OUT_OF_MEMORY"
            : result == not_found     ? "CUDA_ERROR_NOT_FOUND"
            : result == bad_image     ? "CUDA_ERROR_INVALID_IMAGE"
            : result == no_context    ? "CUDA_ERROR_INVALID_CONTEXT"
            : result == invalid_value ? "CUDA_ERROR_INVALID_VALUE"
                                      : NULL;
    return *name ? 0 : invalid_value;
}

EXPORT int cuGetErrorString(int result, const char **text) {
    *text = result == out_of_memory ? "out of memory" : "the fake driver's text";
    return 0;
}

EXPORT int cuDeviceGetCount(int *count) {
    START(count);
    GO_ON();
    *count = gpus;
    return 0;
}

EXPORT int cuDeviceGet(int *device, int ordinal) {
    START(ordinal >= 0 && ordinal < gpus);
    GO_ON();
    *device = ordinal;
    return 0;
}

EXPORT int cuDeviceGetName(char *name, int bytes, int device) {
    START(device >= 0 && device < gpus && bytes > 0);
    GO_ON();
    snprintf(name, (size_t)bytes, "Fake GPU %d", device);
    return 0;
}

// An H100, and a GeForce of compute capability 8.6.
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
    static const int values[][1 + gpus] = {
        {10, 32, 32},    {13, 1980000, 1695000},  {16, 132, 82},    {36, 2619000, 9501000},
        {37, 5120, 384}, {38, 52428800, 6291456}, {39, 2048, 1536}, {75, 9, 8},
        {76, 0, 6},      {82, 65536, 65536},      {87, 2, 64},      {97, 232448, 101376},
    };
    START(value && device >= 0 && device < gpus);
    GO_ON();
    for (size_t k = 0; k < sizeof values / sizeof *values; ++k)
        if (values[k][0] == attribute) {
            *value = values[k][1 + device];
            return 0;
        }
    return invalid_value;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    START(device >= 0 && device < gpus);
    GO_ON();
    *bytes = memory_bytes;
    return 0;
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
    START(device >= 0 && device < gpus);
    GO_ON();
    *context = &contexts[device];
    return 0;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
    START(device >= 0 && device < gpus);
    return failed;
}

EXPORT int cuCtxPushCurrent_v2(void *context) {
    START(depth < deepest);
    GO_ON();
    stack[depth++] = context;
    return 0;
}

EXPORT int cuCtxPopCurrent_v2(void **context) {
    START_IN_CONTEXT();
    GO_ON();
    *context = stack[--depth];
    return 0;
}

EXPORT int cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    START_IN_CONTEXT();
    GO_ON();
    *free_bytes = memory_bytes - 1000;
    *total = memory_bytes;
    return 0;
}

EXPORT int cuMemAlloc_v2(address *at, size_t bytes) {
    START_IN_CONTEXT();
    GO_ON();
    void *memory = malloc(bytes);
    *at = (address)memory;
    return memory ? 0 : out_of_memory;
}

EXPORT int cuMemFree_v2(address at) {
    START_IN_CONTEXT();
    GO_ON();
    free((void *)at);
    return 0;
}

EXPORT int cuMemHostAlloc(void **at, size_t bytes, unsigned flags) {
    START_IN_CONTEXT();
    GO_ON();
    if (flags != 0) return invalid_value;
    *at = malloc(bytes);
    return *at ? 0 : out_of_memory;
}

EXPORT int cuMemFreeHost(void *at) {
    START_IN_CONTEXT();
    GO_ON();
    free(at);
    return 0;
}

EXPORT int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t bytes, void *stream) {
    START_IN_CONTEXT();
    GO_ON();
    if (!stream) return invalid_value;
    memcpy((void *)to, from, bytes);
    return 0;
}

EXPORT int cuMemcpyDtoHAsync_v2(void *to, address from, size_t bytes, void *stream) {
    START_IN_CONTEXT();
    GO_ON();
    if (!stream) return invalid_value;
    memcpy(to, (const void *)from, bytes);
    return 0;
}

EXPORT int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
    START_IN_CONTEXT();
    GO_ON();
    if (flags != 1 || priority > 0) return invalid_value;
    *stream = malloc(1);
    return 0;
}

EXPORT int cuStreamDestroy_v2(void *stream) {
    START_IN_CONTEXT();
    GO_ON();
    free(stream);
    return 0;
}

EXPORT int cuStreamSynchronize(void *stream) {
    START_IN_CONTEXT();
    GO_ON();
    return stream ? 0 : invalid_value;
}

// An image is any text that begins with "fake", or an ELF file; of others the log complains.
EXPORT int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
    START_IN_CONTEXT();
    GO_ON();
    if (strncmp(image, "fake", 4) == 0 || memcmp(image, "\177ELF", 4) == 0) {
        *module = malloc(1);
        return 0;
    }
    if (count == 2 && options[0] == 5 && options[1] == 6)
        snprintf(values[0], (size_t)values[1], "ptxas fatal : not a fake image");
    return bad_image;
}

EXPORT int cuModuleUnload(void *module) {
    START_IN_CONTEXT();
    GO_ON();
    free(module);
    return 0;
}

// Its kernel doubles the first `count` of the numbers at `from`.
static void twice(void **arguments) {
    double *from = (double *)*(address *)arguments[0];
    const int count = *(int *)arguments[1];
    for (int k = 0; k < count; ++k) from[k] *= 2;
}

static int kernel;

EXPORT int cuModuleGetFunction(void **function, void *module, const char *name) {
    START_IN_CONTEXT();
    GO_ON();
    if (!module || strcmp(name, "twice") != 0) return not_found;
    *function = &kernel;
    return 0;
}

EXPORT int cuFuncSetAttribute(void *function, int attribute, int value) {
    START_IN_CONTEXT();
    GO_ON();
    return function == &kernel && attribute == 8 && value <= 232448 ? 0 : invalid_value;
}

EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
                                                       size_t shared) {
    START_IN_CONTEXT();
    GO_ON();
    if (function != &kernel || threads <= 0 || threads > 1024 || shared > 232448) return invalid_value;
    *blocks = 2048 / threads;
    return 0;
}

EXPORT int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **arguments,
                          void **extra) {
    START_IN_CONTEXT();
    GO_ON();
    if (function != &kernel || !stream || extra || shared > 232448 || grid_x == 0 || block_x == 0 ||
        block_x > 1024 || grid_y * grid_z * block_y * block_z != 1)
        return invalid_value;
    twice(arguments);
    return 0;
}
