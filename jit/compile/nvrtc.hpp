// NVRTC, NVIDIA's run-time compiler, loaded when it is first asked for. It needs no GPU.
#pragma once

#include <string>
#include <vector>

namespace libperm {

// What was found of it; never throws.
struct NvrtcStatus {
    bool found = false;
    std::string path;               // of the library
    std::string version;            // "13.0"
    std::string why_not;            // if not found: what was looked for, and what to do
    std::vector<int> architectures; // compute capabilities that it compiles for, ascending: 75, 80, ..., 90
};
const NvrtcStatus &nvrtc_status();

struct Compiled {
    std::string image; // a cubin for "sm_90", PTX for "compute_90"
    std::string log;   // NVRTC's and ptxas'
};

// `target`: "sm_90" or "compute_90". `flags`: of NVRTC, besides --gpu-architecture. Throws JitError
// (unavailable, compile). May be called by many threads at once.
Compiled compile(const std::string &source, const std::string &target, const std::vector<std::string> &flags);

// Compiles next to nothing, once a process, beside other work: the first program takes NVRTC a tenth of a
// second longer than the others.
void begin_nvrtc() noexcept;

// What to compile for a device of this compute capability with the NVRTC that there is: a cubin if it knows
// the device or one of the same major version below it, else PTX of the newest that it knows, for the driver
// to finish. Throws JitError (unavailable).
std::string target_for(int compute_capability);

} // namespace libperm
