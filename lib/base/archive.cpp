#include "lib/base/archive.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"

namespace libperm {
namespace {

// Behind the magic; then comes the payload.
struct Header {
    std::uint32_t format = 0;
    std::string version = PERM_VERSION_STRING;
    std::uint64_t payload_bytes = 0;
    std::string payload_digest;

    template <class Archive> void serialize(Archive &ar) {
        ar(format, version, payload_bytes, payload_digest);
    }
};

} // namespace

void fail_cut_off(const Seal &seal) {
    throw Error(PERM_BAD_ARGUMENT,
                formatted("{} is cut off: pass all of the bytes that {} wrote", seal.name, seal.written_by));
}

void fail_damaged(const Seal &seal, const DamagedField &field) {
    throw Error(PERM_BAD_ARGUMENT, formatted("{} is damaged, for this was never written: {}; {}", seal.name,
                                             field.what(), seal.again));
}

std::string sealed(const Seal &seal, std::string_view payload) {
    Header header;
    header.format = seal.format;
    header.payload_bytes = payload.size();
    header.payload_digest = digest_of_bytes(payload);
    return std::string(seal.magic) + written(header) + std::string(payload);
}

std::string_view unsealed(const Seal &seal, std::string_view bytes) {
    const std::string_view word = bytes.substr(0, seal.magic.size());
    const bool is_former = word.size() == seal.magic.size() && seal.former.find(word) != seal.former.npos;
    if (!is_former && !seal.magic.starts_with(word))
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("these bytes are not {}: pass what {} wrote", seal.name, seal.written_by));
    bytes.remove_prefix(word.size());
    std::string_view beginning = bytes; // another format may go on otherwise
    const auto format = read_payload<std::uint32_t>(seal, beginning);
    if (is_former || format != seal.format)
        throw Error(PERM_UNSUPPORTED, formatted("{} is of format {}, this libperm reads format {}: {}",
                                                seal.name, format, seal.format, seal.again));
    const auto header = read_payload<Header>(seal, bytes);
    if (header.version != PERM_VERSION_STRING)
        throw Error(
            PERM_UNSUPPORTED,
            formatted("{} was written by libperm {:.40}, this is libperm {}, and only the same version "
                      "gives the same bits: {}",
                      seal.name, header.version, PERM_VERSION_STRING, seal.again));
    if (bytes.size() < header.payload_bytes) fail_cut_off(seal);
    if (bytes.size() > header.payload_bytes)
        throw Error(PERM_BAD_ARGUMENT, formatted("{} is followed by {} other bytes: pass it alone", seal.name,
                                                 bytes.size() - header.payload_bytes));
    if (digest_of_bytes(bytes) != header.payload_digest)
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("{} is damaged, its checksum is another: copy it or make it again", seal.name));
    return bytes;
}

} // namespace libperm
