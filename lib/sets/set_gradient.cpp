#include "lib/sets/set_gradient.hpp"

#include "jit/lanes/set_steps.hpp"
#include "lib/number/ball.hpp"
#include "lib/sets/set_tables.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace libperm {
namespace {

// Where factors multiply to no less than 2^-range and no more than 2^range in every term, and in what terms
// are summed to, nothing leaves the range of double.
constexpr double range = 900;

constexpr double of_an_operation = 0.2e-9; // seconds
constexpr double of_a_layer = 2e-6;

// Where it is to run: tables that no cache of a processor holds take so many times as long. What a GPU takes
// is reckoned by what it reads, and NVRTC takes less for these kernels than for most.
constexpr std::int32_t cached_lines = 22;
constexpr double beyond_cache = 5;
constexpr double device_compile = 0.4, device_layer = 1e-4; // seconds
constexpr double device_bytes_of_operation = 32;

// A sum of products of the tables' numbers: in lanes, in blocks, in a chunk, over chunks.
constexpr double roundings_of_sum = 8 + set_chunk + 8 + 64;

int exponent_of(double x) { return x == 0 ? 0 : std::ilogb(x) + 1; }

} // namespace

const double *plain_weights(const InputPattern &given, const void *values, std::vector<double> &own) {
    const std::int64_t count = value_count(given);
    own.resize(at(count) + 1);
    constexpr std::int64_t longest = std::int64_t{1} << 53;
    switch (given.value_type) {
    case PERM_VALUE_F64: {
        const auto *doubles = static_cast<const double *>(values);
        const bool are_fit =
            std::all_of(doubles, doubles + count, [](double x) { return x >= 0 && x < INFINITY; });
        return are_fit ? doubles : nullptr;
    }
    case PERM_VALUE_I64:
        for (std::int64_t k = 0; k < count; ++k) {
            const std::int64_t x = static_cast<const std::int64_t *>(values)[k];
            if (x < 0 || x > longest) return nullptr;
            own[at(k)] = static_cast<double>(x);
        }
        return own.data();
    case PERM_VALUE_PATTERN:
        std::fill(own.begin(), own.end(), 1.0);
        return own.data();
    default:
        return nullptr;
    }
}

SetGradient::SetGradient(const InputPattern &given, SetLayers layers, KeptTables kept)
    : value_count_(libperm::value_count(given)),
      marginal_count_(given.pattern.nnz() + given.pattern.rows + given.pattern.cols),
      layers_(std::move(layers)),
      kept_(std::move(kept)) {
    scratch_ = doubles_of_table(layers_.widest());
    bytes_ = 8 * (doubles() + 64) + 16 * value_count_;
}

std::unique_ptr<const SetGradient> SetGradient::of(const InputPattern &given, const Options &options) {
    constexpr std::int64_t all_are_kept =
        1 << 22; // doubles: to make them again takes longer than room for them
    std::optional<SetLayers> layers = SetLayers::of(given, options.seed);
    if (!layers) return {};
    KeptTables kept = kept_tables(*layers, std::min<std::int64_t>(all_are_kept, options.memory_limit / 16));
    return std::make_unique<const SetGradient>(SetGradient(given, *std::move(layers), std::move(kept)));
}

double SetGradient::serial_seconds() const {
    return of_an_operation * layers_.operations() + of_a_layer * static_cast<double>(layers_.layers().size());
}
double SetGradient::seconds(int threads) const {
    const bool is_shared = layers_.widest() > std::countr_zero(chunk_sets);
    return serial_seconds() / (is_shared ? threads : 1);
}

Work SetGradient::work(const Options &options) const {
    constexpr double start = gpu_start::bring_in + gpu_start::of_compiling * device_compile;
    const double on_cpu = seconds(options.threads) * (layers_.widest() > cached_lines ? beyond_cache : 1);
    const auto on_gpu = [this](const GpuProperties &gpu) {
        return device_layer * static_cast<double>(layers_.layers().size()) +
               device_bytes_of_operation * layers_.operations() / gpu.memory_bandwidth;
    };
    return {"marginals by tables over sets", on_cpu, start, on_gpu, static_cast<double>(device_bytes())};
}

