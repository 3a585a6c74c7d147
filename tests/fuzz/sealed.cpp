#include "tests/fuzz/sealed.hpp"

#include "tests/support/sealed_bytes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace fuzz {
namespace {

using sealed_bytes::header_bytes;
constexpr std::size_t length_at = header_bytes - 32 - 8 - 8;

std::uint64_t length_in(std::string_view header) {
    std::uint64_t length = 0;
    std::memcpy(&length, header.data() + length_at, sizeof length);
    return length;
}

// Behind each magic word, the innermost first.
void seal_within(std::string &payload) {
    for (std::size_t end = payload.size();;) {
        const std::size_t at = end == 0 ? std::string::npos : payload.rfind("PERMP", end - 1);
        if (at == std::string::npos) return;
        end = at;
        if (payload.size() - at < header_bytes) continue;
        const std::uint64_t length = length_in(std::string_view(payload).substr(at));
        if (length > payload.size() - at - header_bytes) continue;
        payload.replace(at, header_bytes + length,
                        sealed_bytes::with_digest(payload.substr(at, header_bytes + length)));
    }
}

} // namespace

std::string payload_of(const std::string &bytes) { return bytes.substr(header_bytes); }

std::string sealed_like(const std::string &genuine, std::string payload) {
    seal_within(payload);
    std::string bytes = genuine.substr(0, header_bytes);
    const std::uint64_t length = payload.size();
    std::memcpy(bytes.data() + length_at, &length, sizeof length);
    return sealed_bytes::with_digest(bytes + payload);
}

std::string scratch_folder() {
    static const TemporaryFolder folder;
    return folder.path();
}

} // namespace fuzz
