#include "preprocess/decompose.hpp"

#include "preprocess/block.hpp"
#include "preprocess/dulmage_mendelsohn.hpp"
#include "preprocess/graph_parts.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/permanent_ordering.hpp"

#include <algorithm>
#include <utility>

namespace libperm {
namespace {

// Rows and columns in the order in which a breadth-first search from the first row meets them, as SUperman
// has them before it decomposes: which line is the lowest of the lightest depends on it.
Ordering breadth_first_order(const Pattern &a) {
    const Pattern columns = transpose(a).pattern;
    Ordering order;
    std::vector<char> row_seen(static_cast<std::size_t>(a.rows)),
        column_seen(static_cast<std::size_t>(a.cols));
    const auto see = [](std::int32_t line, std::vector<char> &seen, std::vector<std::int32_t> &lines) {
        if (!std::exchange(seen[static_cast<std::size_t>(line)], 1)) lines.push_back(line);
    };
    // Rows and columns take turns, layer by layer: their orders are queues.
    std::size_t next_row = 0, next_column = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        see(i, row_seen, order.rows);
        while (next_row < order.rows.size() || next_column < order.cols.size()) {
            while (next_row < order.rows.size())
                for (const std::int32_t j : a.row(order.rows[next_row++])) see(j, column_seen, order.cols);
            while (next_column < order.cols.size())
                for (const std::int32_t row : columns.row(order.cols[next_column++]))
                    see(row, row_seen, order.rows);
        }
    }
    for (std::int32_t j = 0; j < a.cols; ++j) see(j, column_seen, order.cols);
    return order;
}

template <class Value> BlockOf<Value> in_breadth_first_order(const BlockOf<Value> &block) {
    Reordered reordered = reorder(block.pattern, breadth_first_order(block.pattern));
    BlockOf<Value> out{std::move(reordered.pattern), {}};
    out.values.reserve(block.values.size());
    for (const std::int64_t source : reordered.source)
        out.values.push_back(block.values[static_cast<std::size_t>(source)]);
    return out;
}

// Products of exact numbers are of factors of about one size: one by one, each would be as long as all before
// it. Those of doubles are what they always were, in their order.
Tracked product_of(const std::vector<Tracked> &factors) {
    Tracked product = number_one<Tracked>();
    for (const Tracked &x : factors) product = product * x;
    return product;
}
Gaussian product_of(std::vector<Gaussian> factors) {
    if (factors.empty()) return number_one<Gaussian>();
    for (std::size_t count = factors.size(); count > 1; count = (count + 1) / 2)
        for (std::size_t k = 0; k < count / 2; ++k) {
            poll();
            factors[k] = factors[k] * factors[count - 1 - k];
        }
    return std::move(factors.front());
}

} // namespace

template <class Value>
Decomposition<Value>::Decomposition(Block root, Rule rule) : rule_(std::move(rule)), in_hand_(rule_.account) {
    push(std::move(root), Stage::match);
}

template <class Value> void Decomposition<Value>::push(Block block, Stage stage) {
    Charge charge =
        std::exchange(in_hand_, Charge(rule_.account)); // the first takes the place of what it was
    charge.resize(rule_.account ? bytes_of(block) : 0);
    stack_.emplace_back(Work{std::move(block), stage, std::move(charge)});
}

template <class Value>
Charge Decomposition<Value>::passing(const Block &block, double blocks, std::int64_t by_row) const {
    if (!rule_.account) return {};
    const double bytes = blocks * static_cast<double>(bytes_of(block));
    return Charge(rule_.account, static_cast<std::int64_t>(bytes) + by_row * block.n());
}

template <class Value> void Decomposition<Value>::push_zero() {
    ++reductions_.zeros;
    push(Value{});
}