double SetGradient::peak_states() const { return std::ldexp(1.0, layers_.widest()); }

class SetGradient::Walk {
  public:
    Walk(const SetGradient &of, SetTables &tables)
        : of_(of),
          layers_(of.layers_.layers()),
          tables_(tables),
          place_(layers_.size(), 0),
          exp2_(layers_.size() + 1, 0),
          shift_(layers_.size(), 0),
          most_(layers_.size() + 1, 1) {
        TablePlace next = 0;
        const auto take = [&](std::int64_t doubles) {
            const TablePlace table = next + static_cast<std::int64_t>(set_margin);
            next += doubles;
            return table;
        };
        for (TablePlace &table : scratch_) table = take(of.scratch_);
        for (const std::int32_t t : of.kept_.first)
            place_[at(t)] = take(doubles_of_table(layers_[at(t)].before));
        between_ = next;
    }

    // False: too far apart.
    bool run(const double *values) {
        load(values);
        forward();
        if (!(total_ > 0)) return is_narrow_; // else underflow may have made it so
        back();
        return lost_ < 0x1p-60;
    }

    std::optional<SetValue> answer(double *marginals, double *bounds) {
        SetValue value;
        if (!(total_ > 0)) return value;
        double roundings = roundings_ + 1;
        std::int64_t exp2 = exp2_.back() + scale_;
        value.value = make_scaled(total_, exp2);
        for (const SetClosing &line : of_.layers_.alone()) {
            const double x = weight(line.unmatched, line.line);
            if (!(x > 0)) return SetValue{};
            const Scaled weight = make_scaled(x); // which may be no normal double
            value.value = make_scaled(value.value.mantissa * weight.mantissa, value.value.exp2 + weight.exp2);
            ++roundings;
        }
        const double gamma = gamma_bound(roundings);
        value.rel_error_bound = (gamma / (1 - gamma) + 4 * lost_) * (1 + 0x1p-30);
        const double error =
            gamma_bound(2 * roundings + roundings_of_sum + 8) * (1 + 0x1p-30); // of both sums
        std::fill_n(marginals, of_.marginal_count_, 0.0);
        if (bounds) std::fill_n(bounds, of_.marginal_count_, 0.0);
        const auto put = [&](std::int64_t place, double probability) {
            marginals[place] = probability;
            if (bounds)
                bounds[place] = probability * error + 4 * lost_ + (probability < 0x1p-900 ? 0x1p-1020 : 0);
        };
        for (const Share &share : shares_) put(share.place, share.probability);
        for (const SetClosing &line : of_.layers_.alone()) put(line.told, 1);
        return value;
    }

  private:
    struct Share {
        std::int64_t place;
        double probability;
    };

    double number(std::int64_t place) const {
        return place >= 0 ? values_[place] : place == weight_one ? 1 : 0;
    }
    // Of leaving a line of the other side unmatched, scaled as its entries are.
    double weight(std::int64_t place, std::int32_t line) const {
        return std::ldexp(number(place), -scale_of_[at(line)]);
    }

