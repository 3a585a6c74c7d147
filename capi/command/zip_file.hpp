// The members of a zip archive, such as .npz files are, each as a stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <streambuf>
#include <string>

namespace perm {

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
