// Streams out of what is compressed: a file of gzip's, and the members of a zip archive, such as .npz files
// are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <streambuf>
#include <string>
#include <zlib.h>

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

// The members of a zip archive, such as .npz files are, each as a stream.

class ZipFile {
  public:
    // Of a stream that can seek, and that outlives it. Throws FileError, as the others do.
    ZipFile(std::istream &in, std::string name);
    ZipFile(const ZipFile &) = delete;
    ZipFile &operator=(const ZipFile &) = delete;
    ~ZipFile();

    std::uint64_t members() const { return members_; } // how many
    std::string first_member() const;
    bool has(const std::string &member) const;

    // Before one is read; one at a time.
    void open(const std::string &member);
    std::size_t read(char *to, std::size_t bytes); // 0 at its end, after its checksum was compared

  private:
    [[noreturn]] void fail(const std::string &what) const;

    std::string name_, member_;
    void *zip_; // minizip's unzFile
    bool is_open_ = false;
    std::uint64_t members_ = 0;
};

// Passes on what ZipFile throws, if badbit is among the exceptions() of its stream.
class ZipMember : public std::streambuf {
  public:
    ZipMember(ZipFile &zip, const std::string &member) : zip_(zip) { zip_.open(member); }

  protected:
    int_type underflow() override;

  private:
    ZipFile &zip_;
    std::array<char, 1 << 15> buffer_;
};

} // namespace perm