    // Brings the largest number of each line that is met into [1/2, 1) by a power of two, after the other
    // lines' weights that are above 1.
    void load(const double *values) {
        values_ = values;
        scale_of_.assign(at(of_.layers_.lines()), 0);
        double lost = 0, grown = 0; // exponents of products, at most
        const auto of_closing = [&](const SetClosing &line) {
            const double x = number(line.unmatched);
            int &scale = scale_of_[at(line.line)];
            scale = x > 1 ? exponent_of(x) : 0;
            scale_ += scale;
            if (x != 0) lost += std::max(0, scale - std::ilogb(x));
            grown += 1;
        };
        for (const SetLayer &layer : layers_)
            std::for_each(layer.closings.begin(), layer.closings.end(), of_closing);
        for (const SetClosing &line : of_.layers_.alone()) of_closing(line);
        scaled_.clear();
        stays_.clear();
        for (const SetLayer &layer : layers_) {
            int most = std::numeric_limits<int>::min(), least = std::numeric_limits<int>::max();
            const auto look = [&](double x, int scale) {
                if (x == 0) return;
                most = std::max(most, std::ilogb(x) + 1 - scale);
                least = std::min(least, std::ilogb(x) - scale);
            };
            const double stays = number(layer.unmatched);
            look(stays, 0);
            for (const SetMove &move : layer.moves) look(values[move.place], scale_of_[at(move.line)]);
            const int exponent = most < least ? 0 : most;
            scale_ += exponent;
            if (most >= least) lost += most - least;
            grown += std::log2(static_cast<double>(layer.moves.size()) + 1);
            stays_.push_back(std::ldexp(stays, -exponent));
            for (const SetMove &move : layer.moves)
                scaled_.push_back(std::ldexp(values[move.place], -exponent - scale_of_[at(move.line)]));
        }
        is_narrow_ = lost <= range && grown <= range;
        first_move_.assign(1, 0);
        for (const SetLayer &layer : layers_) first_move_.push_back(first_move_.back() + layer.moves.size());
    }

    // The step of layer t, `high_` its lines above a block.
    SetStep step_of(std::int32_t t) {
        const SetLayer &layer = layers_[at(t)];
        SetStep step;
        step.stays = stays_[at(t)];
        high_.clear();
        for (std::size_t k = 0; k < layer.moves.size(); ++k) {
            const std::int32_t bit = layer.moves[k].bit;
            const double factor = scaled_[first_move_[at(t)] + k];
            if (bit < set_block_bits)
                step.low[at(bit)] = factor;
            else
                high_.push_back({std::uint64_t{1} << (bit - set_block_bits), factor});
        }
        step.high = high_;
        for (std::int32_t bit = std::max(layer.before, set_block_bits); bit < layer.open; ++bit)
            step.opened |= std::uint64_t{1} << (bit - set_block_bits);
        return step;
    }

    // Of going over so many sets.
    double work_of(std::int32_t t, std::uint64_t sets) const {
        return static_cast<double>(sets) * (static_cast<double>(layers_[at(t)].moves.size()) / 2 + 1);
    }

    // F after the line, before anything is closed.
    void meet(std::int32_t t, TablePlace table, TablePlace to) {
        const std::uint64_t sets = sets_of(layers_[at(t)].open);
        tables_.meet(step_of(t), table, to, sets, work_of(t, sets));
    }

    // The table before layer t + 1 from that before t, by way of the first scratch table and another.
    void go_forward(std::int32_t t, TablePlace table, TablePlace to, TablePlace other, bool again) {
        const SetLayer &layer = layers_[at(t)];
        TablePlace into = layer.closings.empty() ? to : scratch_[0];
        meet(t, table, into);
        std::int32_t lines = layer.open;
        for (std::size_t k = 0; k < layer.closings.size(); ++k) {
            const SetClosing &line = layer.closings[k];
            const TablePlace next = k + 1 == layer.closings.size() ? to
                                    : into == scratch_[0]          ? other
                                                                   : scratch_[0];
            tables_.close({line.bit, --lines, weight(line.unmatched, line.line), into, next});
            into = next;
        }
        settle(t, to, again);
    }

    // Near 1, where numbers may leave the range of double.
    void settle(std::int32_t t, TablePlace table, bool again) {
        if (is_narrow_) return;
        const std::uint64_t sets = sets_of(layers_[at(t)].after());
        if (!again) {
            const double most = tables_.most_of(table, sets);
            shift_[at(t)] = most > 0x1p100 || (most > 0 && most < 0x1p-100) ? exponent_of(most) : 0;
            most_[at(t) + 1] = std::ldexp(most, -shift_[at(t)]);
            exp2_[at(t) + 1] = exp2_[at(t)] + shift_[at(t)];
        }
        if (shift_[at(t)] != 0) multiply_by_power(table, sets, -shift_[at(t)]);
    }
    void multiply_by_power(TablePlace table, std::uint64_t sets, int exp2) {
        for (; exp2 != 0; exp2 -= std::clamp(exp2, -1000, 1000))
            tables_.multiply(table, sets, std::ldexp(1.0, std::clamp(exp2, -1000, 1000)));
    }

