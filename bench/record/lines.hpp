// The lines of a record: a name, then what was found, bit by bit. Neither times nor the machine are in it, so
// `diff` of two builds' records tells whether they compute the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

std::string bits_of(double x);                 // 16 hexadecimal digits
std::string digest_of(std::string_view bytes); // XXH3, 128 bits
template <class Number> std::string digest_of(const std::vector<Number> &numbers) {
    return digest_of(
        std::string_view(reinterpret_cast<const char *>(numbers.data()), numbers.size() * sizeof(Number)));
}
std::string code_of(std::string_view source); // without comments, and lines of nothing else
std::string quoted(std::string_view text);    // on one line; a long one as its beginning and digest

// A record goes on where a computation fails: its line says how. It is printed as it is made, so that what
// stops the program shows as well.
class RecordLines {
  public:
    // Lines whose name begins with `only`; whole texts that lines have the digests of go to the folder, if it
    // is not "".
    RecordLines(std::string only, std::string folder) : only_(std::move(only)), folder_(std::move(folder)) {}

    bool wants(std::string_view name) const { return name.starts_with(only_); }
    void add(const std::string &name, std::string_view text); // throws std::logic_error for a name in use
    void add_text(const std::string &name, std::string_view text);
    std::size_t count() const { return names_.size(); }

  private:
    std::string only_, folder_;
    std::set<std::string> names_;
};
