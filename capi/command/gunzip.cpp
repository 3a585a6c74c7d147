#include "gunzip.hpp"

#include "file_error.hpp"

#include <fmt/core.h>

#include <new>
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

} // namespace perm
