#include "tests/support/packed_files.hpp"

#include <zlib.h>

#include <stdexcept>

namespace packed {
namespace {

std::string little(std::uint64_t number, int bytes) {
    std::string text;
    for (int k = 0; k < bytes; ++k) text += static_cast<char>(number >> (8 * k));
    return text;
}

// window: of zlib, 16 more for gzip's header, negative for none.
std::string deflated_text(std::string_view text, int window) {
    z_stream stream{};
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("deflateInit2");
    std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
    std::string in(text);
    stream.next_in = reinterpret_cast<Bytef *>(in.data());
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef *>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    const int status = deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    if (status != Z_STREAM_END) throw std::runtime_error("deflate");
    return packed;
}

} // namespace

std::string gzipped(std::string_view text) { return deflated_text(text, 15 + 16); }

std::string zipped(const std::vector<Member> &members, bool deflated) {
    std::string all, directory;
    for (const Member &member : members) {
        const std::string data = deflated ? deflated_text(member.bytes, -15) : member.bytes;
        const uLong sum = crc32(0, reinterpret_cast<const Bytef *>(member.bytes.data()),
                                static_cast<uInt>(member.bytes.size()));
        const std::string about = little(20, 2) + little(0, 2) + little(deflated ? 8 : 0, 2) + little(0, 4) +
                                  little(sum, 4) + little(data.size(), 4) + little(member.bytes.size(), 4) +
                                  little(member.name.size(), 2) + little(0, 2);
        directory += "PK\1\2" + little(20, 2) + about + little(0, 2) + little(0, 2) + little(0, 2) +
                     little(0, 4) + little(all.size(), 4) + member.name;
        all += "PK\3\4" + about + member.name + data;
    }
    const std::string end = "PK\5\6" + little(0, 4) + little(members.size(), 2) + little(members.size(), 2) +
                            little(directory.size(), 4) + little(all.size(), 4) + little(0, 2);
    return all + directory + end;
}

std::string npy_of_header(const std::string &header, const std::string &elements, int version) {
    const int bytes = version == 1 ? 2 : 4;
    return "\x93NUMPY" + little(static_cast<std::uint64_t>(version), 1) + little(0, 1) +
           little(header.size(), bytes) + header + elements;
}

std::string npy(const std::string &type, const std::string &shape, const std::string &elements,
                bool by_columns, int version) {
    return npy_of_header("{'descr': '" + type + "', 'fortran_order': " + (by_columns ? "True" : "False") +
                             ", 'shape': " + shape + ", }   \n",
                         elements, version);
}

std::vector<Member> scipy_members(const std::string &format, std::int64_t n_rows, std::int64_t n_cols,
                                  const Member &first, const Member &second, const std::string &data) {
    return {first,
            second,
            {"format.npy", npy("|S3", "()", format)},
            {"shape.npy", npy("<i8", "(2,)", bytes_of<std::int64_t>({n_rows, n_cols}))},
            {"data.npy", data}};
}

} // namespace packed