    std::int32_t count() const { return static_cast<std::int32_t>(layers_.size()); }

    void place_between(std::int32_t first, std::int32_t last) {
        TablePlace next = between_;
        for (std::int32_t t = first + 1; t < last; ++t) {
            place_[at(t)] = next + static_cast<std::int64_t>(set_margin);
            next += doubles_of_table(layers_[at(t)].before);
        }
    }

    // To the end, with the last stretch's tables.
    void forward() {
        total_ = 1;
        if (layers_.empty()) return;
        const auto &first = of_.kept_.first;
        tables_.put_empty_set(place_[0]); // nothing is met
        for (std::size_t s = 0; s < first.size(); ++s) {
            const std::int32_t end = s + 1 < first.size() ? first[s + 1] : count();
            place_between(first[s], end);
            for (std::int32_t t = first[s]; t + 1 < count() && t < end; ++t)
                go_forward(t, place_[at(t)], place_[at(t) + 1], scratch_[1], false);
        }
        const TablePlace last = scratch_[2];
        go_forward(count() - 1, place_.back(), last, scratch_[1], false);
        total_ = tables_.of_empty_set(last);
        for (const SetLayer &layer : layers_)
            roundings_ += static_cast<double>(layer.moves.size() + 2 + 2 * layer.closings.size());
    }

    void back() {
        const auto &first = of_.kept_.first;
        now_ = scratch_[1];
        spare_ = scratch_[2];
        tables_.put_empty_set(now_); // all is met
        for (std::size_t s = first.size(); s-- > 0;) {
            const std::int32_t end = s + 1 < first.size() ? first[s + 1] : count();
            if (s + 1 < first.size()) {
                place_between(first[s], end);
                for (std::int32_t t = first[s]; t + 1 < end; ++t) // the slopes stand in the third
                    go_forward(t, place_[at(t)], place_[at(t) + 1], spare_, true);
            }
            for (std::int32_t t = end; t-- > first[s];) go_back(t);
        }
    }

    void tell(std::int64_t place, double factor, double sum, std::int64_t exp2) {
        if (factor == 0 || sum == 0) {
            if (!is_narrow_) shares_.push_back({place, 0}); // underflow may have made it so
            return;
        }
        int of_factor = 0, of_sum = 0;
        factor = std::frexp(factor, &of_factor);
        sum = std::frexp(sum, &of_sum);
        shares_.push_back(
            {place, to_double(make_scaled(factor * sum / total_, exp2 + of_factor + of_sum - exp2_.back()))});
    }

    // From the slopes behind layer t to those before it, and what it tells.
    void go_back(std::int32_t t) {
        const SetLayer &layer = layers_[at(t)];
        const TablePlace table = place_[at(t)];
        std::int32_t lines = layer.after();
        tables_.clear_beyond(lines, now_); // below a block there are others' sets
        for (std::size_t k = layer.closings.size(); k-- > 0;) {
            const SetClosing &line = layer.closings[k];
            tables_.open({line.bit, ++lines, weight(line.unmatched, line.line), now_, spare_});
            std::swap(now_, spare_);
        }
        const std::int64_t exp2 = exp2_[at(t)] + exp2_of_slopes_; // of the products
        if (!layer.closings.empty()) {
            meet(t, table, scratch_[0]);
            for (std::size_t k = 0; k < layer.closings.size(); ++k) {
                const SetClosing &line = layer.closings[k];
                if (number(line.unmatched) == 0) continue; // it must be matched
                // Its bit before any is closed: it stands below those that were closed before it.
                tables_.sum_without(line.bit, sets_of(layer.open), scratch_[0], now_, sums_);
                tell(line.told, 1, sum_by_halves(sums_.data(), sums_.size(), 1), exp2);
            }
        }
        const SetStep step = step_of(t);
        const std::uint64_t sets = sets_of(layer.before);
        tables_.go_back(step, table, now_, spare_, sets, sums_, 2 * work_of(t, sets));
        const std::size_t apart = sums_of(step), chunks = sums_.size() / apart;
        const auto sum = [&](std::size_t k) { return sum_by_halves(sums_.data() + k, chunks, apart); };
        tell(layer.told, step.stays, sum(0), exp2);
        std::size_t high = 1 + set_block_bits;
        for (std::size_t k = 0; k < layer.moves.size(); ++k) {
            const SetMove &move = layer.moves[k];
            const double factor = scaled_[first_move_[at(t)] + k];
            tell(move.place, factor, sum(move.bit < set_block_bits ? at(1 + move.bit) : high++), exp2);
        }
        std::swap(now_, spare_);
        settle_slopes(t, exp2);
    }

