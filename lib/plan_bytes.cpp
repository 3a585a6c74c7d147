#include "lib/plan_bytes.hpp"

#include "jit/cache_file.hpp"
#include "lib/error.hpp"
#include "lib/saved_fields.hpp"

#include <fmt/format.h>
#include <sstream>

namespace libperm {
namespace {

constexpr std::string_view magic = "PERMPLAN";
constexpr std::uint32_t format = 1; // to be raised with every change of lib/saved_fields.hpp

// Behind the magic; then comes the payload.
struct Header {
    std::uint32_t format = libperm::format;
    std::string version = PERM_VERSION_STRING;
    std::uint64_t payload_bytes = 0;
    std::string payload_digest;

    template <class Archive> void serialize(Archive &ar) {
        ar(format);
        require_format(format);
        ar(version, payload_bytes, payload_digest);
    }

  private:
    static void require_format(std::uint32_t found) {
        if (found != libperm::format)
            throw Error(PERM_UNSUPPORTED, fmt::format("the plan was saved in format {}, this libperm reads "
                                                      "format {}: make the plan anew and save it again",
                                                      found, libperm::format));
    }
};

template <class Content> std::string written(const Content &content) {
    std::ostringstream stream;
    cereal::PortableBinaryOutputArchive archive(stream,
                                                cereal::PortableBinaryOutputArchive::Options::LittleEndian());
    archive(content);
    return std::move(stream).str();
}

[[noreturn]] void fail_cut_off() {
    throw Error(PERM_BAD_ARGUMENT,
                "the saved plan is cut off: pass all of the bytes that perm_plan_save wrote");
}

// What the bytes begin with; they go on behind it.
template <class Content> Content read(std::string_view &bytes) {
    std::istringstream stream{std::string(bytes)};
    Content content;
    try {
        cereal::PortableBinaryInputArchive archive(stream);
        archive(content);
    } catch (const cereal::Exception &) { // no more bytes
        fail_cut_off();
    }
    bytes.remove_prefix(static_cast<std::size_t>(stream.tellg()));
    return content;
}

std::string_view checked_payload(std::string_view bytes) {
    if (bytes.size() < magic.size() ? !magic.starts_with(bytes) : !bytes.starts_with(magic))
        throw Error(PERM_BAD_ARGUMENT, "these bytes are no saved plan: pass what perm_plan_save wrote");
    bytes.remove_prefix(std::min(magic.size(), bytes.size()));
    const auto header = read<Header>(bytes);
    if (header.version != PERM_VERSION_STRING)
        throw Error(
            PERM_UNSUPPORTED,
            fmt::format("the plan was saved by libperm {:.40}, this is libperm {}, and only the same version "
                        "gives the same bits: make the plan anew and save it again",
                        header.version, PERM_VERSION_STRING));
    if (bytes.size() < header.payload_bytes) fail_cut_off();
    if (bytes.size() > header.payload_bytes)
        throw Error(PERM_BAD_ARGUMENT,
                    fmt::format("the saved plan is followed by {} other bytes: pass it alone",
                                bytes.size() - header.payload_bytes));
    if (cache_key_hash(bytes) != header.payload_digest)
        throw Error(PERM_BAD_ARGUMENT,
                    "the saved plan is damaged, its checksum is another: copy it or save it again");
    return bytes;
}

// The plan's options with the caller's threads, limits, cache and callbacks.
class OptionMerge {
  public:
    OptionMerge(const Options &plan, const Options &caller) : plan_(plan), caller_(caller), merged_(caller) {}

    Options run() {
        take("engine", &Options::engine);
        take("device", &Options::device);
        take("precision", &Options::precision);
        take("precision", &Options::mpfr_bits);
        take("tolerance", &Options::tolerance);
        take("seed", &Options::seed);
        take("without", &Options::passes);
        take("decompose", &Options::decompose_as_published);
        take("chunks", &Options::equal_chunks);
        return merged_;
    }

  private:
    // What is as it is by default was not asked for.
    template <class Value> void take(const char *name, Value Options::*option) {
        const Value &given = caller_.*option, &own = plan_.*option;
        if (!(given == own) && !(given == Options().*option))
            throw Error(PERM_BAD_OPTION,
                        fmt::format("the saved plan was made with another {0}: leave {0} out, or "
                                    "make a plan anew",
                                    name));
        merged_.*option = own;
    }

    const Options &plan_, &caller_;
    Options merged_;
};

} // namespace

std::string bytes_of(const Plan &plan) {
    const std::string payload = written(saved(plan));
    Header header;
    header.payload_bytes = payload.size();
    header.payload_digest = cache_key_hash(payload);
    return std::string(magic) + written(header) + payload;
}

Plan plan_of(std::string_view bytes, const Options &caller) {
    std::string_view payload = checked_payload(bytes);
    auto content = read<SavedPlan>(payload);
    require(payload.empty(), "bytes behind its end");
    const Options options = OptionMerge(content.plan.options, caller).run();
    return restored(std::move(content), options);
}

std::string digest_of(const Plan &plan) { return cache_key_hash(written(without_predictions(saved(plan)))); }

} // namespace libperm
