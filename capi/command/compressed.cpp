#include "compressed.hpp"

#include "file_text.hpp"

#include <fmt/core.h>
#include <new>
#include <unzip.h>
#include <utility>

namespace perm {
namespace {

constexpr int gzip_alone = 15 + 16; // the largest window, and no other format

Bytef *bytes_at(char *chars) { return reinterpret_cast<Bytef *>(chars); }

} // namespace

GunzipBuffer::GunzipBuffer(std::istream &compressed, std::string name)
    : compressed_(compressed), name_(std::move(name)) {
    if (inflateInit2(&stream_, gzip_alone) != Z_OK) throw std::bad_alloc();
}

GunzipBuffer::~GunzipBuffer() { inflateEnd(&stream_); }

void GunzipBuffer::fail(const std::string &what) const {
    throw FileError(fmt::format("{}: {}", name_, what));
}

void GunzipBuffer::refill() {
    if (stream_.avail_in > 0) return;
    compressed_.read(in_.data(), in_.size());
    if (compressed_.bad()) fail("the file cannot be read");
    stream_.next_in = bytes_at(in_.data());
    stream_.avail_in = static_cast<uInt>(compressed_.gcount());
}

void GunzipBuffer::inflate_some() {
    stream_.next_out = bytes_at(out_.data());
    stream_.avail_out = static_cast<uInt>(out_.size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_STREAM_END) {
        in_member_ = false;
        is_first_ = false;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
        fail(fmt::format(
            "the compressed data are damaged ({}), expected {}", stream_.msg ? stream_.msg : "unknown",
            is_first_ ? "a file that gzip wrote" : "nothing, or more of gzip's, behind their end"));
    }
}

GunzipBuffer::int_type GunzipBuffer::underflow() {
    for (;;) {
        refill();
        if (stream_.avail_in == 0) {
            if (in_member_) fail("the file is truncated: its compressed data have no end");
            return traits_type::eof();
        }
        if (!in_member_) {
            inflateReset(&stream_);
            in_member_ = true;
        }
        inflate_some();
        const std::size_t made = out_.size() - stream_.avail_out;
        if (made == 0) continue;
        setg(out_.data(), out_.data(), out_.data() + made);
        return traits_type::to_int_type(out_.front());
    }
}

GunzipBuffer::pos_type GunzipBuffer::seekoff(off_type offset, std::ios_base::seekdir from,
                                             std::ios_base::openmode which) {
    return from == std::ios_base::beg ? seekpos(offset, which) : pos_type(off_type(-1));
}

GunzipBuffer::pos_type GunzipBuffer::seekpos(pos_type position, std::ios_base::openmode) {
    compressed_.clear();
    if (position != pos_type(0) || !compressed_.seekg(0)) return pos_type(off_type(-1));
    inflateReset(&stream_);
    stream_.avail_in = 0;
    in_member_ = is_first_ = true;
    setg(nullptr, nullptr, nullptr);
    return 0;
}

namespace {

constexpr std::size_t longest_name = 1000;
constexpr int exact_case = 1;

// How minizip reads a C++ stream, which is its "file".
std::istream &stream_of(voidpf file) { return *static_cast<std::istream *>(file); }
voidpf open_stream(voidpf in, const void *, int) { return in; }
uLong read_stream(voidpf, voidpf file, void *to, uLong bytes) {
    std::istream &in = stream_of(file);
    in.read(static_cast<char *>(to), static_cast<std::streamsize>(bytes));
    return static_cast<uLong>(in.gcount());
}
ZPOS64_T tell_stream(voidpf, voidpf file) {
    return static_cast<ZPOS64_T>(std::streamoff(stream_of(file).tellg()));
}
long seek_stream(voidpf, voidpf file, ZPOS64_T offset, int origin) {
    std::istream &in = stream_of(file);
    in.clear();
    const auto from = origin == ZLIB_FILEFUNC_SEEK_SET   ? std::ios::beg
                      : origin == ZLIB_FILEFUNC_SEEK_CUR ? std::ios::cur
                                                         : std::ios::end;
    return in.seekg(static_cast<std::streamoff>(offset), from) ? 0 : -1;
}
int close_stream(voidpf, voidpf) { return 0; }
int error_of_stream(voidpf, voidpf file) { return stream_of(file).bad() ? 1 : 0; }

} // namespace

ZipFile::ZipFile(std::istream &in, std::string name) : name_(std::move(name)) {
    zlib_filefunc64_def functions{open_stream, read_stream,  nullptr,         tell_stream,
                                  seek_stream, close_stream, error_of_stream, &in};
    zip_ = unzOpen2_64(nullptr, &functions);
    if (!zip_)
        fail("the archive's directory is damaged or missing, expected a file as numpy.savez writes it");
    unz_global_info64 about{};
    unzGetGlobalInfo64(zip_, &about);
    members_ = about.number_entry;
}

ZipFile::~ZipFile() { unzClose(zip_); }

void ZipFile::fail(const std::string &what) const {
    throw FileError(member_.empty() ? fmt::format("{}: {}", name_, what)
                                    : fmt::format("{}: {}: {}", name_, perm::quoted(member_), what));
}

std::string ZipFile::first_member() const {
    std::string name(longest_name + 1, '\0');
    unz_file_info64 member{};
    if (unzGoToFirstFile(zip_) != UNZ_OK ||
        unzGetCurrentFileInfo64(zip_, &member, name.data(), longest_name, nullptr, 0, nullptr, 0) != UNZ_OK ||
        member.size_filename >= longest_name)
        fail("the archive's directory is damaged, expected a file as numpy.savez writes it");
    name.resize(member.size_filename);
    return name;
}

bool ZipFile::has(const std::string &member) const {
    return unzLocateFile(zip_, member.c_str(), exact_case) == UNZ_OK;
}

void ZipFile::open(const std::string &member) {
    if (is_open_) unzCloseCurrentFile(zip_);
    is_open_ = false;
    member_ = member;
    unz_file_info64 about{};
    if (unzLocateFile(zip_, member.c_str(), exact_case) != UNZ_OK ||
        unzGetCurrentFileInfo64(zip_, &about, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK)
        fail("this is not in the archive");
    constexpr uLong encrypted = 1;
    if (about.flag & encrypted) fail("this is encrypted, expected no password");
    if (about.compression_method != 0 && about.compression_method != Z_DEFLATED)
        fail(fmt::format("this is compressed by method {}, expected none or deflate, as numpy writes it",
                         about.compression_method));
    if (unzOpenCurrentFile(zip_) != UNZ_OK) fail("the archive is damaged here");
    is_open_ = true;
}

std::size_t ZipFile::read(char *to, std::size_t bytes) {
    if (!is_open_) return 0;
    const int got = unzReadCurrentFile(zip_, to, static_cast<unsigned>(bytes));
    if (got < 0) fail("the compressed data are damaged");
    if (got > 0) return static_cast<std::size_t>(got);
    is_open_ = false;
    if (unzeof(zip_) != 1) fail("the file is truncated here");
    if (unzCloseCurrentFile(zip_) != UNZ_OK) fail("the data are damaged: their checksum differs");
    return 0;
}

ZipMember::int_type ZipMember::underflow() {
    const std::size_t got = zip_.read(buffer_.data(), buffer_.size());
    if (got == 0) return traits_type::eof();
    setg(buffer_.data(), buffer_.data(), buffer_.data() + got);
    return traits_type::to_int_type(buffer_.front());
}

} // namespace perm
