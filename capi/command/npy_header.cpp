#include "npy_header.hpp"

#include <charconv>
#include <set>
#include <system_error>

namespace perm {
namespace {

// Takes a literal from the front of a text; each says whether it was there.
class Literal {
  public:
    explicit Literal(std::string_view text) : rest_(text) {}

    bool take(std::string_view word) {
        skip_blanks();
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }

    bool take_text(std::string &text) {
        const char *mark = take("'") ? "'" : take("\"") ? "\"" : nullptr;
        if (!mark) return false;
        const auto end = rest_.find(*mark);
        if (end == rest_.npos) return false;
        text = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return true;
    }

    bool take_flag(bool &flag) {
        flag = take("True");
        return flag || take("False");
    }

    bool take_sizes(std::vector<std::int64_t> &sizes) {
        if (!take("(")) return false;
        while (!take(")")) {
            skip_blanks();
            std::int64_t size = 0;
            const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
            if (error != std::errc{} || size < 0) return false;
            rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
            sizes.push_back(size);
            if (!take(",")) return take(")");
        }
        return true;
    }

    bool is_list() {
        skip_blanks();
        return rest_.starts_with('[');
    }

    bool is_at_end() {
        skip_blanks();
        return rest_.empty();
    }

  private:
    void skip_blanks() {
        const auto begin = rest_.find_first_not_of(" \n\t");
        rest_.remove_prefix(begin == rest_.npos ? rest_.size() : begin);
    }

    std::string_view rest_;
};

} // namespace

std::optional<NpyHeader> parse_npy_header(std::string_view text) {
    Literal literal(text);
    NpyHeader header;
    std::set<std::string> keys;
    if (!literal.take("{")) return {};
    while (!literal.take("}")) {
        std::string key;
        if (!literal.take_text(key) || !literal.take(":") || !keys.insert(key).second) return {};
        if (key == "descr" && literal.is_list()) return header; // no array of numbers, whatever follows
        const bool is_taken = key == "descr"           ? literal.take_text(header.type)
                              : key == "fortran_order" ? literal.take_flag(header.is_by_columns)
                                                       : key == "shape" && literal.take_sizes(header.shape);
        if (!is_taken) return {};
        if (literal.take(",")) continue;
        if (!literal.take("}")) return {};
        break;
    }
    if (keys.size() != 3 || !literal.is_at_end()) return {};
    return header;
}

} // namespace perm
