#include "lib/frontier/join_on_device.hpp"

#include "lib/base/error.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr double most_waste = 256; // targets, and pairs of places, for each product: a GPU is so much faster
constexpr double least_items = 0x1p22;      // that are done at once anyway
constexpr std::uint64_t searches = 1 << 15; // threads that look for pairs, where patterns are few
constexpr std::size_t most_pairs = 1 << 26; // listed at once, unless a pattern has more
constexpr std::size_t most_patterns = 1 << 18;
static_assert(most_shared_on_device < join_weights);
constexpr double most_searches = 1e11;
constexpr double most_places = 2e10; // pairs for targets of a launch: it is to end before a call is cancelled
constexpr std::uint64_t wide_rows = 8, wide_columns = 64;

std::uint64_t ones(std::int32_t bits) { return (std::uint64_t{1} << bits) - 1; }
std::size_t mark_words(std::int32_t bits) { return std::max<std::size_t>(2, (std::size_t{1} << bits) / 32); }

} // namespace

bool device_holds(const FrontierJoin &join) {
    return join.closing + join.staying <= most_shared_on_device && join.staying <= most_staying_on_device &&
           join.alone[0] <= most_own_on_device && join.alone[1] <= most_own_on_device;
}

JoinOnDevice::JoinOnDevice(DeviceQueue &queue, const JoinKernel &kernel, double room)
    : queue_(queue),
      kernel_(kernel),
      room_(room),
      threads_(queue.block_threads(join_threads)),
      sides_{Side(queue), Side(queue)},
      chain_(queue),
      counts_(queue),
      begins_(queue),
      patterns_(queue),
      pairs_(queue),
      of_weights_(queue),
      sums_(queue),
      report_(queue),
      totals_(queue) {
    report_.reserve(sizeof(JoinReport));
    totals_.reserve(4 * sizeof(std::uint64_t));
}

bool JoinOnDevice::prepare(const DeviceList &left, const DeviceList &right, const FrontierJoin &join) {
    sides_[0].list = &left;
    sides_[1].list = &right;
    staying_ = join.staying;
    states_bound_ = join.states_bound;
    for (const std::size_t which : {0U, 1U}) {
        mark(sides_[which], join, which);
        rank(sides_[which].patterns, totals_.address() + 16 * which);
        rank(sides_[which].own, totals_.address() + 16 * which + 8);
    }
    std::array<std::uint64_t, 4> totals{};
    queue_.copy_out(totals.data(), totals_.address(), sizeof totals);
    for (const std::size_t which : {0U, 1U}) {
        sides_[which].patterns.count = totals[2 * which];
        sides_[which].own.count = totals[2 * which + 1];
        count_sizes(sides_[which]);
    }
    search_.closing = ones(join.closing) << join.staying;
    search_.staying = ones(join.staying);
    search_.rows = 0;
    for (const std::int32_t row : join.rows[0])
        if (row >= join.alone[0]) search_.rows |= std::uint64_t{1} << (row - join.alone[0]);
    choose_search();
    if (searches_ > most_searches) return false;
    count_pairs();
    return is_worth_it();
}

JoinSideTables JoinOnDevice::tables_of(const Side &side) const {
    const SparseList list = side.list->where();
    return {list.keys,           list.numbers,
            side.list->size,     static_cast<std::uint64_t>(side.own_bits),
            side.runs.address(), side.run_count,
            side.bits.address(), side.patterns.where(),
            side.own.where(),    side.table.address(),
            side.own.count,      side.sizes.address()};
}

void JoinOnDevice::mark(Side &side, const FrontierJoin &join, std::size_t which) {
    side.own_bits = join.alone[which];
    std::vector<JoinBitRun> runs;
    for (const BitRun &run : join.runs[which]) // all of them go to the lowest word
        runs.push_back({static_cast<std::uint64_t>(kernel_.words - 1 - run.from / 64),
                        static_cast<std::uint64_t>(run.from % 64), static_cast<std::uint64_t>(run.to),
                        run.width == 64 ? ~std::uint64_t{0} : ones(run.width)});
    side.run_count = runs.size();
    side.runs.reserve(runs.size() * sizeof(JoinBitRun));
    if (!runs.empty()) queue_.copy_in(side.runs.address(), runs.data(), runs.size() * sizeof(JoinBitRun));
    side.bits.reserve(8 * std::max<std::size_t>(1, side.list->size));
    side.patterns.words = mark_words(join.closing + join.staying);
    side.own.words = mark_words(side.own_bits);
    for (Marks *marks : {&side.patterns, &side.own}) {
        marks->marks.reserve(4 * marks->words);
        marks->before.reserve(4 * marks->words);
        marks->sets.reserve(4 * std::max<std::size_t>(1, std::min(32 * marks->words, side.list->size)));
        fill(marks->marks, marks->words / 2, 0);
    }
    JoinSideTables tables = tables_of(side);
    const std::array<void *, 1> arguments{&tables};
    launch(join_mark_entry, side.list->size, arguments);
}

