// A stream out of one that gzip compressed.
#pragma once

#include <zlib.h>

#include <array>
#include <istream>
#include <streambuf>
#include <string>

namespace perm {

// Of one member or several. Can be read again from the beginning: seekg(0). Throws FileError, which a stream
// passes on that has its badbit among its exceptions().
class GunzipBuffer : public std::streambuf {
  public:
    GunzipBuffer(std::istream &compressed, std::string name);
    GunzipBuffer(const GunzipBuffer &) = delete;
    GunzipBuffer &operator=(const GunzipBuffer &) = delete;
    ~GunzipBuffer() override;

  protected:
    int_type underflow() override;
    pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode which) override;
    pos_type seekpos(pos_type position, std::ios_base::openmode which) override;

  private:
    void refill();
    void inflate_some();
    [[noreturn]] void fail(const std::string &what) const;

    std::istream &compressed_;
    std::string name_;
    z_stream stream_{};
    bool in_member_ = true; // its end has not come
    bool is_first_ = true;
    std::array<char, 1 << 15> in_, out_;
};

} // namespace perm