    // What underflow has lost: each number of a table by at most `each`, which counts as often as it goes on
    // from there.
    void settle_slopes(std::int32_t t, std::int64_t exp2) {
        if (is_narrow_) return;
        const SetLayer &layer = layers_[at(t)];
        const std::uint64_t sets = sets_of(layer.before);
        const double most = tables_.most_of(now_, sets), before = most_of_slopes_;
        const double each = -1073 + std::log2(static_cast<double>(layer.moves.size()) + 8 +
                                              4 * static_cast<double>(layer.closings.size()));
        const double log_sets = std::max(layer.open, set_block_bits);
        const auto up = [](double x) { return std::max(0.0, std::log2(x)); };
        // Log2 of the value, in units of the products of tables with slopes; and where the table after it was
        // before it was settled.
        const double value = std::log2(total_) + static_cast<double>(exp2_.back() - exp2);
        lost_ += 8 * std::exp2(each + log_sets + up(most_[at(t)]) + up(before) - value +
                               std::max(0, shift_[at(t)]));
        lost_ += 8 * std::exp2(each + log_sets + up(most_[at(t)]) + up(before) - value);
        const int shift = most > 0x1p100 || (most > 0 && most < 0x1p-100) ? exponent_of(most) : 0;
        if (shift != 0) multiply_by_power(now_, sets, -shift);
        // Rounded to a subnormal once more.
        if (shift > 0) lost_ += 8 * std::exp2(each + log_sets + up(most_[at(t)]) - value + shift);
        exp2_of_slopes_ += shift;
        most_of_slopes_ = std::ldexp(most, -shift);
    }

    const SetGradient &of_;
    const std::vector<SetLayer> &layers_;
    SetTables &tables_;
    std::array<TablePlace, 3> scratch_{};
    std::vector<TablePlace> place_; // of the table before each layer, where it is kept
    TablePlace between_ = 0;
    TablePlace now_ = 0, spare_ = 0; // slopes
    const double *values_ = nullptr;
    std::vector<double> scaled_, stays_; // entries, by layer; weights
    std::vector<std::size_t> first_move_;
    std::vector<int> scale_of_; // of the other side's lines
    std::vector<SetStep::High> high_;
    std::vector<double> sums_;
    std::vector<Share> shares_;
    std::int64_t scale_ = 0; // the value is the total times 2^it, but for exp2_
    bool is_narrow_ = false;
    std::vector<std::int64_t> exp2_; // of the table before each layer, and of the last one
    std::vector<int> shift_;
    std::vector<double> most_;
    std::int64_t exp2_of_slopes_ = 0;
    double most_of_slopes_ = 1;
    double total_ = 0, lost_ = 0, roundings_ = 0;
};

std::optional<SetValue> SetGradient::run(const double *values, double *marginals, double *bounds,
                                         DeviceQueue *device) const {
    call().begin(layers_.operations(), serial_seconds());
    const std::unique_ptr<SetTables> tables =
        device ? set_tables_on_device(doubles(), *device) : set_tables_on_cpu(doubles());
    Walk walk(*this, *tables);
    if (!walk.run(values)) return {};
    return walk.answer(marginals, bounds);
}

} // namespace libperm
