// What searches for good orders have found, kept beside the kernels (jit/compile/disk_cache.hpp): a search
// is a function of its arguments, so for the same ones it would find the same again, and the plan is the
// same.
#pragma once

#include "jit/compile/disk_cache.hpp"
#include "preprocess/pattern.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

namespace libperm {

// All that a search depends on, as bytes.
class SearchArguments {
  public:
    SearchArguments &add(const Pattern &a);
    template <class T>
    requires std::is_trivially_copyable_v<T> SearchArguments &add(const T &x) {
        static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>);
        bytes_.append(reinterpret_cast<const char *>(&x), sizeof x);
        return *this;
    }
    template <class... T> SearchArguments &all(const T &...x) {
        (add(x), ...);
        return *this;
    }
    const std::string &bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

// Shorter searches, in seconds, are not looked for on disk.
constexpr double worth_looking_up = 5e-3;

struct SearchName {
    const char *what;   // it looks for: "rows", "columns", "branches"
    const char *engine; // that it is for
    std::int32_t n;
    std::int64_t entries;
};

// Where they are kept, if the search took so many seconds, and who is told whether one was there.
struct KeptOrders {
    const CacheSettings &cache;
    double worth_keeping;
    std::function<void(bool)> looked_up;
};

// `read` takes what was kept, if something was, and throws where it is no such thing; else `search` finds it
// and gives its bytes, which are kept if that took a moment.
void with_kept_order(const KeptOrders &orders, const SearchName &name, const SearchArguments &arguments,
                     const std::function<void(std::string_view)> &read,
                     const std::function<std::string()> &search);

} // namespace libperm