template <class Value> bool Decomposition<Value>::next(Step &step) {
    while (!stack_.empty()) {
        Item item = std::move(stack_.back());
        stack_.pop_back();
        in_hand_.resize(0);
        if (auto *ready = std::get_if<Step>(&item)) {
            step = std::move(*ready);
            return true;
        }
        Work &work = std::get<Work>(item);
        in_hand_ = std::move(work.charge);
        if (work.block.n() == 0)
            push(number_one<Value>());
        else if (work.block.n() == 1 && !work.block.values.empty())
            push(work.block.values.front());
        else if (work.block.pattern.one_sided && (work.stage == Stage::match || work.stage == Stage::apart))
            part_graph(std::move(work.block), work.stage);
        else if (work.stage == Stage::match)
            match(std::move(work.block));
        else if (work.stage == Stage::compress)
            compress_lines(std::move(work.block));
        else if (work.stage == Stage::expand)
            consider_expansion(std::move(work.block));
        else
            finish(std::move(work.block));
    }
    return false;
}

template <class Value> void Decomposition<Value>::match(Block block) {
    const Passes &passes = rule_.passes;
    if (!passes.matching && !passes.dulmage_mendelsohn) return begin(std::move(block));
    constexpr std::int64_t of_a_row = 60;    // a matching and a search
    constexpr std::int64_t of_a_block = 250; // what points at its entries
    Charge charge = passing(block, 1, of_a_row);
    const Matching matching = maximum_matching(block.pattern);
    if (matching.size < block.n()) return push_zero();
    if (!passes.dulmage_mendelsohn) return begin(std::move(block));

    std::int64_t dropped = block.pattern.nnz();
    std::vector<Block> blocks = dulmage_mendelsohn(std::move(block), matching);
    for (const Block &b : blocks) dropped -= b.pattern.nnz();
    reductions_.dropped += dropped;
    if (blocks.size() == 1) return begin(std::move(blocks.front()));
    charge.grow(of_a_block * std::ssize(blocks));
    reductions_.blocks += static_cast<std::int64_t>(blocks.size());
    std::vector<Value> singles; // blocks of one entry
    std::size_t larger = 0;
    for (const Block &b : blocks) {
        if (b.n() == 1)
            singles.push_back(b.values.front());
        else
            ++larger;
    }
    push(Multiply{larger + 1});
    for (auto b = blocks.rbegin(); b != blocks.rend(); ++b)
        if (b->n() > 1) begin(std::move(*b));
    push(product_of(std::move(singles)));
}

// Of a part of a graph, what it goes on with. None: it has no perfect matching.
template <class Value> auto Decomposition<Value>::stage_after(Block &part) -> std::optional<Stage> {
    const std::optional<Matching> matching = perfect_matching(part.pattern);
    if (!matching) return {};
    if (!part.pattern.one_sided) return Stage::match;
    if (!rule_.passes.dulmage_mendelsohn) return Stage::merge;
    const std::int64_t entries = part.pattern.nnz();
    part = gallai_edmonds(std::move(part), *matching);
    reductions_.dropped += entries - part.pattern.nnz();
    return part.pattern.nnz() < entries ? Stage::apart : Stage::merge;
}

// Parts of two sides go the way of a matrix.
template <class Value> void Decomposition<Value>::part_graph(Block graph, Stage stage) {
    constexpr std::int64_t of_a_line = 400;
    const Charge charge = passing(graph, 6, of_a_line);
    Compression<Value> done =
        compress_graph(std::move(graph), {rule_.passes.degree_1, rule_.passes.degree_2});
    reductions_.degree_1 += done.degree_1;
    reductions_.degree_2 += done.degree_2;
    std::vector<Block> parts;
    if (!done.is_zero && done.part.block.n() > 0) parts = connected_parts(std::move(done.part.block));
    bool is_zero = done.is_zero;
    std::vector<Stage> stages;
    for (Block &part : parts) {
        if (auto matrix = as_two_sided(part)) part = *std::move(matrix);
        const Stage next = part.pattern.one_sided ? Stage::merge : Stage::match;
        const std::optional<Stage> after = stage == Stage::apart ? next : stage_after(part);
        is_zero = is_zero || !after;
        stages.push_back(after.value_or(next));
    }
    if (is_zero) return push_zero();
    if (parts.size() > 1) reductions_.blocks += std::ssize(parts);
    push(Multiply{parts.size() + 1});
    for (std::size_t k = parts.size(); k-- > 0;) push(std::move(parts[k]), stages[k]);
    push(done.part.factor);
}