void JoinOnDevice::rank(Marks &marks, DeviceAddress total) {
    const std::size_t tiles = marks.words / (threads_ * join_rank_words) + 1;
    JoinRanking ranking = marks.where();
    TileChain chain = chain_.next(tiles);
    const std::array<void *, 3> arguments{&ranking, &chain, &total};
    launch(join_rank_entry, tiles * threads_, arguments);
}

void JoinOnDevice::count_sizes(Side &side) {
    const std::size_t words = (side.patterns.count + 1) / 2;
    side.sizes.reserve(8 * std::max<std::size_t>(1, words));
    fill(side.sizes, words, 0);
    JoinSideTables tables = tables_of(side);
    const std::array<void *, 1> arguments{&tables};
    launch(join_sizes_entry, side.list->size, arguments);
}

// Each pattern's candidates are the left patterns, or the sets that it and what closes leave to the left
// side: whichever are fewer.
void JoinOnDevice::choose_search() {
    search_.left = sides_[0].patterns.where();
    search_.right = sides_[1].patterns.where();
    search_.left_patterns = sides_[0].patterns.count;
    search_.left_sizes = sides_[0].sizes.address();
    search_.right_sizes = sides_[1].sizes.address();
    const std::uint64_t of_closing = search_.closing / std::max<std::uint64_t>(1, search_.staying + 1) + 1;
    const double by_subsets = std::pow(3.0, staying_) * static_cast<double>(of_closing);
    const double by_patterns =
        static_cast<double>(search_.staying + 1) * static_cast<double>(search_.left_patterns);
    search_.by_subsets = by_subsets < by_patterns;
    searches_ = std::min(by_subsets, by_patterns);
    search_.slices = std::max<std::uint64_t>(1, searches / (search_.staying + 1));
    if (by_patterns < static_cast<double>(searches)) search_.slices = 1;
}

void JoinOnDevice::count_pairs() {
    const std::uint64_t patterns = search_.staying + 1, slices = search_.slices;
    counts_.reserve(4 * patterns * slices);
    const JoinReport nothing{0, 0, Extent{}.largest, Extent{}.smallest, 0};
    queue_.copy_in(report_.address(), &nothing, sizeof nothing);
    JoinSearch search = search_;
    std::uint64_t of_patterns = patterns;
    DeviceAddress counts = counts_.address(), report = report_.address();
    const std::array<void *, 4> arguments{&search, &of_patterns, &counts, &report};
    launch(join_count_entry, patterns * slices, arguments);
    std::vector<std::uint32_t> pairs(patterns * slices);
    queue_.copy_out(pairs.data(), counts, 4 * pairs.size());
    queue_.copy_out(&reported_, report, sizeof reported_);
    found_.clear();
    begins_found_.clear();
    std::uint64_t end = 0;
    for (std::uint64_t p = 0; p < patterns; ++p) {
        const std::uint64_t begin = end;
        const std::size_t size = begins_found_.size();
        for (std::uint64_t s = 0; s < slices; ++s) {
            begins_found_.push_back(end);
            end += pairs[p * slices + s];
        }
        if (end == begin)
            begins_found_.resize(size);
        else
            found_.push_back(static_cast<std::uint32_t>(p));
    }
    begins_found_.push_back(end);
}

bool JoinOnDevice::is_worth_it() const {
    const double products = static_cast<double>(reported_.products);
    const double across = static_cast<double>(left_ranks()) * static_cast<double>(right_ranks());
    const double targets = across * static_cast<double>(found_.size()),
                 places = across * static_cast<double>(begins_found_.back());
    double tables = 0;
    for (const Side &side : sides_)
        tables += static_cast<double>(side.patterns.count) * static_cast<double>(side.own.count) /
                  most_waste / (static_cast<double>(side.list->size) + least_items);
    return tables <= 2 && targets + places <= most_waste * products + least_items;
}

