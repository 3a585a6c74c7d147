// What can go wrong between a kernel's source and its run. lib/ turns it into a status.
#pragma once

#include <stdexcept>
#include <string>

namespace libperm {

enum class JitFailure {
    unavailable,   // no driver, no NVRTC, no GPU, or one too old: the text says what was looked for
    compile,       // NVRTC refused the source: a defect of the generator, the text holds NVRTC's log
    device,        // a call of the driver failed, the text holds the driver's
    out_of_memory, // of the GPU
};

class JitError : public std::runtime_error {
  public:
    JitError(JitFailure failure, const std::string &text) : std::runtime_error(text), failure_(failure) {}
    JitFailure failure() const noexcept { return failure_; }

  private:
    JitFailure failure_;
};

} // namespace libperm