template <class Value> void Decomposition<Value>::begin(Block block) {
    if (rule_.as_published)
        push(in_breadth_first_order(block), Stage::expand);
    else
        push(std::move(block), Stage::compress);
}

template <class Value> void Decomposition<Value>::compress_lines(Block block) {
    const CompressionRule rule{rule_.passes.degree_1, rule_.passes.degree_2};
    if (!rule.degree_1 && !rule.degree_2) return push(std::move(block), Stage::expand);
    constexpr std::int64_t of_a_row = 200;
    const Charge charge = passing(block, has_light_line(block.pattern) ? 2.5 : 0, of_a_row);
    Compression<Value> done = compress(std::move(block), rule);
    if (done.is_zero) return push_zero();
    reductions_.degree_1 += done.degree_1;
    reductions_.degree_2 += done.degree_2;
    if (done.degree_1 > 0) { // else the factor is 1
        push(Multiply{2});
        push(done.part.factor);
    }
    push(std::move(done.part.block), Stage::expand);
}

template <class Value> bool Decomposition<Value>::may_expand(const Block &block) const {
    const std::int32_t degree = degree_of(block.pattern, lightest_line(block.pattern));
    if (degree > paper_degree) return false;
    if (!rule_.as_published)
        return degree >= 3 && rule_.passes.forbert_marx && rule_.expand && rule_.expand(block);
    if (block.n() <= paper_order) return false;
    return degree < 3 ? (degree == 1 ? rule_.passes.degree_1 : rule_.passes.degree_2)
                      : rule_.passes.forbert_marx;
}

template <class Value> void Decomposition<Value>::consider_expansion(Block block) {
    // The cost model, scaling and engines need a perfect matching. Where none has been looked for, or the
    // published rule has not looked again after an expansion, it is time.
    const bool is_matched = !rule_.as_published && (rule_.passes.matching || rule_.passes.dulmage_mendelsohn);
    const bool by_rule = rule_.as_published && may_expand(block);
    if (!is_matched && !by_rule && maximum_matching(block.pattern).size < block.n()) return push_zero();
    if (!by_rule && !may_expand(block)) return push(std::move(block), Stage::merge);
    const Line line = lightest_line(block.pattern);
    const std::int32_t degree = degree_of(block.pattern, line);
    if (degree == 0) return push_zero();
    (degree == 1 ? reductions_.degree_1 : degree == 2 ? reductions_.degree_2 : reductions_.expansions) += 1;
    const Charge charge = passing(block, 3, 200);
    std::vector<PartOf<Value>> parts = expand(block, line);
    if (parts.size() > 1) push(Add{parts.size()});
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        push(Multiply{2});
        push(part->factor);
        push(std::move(part->block), rule_.as_published ? Stage::expand : Stage::match);
    }
}

template <class Value> void Decomposition<Value>::finish(Block block) {
    LeafOf<Value> leaf{std::move(block), {}};
    if (rule_.passes.merging && leaf.block.pattern.one_sided) {
        leaf.kinds = equal_lines(leaf.block, rule_.account);
    } else if (rule_.passes.merging) {
        RepeatedLines<Value> repeated = merge_repeated_lines(leaf.block, rule_.account);
        leaf.kinds = std::move(repeated.kinds);
        push(Multiply{2});
        push(repeated.factor);
    }
    for (const std::vector<std::int32_t> *kind : {&leaf.kinds.of_row, &leaf.kinds.of_col})
        for (std::size_t i = 0; i < kind->size(); ++i)
            reductions_.merged += (*kind)[i] != static_cast<std::int32_t>(i);
    push(Step{std::move(leaf)});
}

template class Decomposition<Tracked>;
template class Decomposition<Gaussian>;

} // namespace libperm