void JoinOnDevice::spread(Side &side, int exp2) {
    const std::size_t words =
        side.patterns.count * side.own.count * (side.list->number_bytes_each() / sizeof(std::uint64_t));
    side.table.reserve(8 * std::max<std::size_t>(1, words));
    fill(side.table, words, 0);
    const int within = std::min(exp2, 1000);
    double power = std::ldexp(1.0, within), rest = std::ldexp(1.0, exp2 - within);
    JoinSideTables tables = tables_of(side);
    const std::array<void *, 3> arguments{&tables, &power, &rest};
    launch(join_spread_entry, side.list->size, arguments);
}

JoinOnDevice::Joined JoinOnDevice::run(const JoinScales &scales, double prime) {
    spread(sides_[0], scales.of_this);
    spread(sides_[1], scales.of_other);
    Joined joined{DeviceList(queue_, kernel_.words, kernel_.numbers), 0, 0, {}};
    joined.products = static_cast<double>(reported_.products);
    const std::uint64_t targets = std::min(found_.size() * left_ranks() * right_ranks(), reported_.products);
    joined.list.allocate(
        static_cast<std::size_t>(std::min(static_cast<double>(targets), 1.001 * states_bound_) + 1));
    for (const Chunk &chunk : chunks()) {
        multiply(chunk, joined.list, prime);
        if (reported_.states > joined.list.capacity())
            throw Error(PERM_INTERNAL, "engine frontier: a join has more states than there can be");
        poll();
    }
    joined.list.size = reported_.states;
    joined.additions = reported_.most_items > 0 ? static_cast<double>(reported_.most_items - 1) : 0;
    joined.extent = {reported_.largest, reported_.smallest};
    call().advance(joined.products);
    note_bytes(joined.list);
    if (joined.list.capacity() > 2 * joined.list.size + 1024) joined.list = copy_of(joined.list);
    return joined;
}

std::vector<JoinOnDevice::Chunk> JoinOnDevice::chunks() const {
    const auto number = static_cast<std::uint64_t>(number_bytes(kernel_.numbers));
    const auto across = static_cast<double>(std::max<std::uint64_t>(1, right_ranks()));
    const auto pairs_before = [&](std::size_t p) { return begins_found_[p * search_.slices]; };
    // Rows of patterns [first, last) at once, at least one.
    const auto most_rows = [&](std::size_t first, std::size_t last) {
        const auto pairs = static_cast<double>(pairs_before(last) - pairs_before(first));
        const double patterns = static_cast<double>(last - first);
        return std::max(1.0, std::min(room_ / (static_cast<double>(number) * across * patterns),
                                      most_places / (across * std::max(1.0, pairs))));
    };
    const auto all_rows = static_cast<double>(left_ranks());
    std::vector<Chunk> all;
    for (std::size_t p = 0, last; p < found_.size(); p = last) {
        last = p + 1;
        if (const double rows = most_rows(p, last); rows < all_rows) {
            const auto step = static_cast<std::uint64_t>(rows);
            for (std::uint64_t first = 0; first < left_ranks(); first += step)
                all.push_back({p, last, first, std::min(step, left_ranks() - first)});
            continue;
        }
        while (last < found_.size() && last - p < most_patterns && most_rows(p, last + 1) >= all_rows &&
               pairs_before(last + 1) - pairs_before(p) <= most_pairs)
            ++last;
        all.push_back({p, last, 0, left_ranks()});
    }
    return all;
}

JoinTargets JoinOnDevice::list_pairs(const Chunk &chunk) {
    const std::uint64_t slices = search_.slices, patterns = chunk.last - chunk.first;
    const auto begin = begins_found_.begin() + static_cast<std::ptrdiff_t>(chunk.first * slices);
    std::vector<std::uint64_t> begins(begin, begin + static_cast<std::ptrdiff_t>(patterns * slices + 1));
    for (std::uint64_t &b : begins) b -= *begin;
    JoinTargets targets{sides_[0].table.address(),
                        sides_[1].table.address(),
                        left_ranks(),
                        right_ranks(),
                        0,
                        0,
                        slices,
                        patterns,
                        chunk.first_rank,
                        chunk.ranks,
                        0,
                        0,
                        0};
    begins_.reserve(8 * begins.size());
    patterns_.reserve(4 * patterns);
    pairs_.reserve(8 * begins.back());
    of_weights_.reserve(4 * join_weights * patterns);
    fill(of_weights_, join_weights / 2 * patterns, 0);
    queue_.copy_in(begins_.address(), begins.data(), 8 * begins.size());
    queue_.copy_in(patterns_.address(), found_.data() + chunk.first, 4 * patterns);
    targets.pairs = pairs_.address();
    targets.begins = begins_.address();
    JoinSearch search = search_;
    DeviceAddress pattern = patterns_.address(), to = pairs_.address(), from = begins_.address(),
                  of_weights = of_weights_.address(), report = report_.address();
    std::uint64_t count = patterns;
    const std::array<void *, 6> arguments{&search, &pattern, &count, &from, &to, &of_weights};
    launch(join_pairs_entry, patterns * slices, arguments);
    const std::array<void *, 3> of_most{&of_weights, &count, &report};
    launch(join_most_entry, join_weights * patterns, of_most);
    return targets;
}

