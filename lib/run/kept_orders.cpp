#include "lib/run/kept_orders.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/log.hpp"
#include "preprocess/search_digest.hpp"

#include <chrono>
#include <exception>

namespace libperm {
namespace {

// A folder that cannot be used is told to those who keep kernels there.
CacheSettings without_warning(const CacheSettings &cache) {
    return {cache.folder, cache.limit_bytes, nullptr};
}

bool is_read(const std::string &bytes, const std::function<void(std::string_view)> &read) {
    try {
        read(bytes);
        return true;
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::exception &error) {
        log_decision(formatted(
            "an order that was kept is no order of this block ({}): it is searched for again", error.what()));
        return false;
    }
}

} // namespace

SearchArguments &SearchArguments::add(const Pattern &a) {
    all(a.rows, a.cols, a.one_sided ? 1 : 0);
    bytes_.append(reinterpret_cast<const char *>(a.row_ptr.data()), a.row_ptr.size() * sizeof a.row_ptr[0]);
    bytes_.append(reinterpret_cast<const char *>(a.col.data()), a.col.size() * sizeof a.col[0]);
    return *this;
}

void with_kept_order(const KeptOrders &orders, const SearchName &name, const SearchArguments &arguments,
                     const std::function<void(std::string_view)> &read,
                     const std::function<std::string()> &search) {
    const CacheSettings settings = without_warning(orders.cache);
    const std::string key =
        formatted("{} of {}\nsearches {}\nengine {}\nn {}\nentries {}\narguments {}\n", order_key, name.what,
                  search_digest, name.engine, name.n, name.entries, digest_of_bytes(arguments.bytes()));
    const auto kept = cache_load(settings, key);
    const bool was_kept = kept && is_read(*kept, read);
    orders.looked_up(was_kept);
    if (was_kept) return;
    using Clock = std::chrono::steady_clock;
    const Clock::time_point before = Clock::now();
    const std::string found = search();
    const std::chrono::duration<double> took = Clock::now() - before;
    if (kept || took.count() > orders.worth_keeping) cache_store(settings, key, found);
}

} // namespace libperm
