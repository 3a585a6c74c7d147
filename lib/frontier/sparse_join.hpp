// Joins of two lists of states (preprocess/frontier_steps.hpp).
//
// For each pattern p of the lines that stay lib/frontier/join_order.hpp tells which groups of states meet;
// what they come to is a sum of outer products. A state of the result, of p, a left own set and a right one,
// is the sum, from 0 on, of the products of the pairs of states that meet in it, in the order of the left
// side's patterns, the closing lines above the staying ones. This order, no multiplication fused with an
// addition unless the numbers' own are, is the same on every way, and so for any threads and chunks:
//
//   rows     A row holds the left states of p with one own set, and adds up their products with the right
//            side in a table by what that has alone (the sparse matrix product of Gustavson, ACM Trans. Math.
//            Softw. 4 (1978)).
//   blocks   Where both sides are tables: for each class of own sets the pairs of p are the inner index of a
//            product of two full matrices.
//   subsets  Where these matrices are small, those of all p that agree in all but a few lines are added up
//            side by side, pair by pair.
//
// An absent state of a table is 0, and adding 0 to a sum that began with 0 changes no bit of it.
#pragma once

#include "lib/frontier/join_rows.hpp"

#include <deque>
#include <optional>

namespace libperm {

enum class JoinWay { rows, blocks, subsets };

template <int Words, class Trait> class SparseJoin {
    using Key = StateKey<Words>;
    using Number = typename Trait::Number;
    using Factor = typename Trait::Factor;
    using List = StateList<Words, Number>;
    using Task = JoinTask;
    using Chunk = JoinChunk<Words, Trait>;
    using Matrix = typename Chunk::Matrix;

    static constexpr double chunk_work = 0x1p17;   // products of a chunk, or what takes as long
    static constexpr double worth_tables = 0x1p13; // products
    // How full the tables of both sides are, multiplied.
    static constexpr double least_fill = JoinBlock<Trait>::in_vectors ? 0.1 : 0.5;
    static constexpr std::size_t small_matrices = 512;   // of a pattern, in numbers
    static constexpr std::size_t subset_bytes = 1 << 18; // of all matrices of a block of patterns

  public:
    // `way`: to be gone where it can be; otherwise the fastest.
    explicit SparseJoin(const FrontierWork &work, std::optional<JoinWay> way = {})
        : work_(work),
          wanted_(way),
          room_(work.memory),
          left_(work.memory, room_, false),
          right_(work.memory, room_, true),
          list_(work.memory) {}

    // Of a left list, and a right one, which are given up, with their books; the join's are the left one's.
    List run(const FrontierJoin &join, List left, Trait &numbers, List right, const Trait &right_numbers,
             Counts &counts) {
        const auto scales = numbers.begin_join(right_numbers, static_cast<double>(left.size),
                                               static_cast<double>(right.size));
        join_ = &join;
        numbers_ = &numbers;
        extent_ = {};
        products_ = additions_ = 0;
        const std::int32_t shared = join.closing + join.staying;
        const JoinLines left_lines{join.runs[0], join.rows[0], join.alone[0], shared},
            right_lines{join.runs[1], join.rows[1], join.alone[1], shared};
        left_.begin(left.keys.data(), left.size, left_lines);
        right_.begin(right.keys.data(), right.size, right_lines);
        choose_way();
        fill(left_, [&](std::size_t k) { return Trait::scaled(left.numbers.data()[k], scales.of_this); });
        if (left.keys.capacity() < right.keys.capacity()) left.release();
        fill(right_,
             [&](std::size_t k) { return numbers.factor_of(right.numbers.data()[k], scales.of_other); });
        reuse(left, right);
        weigh_groups();
        multiply_all();
        numbers.end_step(additions_, products_, extent_);
        counts.operations += products_;
        counts.states += static_cast<double>(list_.size);
        counts.peak_states = std::max(counts.peak_states, static_cast<double>(list_.size));
        give_back();
        return std::move(list_);
    }

  private:
    // Of the two lists that were joined, one's memory is used again.
    void reuse(List &left, List &right) {
        List &larger = left.keys.capacity() < right.keys.capacity() ? right : left;
        list_ = std::move(larger);
        list_.size = 0;
        const double room = static_cast<double>(list_.keys.capacity());
        if (room > 4096 && room > 2 * join_->states_bound) list_ = List(work_.memory);
        if (way_ != JoinWay::rows) list_.reserve(static_cast<std::size_t>(join_->states_bound));
    }
    // Room is kept for other joins, a small part of the memory.
    void give_back() {
        const auto large = static_cast<std::size_t>(work_.memory.limit() / 1024);
        left_.release(large);
        right_.release(large);
        for (Chunk &chunk : pool_)
            give_back_large(large / pool_.size(), chunk.list.keys, chunk.list.numbers, chunk.sums,
                            chunk.cells);
    }

    void choose_way() {
        way_ = JoinWay::rows;
        if (is_of_graph()) return;
        if (wanted_ ? wanted_ == JoinWay::rows : join_->products_bound < worth_tables) return;
        const double left_fill = left_.survey(), right_fill = right_.survey();
        if (left_fill * right_fill <= (wanted_ ? 0 : least_fill)) return;
        way_ = JoinWay::blocks;
        const std::size_t cells = most_cells();
        const std::size_t patterns = std::size_t{1} << std::min(join_->staying, most_subset_lines);
        const bool fit = cells * patterns * sizeof(Number) <= subset_bytes && left_.cells() >> 32 == 0 &&
                         right_.cells() >> 32 == 0; // places in pieces are of 32 bits
        if (fit && (wanted_ ? wanted_ == JoinWay::subsets : cells <= small_matrices && join_->staying > 2))
            way_ = JoinWay::subsets;
    }
    // The largest of the matrices of a pattern.
    std::size_t most_cells() const {
        std::size_t most = 0;
        for (std::size_t both = 0; both < left_.classes.size() + right_.classes.size(); ++both) {
            std::size_t cells = 0;
            for (std::size_t c = 0; c < left_.classes.size() && c <= both; ++c)
                if (both - c < right_.classes.size())
                    cells += left_.classes[c].count * padded_class(right_.classes[both - c].count);
            most = std::max(most, cells);
        }
        return most;
    }

    template <class Side, class ValueOf> void fill(Side &side, const ValueOf &value_of) {
        if (way_ == JoinWay::rows)
            side.fill_list(value_of);
        else
            side.fill_table(value_of);
    }

    // Its states are of any weight of the right parity, so they fill no tables by weight.
    bool is_of_graph() const { return work_.program.source && work_.program.source->pattern.one_sided; }

    // All left states with one own set have patterns of one weight; of graphs they count as such.
    void weigh_groups() {
        std::uint64_t rows = 0;
        for (const std::int32_t row : join_->rows[0])
            if (row >= join_->alone[0]) rows |= std::uint64_t{1} << (row - join_->alone[0]);
        weight_of_group_.clear();
        for (const PatternGroup &g : left_.groups)
            weight_of_group_.push_back(
                is_of_graph() ? std::uint8_t{0} : static_cast<std::uint8_t>(std::popcount(g.pattern ^ rows)));
    }

    void multiply_all() {
        order_.begin(left_.groups, right_.groups, join_->closing, join_->staying, way_ == JoinWay::subsets);
        rest_.clear();
        if (way_ == JoinWay::subsets) {
            left_.list_pieces(order_.last_lines(), left_pieces_);
            right_.list_pieces(order_.last_lines(), right_pieces_);
        }
        const double work = join_->products_bound / (way_ == JoinWay::rows ? 1 : 8);
        in_chunks(
            pool_, work_, work <= static_cast<double>(serial_candidates),
            [&](Chunk &chunk) { return way_ == JoinWay::subsets ? plan_subsets(chunk) : plan_chunk(chunk); },
            [this](Chunk &chunk) { multiply(chunk); }, [this](Chunk &chunk) { append(chunk); });
    }

    static std::size_t size_of(const PatternGroup &g) { return g.end - g.begin; }

    // Patterns until there is enough to do. One of much work is shared out by ranks.
    bool plan_chunk(Chunk &chunk) {
        begin_chunk(chunk);
        while (chunk.planned < chunk_work) {
            if (next_rank_ == left_.ranks || rest_.empty()) {
                if (!order_.next(pattern_, rest_)) break;
                next_rank_ = 0;
                weigh_rest(chunk);
            }
            const double shares = std::max(1.0, std::ceil(work_of_rest_ / chunk_work));
            const double ranks = std::max(least_ranks_, std::ceil(static_cast<double>(left_.ranks) / shares));
            const std::size_t end = std::min(left_.ranks, next_rank_ + static_cast<std::size_t>(ranks));
            const std::size_t first = chunk.pairs.size();
            chunk.pairs.insert(chunk.pairs.end(), rest_.begin(), rest_.end());
            chunk.tasks.push_back({pattern_, first, chunk.pairs.size(), next_rank_, end});
            chunk.planned += work_of_rest_ / shares + static_cast<double>(rest_.size());
            next_rank_ = end;
        }
        return !chunk.tasks.empty();
    }
    static void begin_chunk(Chunk &chunk) {
        chunk.pairs.clear();
        chunk.ranges.clear();
        chunk.tasks.clear();
        chunk.planned = chunk.products = chunk.additions = 0;
    }

    void weigh_rest(Chunk &chunk) {
        std::array<std::uint32_t, 65> of_weight{};
        double products = 0, results = 0;
        for (const GroupPair &p : rest_) {
            const PatternGroup &left = left_.groups[p.left], &right = right_.groups[p.right];
            products += static_cast<double>(left.states) * static_cast<double>(right.states);
            if (of_weight[weight_of_group_[p.left]]++ == 0)
                results += static_cast<double>(size_of(left)) * static_cast<double>(size_of(right));
        }
        chunk.products += products;
        chunk.additions = std::max(
            chunk.additions, static_cast<double>(*std::max_element(of_weight.begin(), of_weight.end())) - 1);
        // A tile takes a few rows at least, of some weights, while they are not long.
        constexpr double most_results = 0x1p20;
        const bool by_rows = way_ == JoinWay::rows;
        work_of_rest_ = by_rows ? products : products / 8 + 4 * results;
        least_ranks_ =
            by_rows ? 1 : std::clamp(most_results * static_cast<double>(left_.ranks) / results, 1.0, 32.0);
    }

    bool plan_subsets(Chunk &chunk) {
        begin_chunk(chunk);
        std::uint64_t above;
        while (chunk.planned < chunk_work && order_.next_block(above, found_ranges_)) {
            const std::size_t first = chunk.ranges.size();
            chunk.ranges.insert(chunk.ranges.end(), found_ranges_.begin(), found_ranges_.end());
            chunk.tasks.push_back({above, first, chunk.ranges.size(), 0, left_.ranks});
            for (const GroupRanges &r : found_ranges_)
                chunk.planned += static_cast<double>(r.left_end - r.left_begin) *
                                 static_cast<double>(r.right_end - r.right_begin);
        }
        return !chunk.tasks.empty();
    }

    void multiply(Chunk &chunk) const {
        chunk.list.size = 0;
        if (way_ == JoinWay::rows && chunk.sums.capacity() < right_.ranks) {
            const std::size_t before = chunk.sums.capacity();
            chunk.sums.grow(right_.ranks);
            std::fill(chunk.sums.data() + before, chunk.sums.data() + right_.ranks, Trait::zero());
        }
        const JoinRows<Words, Trait> by_rows{*join_, *numbers_, left_, right_};
        Trait::with([&] {
            for (const Task &task : chunk.tasks)
                if (way_ == JoinWay::rows)
                    by_rows.put(chunk, task);
                else if (way_ == JoinWay::blocks)
                    put_blocks(chunk, task);
                else
                    put_subsets(chunk, task);
        });
    }

    void put_blocks(Chunk &chunk, const Task &task) const {
        std::vector<Matrix> &matrices = chunk.matrices;
        matrices.assign(left_.classes.size(), {});
        for (std::size_t n = task.begin; n < task.end; ++n) {
            const std::size_t place = left_.places[n], c = left_.class_of_place[place];
            if (matrices[c].rows++ == 0) matrices[c].first_row = place - left_.classes[c].first;
        }
        for (std::size_t p = task.first; p < task.last; ++p) {
            Matrix &m = matrices[left_.class_of_group[chunk.pairs[p].left]];
            const OwnClass &columns = right_.classes[right_.class_of_group[chunk.pairs[p].right]];
            m.columns = columns.count;
            m.first_column = columns.first;
            ++m.products;
        }
        std::size_t products = 0, cells = 0;
        for (Matrix &m : matrices) {
            m.cells = std::exchange(cells, cells + m.rows * padded_class(m.columns));
            m.first_product = std::exchange(products, products + m.products);
            m.products = 0;
        }
        chunk.block.reserve(products);
        for (std::size_t p = task.first; p < task.last; ++p) {
            const PatternGroup &left = left_.groups[chunk.pairs[p].left],
                               &right = right_.groups[chunk.pairs[p].right];
            Matrix &m = matrices[left_.class_of_group[chunk.pairs[p].left]];
            chunk.block.put(m.first_product + m.products++, left_.values.data() + left.begin + m.first_row,
                            right_.values.data() + right.begin);
        }
        chunk.cells.grow(cells);
        for (const Matrix &m : matrices)
            if (m.products > 0 && m.rows > 0)
                chunk.block.sum(*numbers_, m.first_product, m.first_product + m.products, m.rows, m.columns,
                                chunk.cells.data() + m.cells);
        put_matrices(chunk, task.pattern, task.begin, task.end);
    }

    // The class of the right own sets that go with left ones of class c is both - c.
    void put_subsets(Chunk &chunk, const Task &task) const {
        const std::int32_t lines = order_.last_lines();
        const std::size_t kinds = left_.classes.size(), patterns = std::size_t{1} << lines;
        chunk.matrix_begin.resize(patterns * kinds);
        chunk.added.assign(patterns * kinds, 0);
        std::size_t cells = 0;
        const auto both = [&](std::size_t low) { return both_classes(task.pattern << lines | low); };
        for (std::size_t low = 0; low < patterns; ++low)
            for (std::size_t c = 0; c < kinds; ++c) {
                chunk.matrix_begin[low * kinds + c] = static_cast<std::uint32_t>(cells);
                if (const OwnClass *columns = right_class(both(low), c))
                    cells += left_.classes[c].count * padded_class(columns->count);
            }
        chunk.cells.grow(cells);
        std::fill_n(chunk.cells.data(), cells, Trait::zero());
        SubsetProducts of{lines,
                          {},
                          {},
                          nullptr,
                          nullptr,
                          nullptr,
                          chunk.matrix_begin.data(),
                          static_cast<std::uint32_t>(kinds),
                          chunk.added.data()};
        for (std::size_t r = task.first; r < task.last; ++r) {
            const GroupRanges &range = chunk.ranges[r];
            of.left = {left_pieces_.data() + range.left_begin, range.left_end - range.left_begin};
            of.right = {right_pieces_.data() + range.right_begin, range.right_end - range.right_begin};
            chunk.products += JoinBlock<Trait>::add_subsets(*numbers_, of, left_.values.data(),
                                                            right_.values.data(), chunk.cells.data());
        }
        for (const std::uint32_t added : chunk.added)
            chunk.additions = std::max(chunk.additions, static_cast<double>(added) - 1);
        for (std::size_t low = 0; low < patterns; ++low) {
            chunk.matrices.assign(kinds, {});
            for (std::size_t c = 0; c < kinds; ++c) {
                if (chunk.added[low * kinds + c] == 0) continue;
                const OwnClass &columns = *right_class(both(low), c);
                chunk.matrices[c] = {0,
                                     left_.classes[c].count,
                                     columns.count,
                                     columns.first,
                                     0,
                                     1,
                                     chunk.matrix_begin[low * kinds + c]};
            }
            put_matrices(chunk, task.pattern << lines | low, 0, left_.ranks);
        }
    }
    const OwnClass *right_class(std::size_t both, std::size_t left) const {
        return both - left < right_.classes.size() ? &right_.classes[both - left] : nullptr;
    }
    // The weights of both own sets, together, in states of this pattern.
    std::size_t both_classes(std::uint64_t pattern) const {
        const std::uint64_t closing = ((std::uint64_t{1} << join_->closing) - 1) << join_->staying;
        return left_.both_classes(right_, pattern | closing);
    }
    // Numbers that are not 0, by left own set, then by right one.
    void put_matrices(Chunk &chunk, std::uint64_t pattern, std::size_t begin, std::size_t end) const {
        std::size_t states = 0, there = 0, only = 0;
        for (std::size_t c = 0; c < chunk.matrices.size(); ++c) {
            const Matrix &m = chunk.matrices[c];
            if (m.products == 0 || m.rows == 0) continue;
            states += m.rows * m.columns;
            ++there;
            only = c;
        }
        chunk.list.reserve(chunk.list.size + states + 1, 4);
        if (there == 1) {
            const std::size_t first = left_.classes[only].first + chunk.matrices[only].first_row;
            for (std::size_t r = 0; r < chunk.matrices[only].rows; ++r)
                put_row(chunk, chunk.matrices[only], pattern, first + r);
            return;
        }
        for (std::size_t n = begin; there > 0 && n < end; ++n) {
            const std::size_t place = left_.places[n], c = left_.class_of_place[place];
            if (chunk.matrices[c].products > 0) put_row(chunk, chunk.matrices[c], pattern, place);
        }
    }
    void put_row(Chunk &chunk, const Matrix &m, std::uint64_t pattern, std::size_t place) const {
        const Key row = row_key_of(*join_, pattern, left_.own.data()[place]);
        const std::size_t r = place - left_.classes[left_.class_of_place[place]].first - m.first_row;
        const Number *cells = chunk.cells.data() + m.cells + r * padded_class(m.columns);
        const Key *own = right_.own.data() + m.first_column;
        Key *keys = chunk.list.keys.data();
        Number *numbers = chunk.list.numbers.data();
        std::size_t size = chunk.list.size;
        for (std::size_t v = 0; v < m.columns; ++v) {
            keys[size] = row | own[v];
            numbers[size] = cells[v];
            size += !Trait::is_zero(cells[v]);
        }
        chunk.list.size = size;
    }

    void append(const Chunk &chunk) {
        list_.append(chunk.list);
        extent_ = join(extent_, Trait::extent_of(chunk.list.numbers.data(), chunk.list.size));
        products_ += chunk.products;
        additions_ = std::max(additions_, chunk.additions);
        call().advance(chunk.products);
    }

    const FrontierWork work_;
    const std::optional<JoinWay> wanted_;
    JoinRoom<Words> room_;
    JoinSide<Words, Number> left_;
    JoinSide<Words, Factor> right_;
    JoinOrder order_;
    std::deque<Chunk> pool_;
    List list_;
    // What follows belongs to the join in hand.
    const FrontierJoin *join_ = nullptr;
    Trait *numbers_ = nullptr;
    JoinWay way_ = JoinWay::rows;
    std::vector<std::uint8_t> weight_of_group_; // of the left side: of its pattern
    Extent extent_;
    double products_ = 0, additions_ = 0;
    // Of the pattern in hand: its pairs, and the ranks that are given out.
    std::uint64_t pattern_ = 0;
    std::vector<GroupPair> rest_;
    std::vector<GroupRanges> found_ranges_;
    std::vector<SubsetPiece> left_pieces_, right_pieces_;
    std::size_t next_rank_ = 0;
    double work_of_rest_ = 0, least_ranks_ = 1;
};

} // namespace libperm