void JoinOnDevice::multiply(const Chunk &chunk, DeviceList &to, double prime) {
    JoinTargets targets = list_pairs(chunk);
    const std::uint64_t count = targets.patterns * targets.rows * targets.right_ranks;
    sums_.reserve(count * static_cast<std::uint64_t>(number_bytes(kernel_.numbers)));
    targets.sums = sums_.address();
    targets.prime = prime;
    targets.inverse = 1 / prime;
    const std::array<void *, 1> arguments{&targets};
    const JoinTile tile = join_tile(kernel_.numbers);
    if (targets.rows >= wide_rows && targets.right_ranks >= wide_columns)
        launch(join_multiply_wide_entry, count / (tile.height * tile.width) + 1, arguments);
    else
        launch(join_multiply_entry, count, arguments);
    const SparseList list = to.where();
    JoinTaken taken{patterns_.address(),
                    sides_[0].own.sets.address(),
                    sides_[1].own.sets.address(),
                    static_cast<std::uint64_t>(sides_[0].own_bits),
                    static_cast<std::uint64_t>(sides_[1].own_bits),
                    list.keys,
                    list.numbers,
                    to.capacity()};
    DeviceAddress report = report_.address();
    const std::uint64_t tiles = count / (threads_ * join_taken_targets) + 1;
    TileChain chain = chain_.next(tiles);
    std::uint64_t states = reported_.states;
    const std::array<void *, 5> of_taking{&targets, &taken, &states, &chain, &report};
    launch(join_take_entry, tiles * threads_, of_taking);
    queue_.copy_out(&reported_, report, sizeof reported_);
}

DeviceList JoinOnDevice::copy_of(const DeviceList &list) {
    DeviceList copy(queue_, kernel_.words, kernel_.numbers);
    copy.allocate(list.size + 1);
    copy.size = list.size;
    for (const bool keys : {true, false}) {
        const SparseList from = list.where(), to = copy.where();
        DeviceAddress source = keys ? from.keys : from.numbers, target = keys ? to.keys : to.numbers;
        std::uint64_t words = list.size * (keys ? list.key_bytes() : list.number_bytes_each()) / 8;
        const std::array<void *, 3> arguments{&target, &source, &words};
        launch(join_copy_entry, words, arguments);
    }
    return copy;
}

void JoinOnDevice::fill(const DeviceArray &array, std::size_t words, std::uint64_t value) {
    DeviceAddress to = array.address();
    std::uint64_t count = words;
    const std::array<void *, 3> arguments{&to, &count, &value};
    launch(join_fill_entry, words, arguments);
}

void JoinOnDevice::launch(const char *entry, std::uint64_t items, std::span<void *const> arguments) {
    const std::uint64_t blocks = items / threads_ + 1;
    queue_.launch(
        entry, static_cast<unsigned>(std::min<std::uint64_t>(queue_.blocks_at_once(entry, threads_), blocks)),
        threads_, arguments);
}

void JoinOnDevice::note_bytes(const DeviceList &list) {
    std::size_t bytes = list.bytes() + counts_.bytes() + begins_.bytes() + patterns_.bytes() +
                        pairs_.bytes() + of_weights_.bytes() + sums_.bytes() + chain_.bytes();
    for (const Side &side : sides_) {
        bytes += side.list->bytes() + side.bits.bytes() + side.table.bytes() + side.sizes.bytes();
        for (const Marks *marks : {&side.patterns, &side.own})
            bytes += marks->marks.bytes() + marks->before.bytes() + marks->sets.bytes();
    }
    peak_bytes_ = std::max(peak_bytes_, static_cast<std::int64_t>(bytes));
}

} // namespace libperm
