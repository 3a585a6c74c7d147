#include "lib/sieve/sieve.hpp"

#include "lib/number/residues.hpp"
#include "lib/run/errors.hpp"
#include "lib/run/numbered_sum.hpp"
#include "lib/run/outcome_bytes.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/placement.hpp"
#include "lib/sieve/sign_walk.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <span>
#include <utility>

namespace libperm {
namespace {

constexpr std::uint64_t pieces_at_once = 8; // that a device takes

// What a piece comes to.
struct SievePart {
    std::vector<mpz_class> sums;
    double prefixes = 0;
};

template <class Archive> void fields(Archive &ar, SievePart &part) {
    for (mpz_class &sum : part.sums) number_field(ar, sum, 32);
    amounts(ar, part.prefixes);
}

// A walk of each thread at work, as their blocks and counts are large.
class Walks {
  public:
    Walks(const SievePlan &plan, const OtherRows &others)
        : bytes_(static_cast<std::int64_t>(SieveWalk::bytes(plan.program, plan.prefix_step, others.width()))),
          walks_([this, &plan, &others, account = &call().memory()] {
              return Walk{Charge(account, bytes_), SieveWalk(plan.program, plan.prefix_step, others)};
          }) {}
    std::int64_t bytes() const { return bytes_; } // of each

    SievePart sum(std::span<const std::uint32_t> prefixes) {
        SievePart part;
        part.sums = walks_.local().walk.sums(prefixes, [&](double met) {
            part.prefixes += met;
            call().advance(met);
        });
        return part;
    }

  private:
    struct Walk {
        Charge charge;
        SieveWalk walk;
    };

    const std::int64_t bytes_;
    oneapi::tbb::enumerable_thread_specific<Walk> walks_;
};

// What begins with the prefixes of the pieces, piece by piece. Neighbours have much or little to follow
// together: each piece has of all.
class Prefixes {
  public:
    explicit Prefixes(const SievePlan &plan)
        : size_(plan.program.prefix_words()),
          all_(spread(sieve_prefixes(plan.program, plan.prefix_step), size_)),
          pieces_(NumberedPieces::so_many(all_.size() / size_, plan.pieces)) {}

    std::uint64_t pieces() const { return pieces_.count(); }
    std::span<const std::uint32_t> of(std::uint64_t piece) const {
        const NumberRange range = pieces_[piece];
        return std::span(all_).subspan(range.first * size_, (range.last - range.first) * size_);
    }
    std::int64_t bytes() const { return static_cast<std::int64_t>(4 * all_.size()); }

  private:
    static std::vector<std::uint32_t> spread(const std::vector<std::uint32_t> &in_order, std::size_t size) {
        const std::uint64_t count = in_order.size() / size, stride = golden_stride(count);
        std::vector<std::uint32_t> all;
        all.reserve(in_order.size());
        for (std::uint64_t k = 0, place = 0; k < count; ++k, place = (place + stride) % count)
            all.insert(all.end(), &in_order[size * place], &in_order[size * place] + size);
        return all;
    }

    const std::size_t size_;
    const std::vector<std::uint32_t> all_;
    const NumberedPieces pieces_;
};

// On a GPU: while a piece is walked, the prefixes of the next are followed.
template <class Done>
void run_on(SieveOnDevice &device, const Prefixes &prefixes, std::span<const std::uint64_t> pieces,
            const Done &done) {
    Charge charge(&call().memory());
    std::vector<std::uint32_t> next;
    const auto follow = [&](std::uint64_t piece) {
        next = device.follow(prefixes.of(piece));
        charge.resize(static_cast<std::int64_t>(2 * 4 * next.capacity())); // and those one step before
    };
    follow(pieces[0]);
    for (std::size_t k = 0; k < pieces.size(); ++k) {
        call().begin_piece();
        device.start(next);
        if (k + 1 < pieces.size()) follow(pieces[k + 1]);
        SieveOnDevice::Sum sum = device.finish();
        call().advance(sum.prefixes);
        done(pieces[k], SievePart{{std::move(sum.products)}, sum.prefixes});
    }
}

// r_i and c_j modulo a prime, as Montgomery has numbers.
class Scales {
  public:
    // Throws UnfitPrime.
    Scales(const SievePlan &plan, const Residues &residues, std::size_t matrix)
        : plan_(plan),
          values_(residues.values[matrix]),
          field_(residues.primes[matrix]),
          rows_(plan.way.rows.size(), field_.to(1)),
          cols_(rows_) {
        if (!plan.is_fit(residues, matrix)) throw UnfitPrime(Engine::sieve, "an entry");
        for (const SievePlan::Scale &scale : plan.scales) {
            std::uint64_t &row = rows_[at(scale.row)], &col = cols_[at(scale.col)];
            const std::int8_t b = plan.integers[at(scale.entry)];
            const std::uint64_t size = field_.to(static_cast<std::uint64_t>(std::abs(b))),
                                signed_b = b < 0 ? field_.subtract(0, size) : size;
            (scale.tells_row ? row : col) =
                quotient(entry(scale.entry), field_.multiply(signed_b, scale.tells_row ? col : row));
        }
    }

    std::uint64_t other(std::size_t row, std::size_t k) const { // of those that are told
        return quotient(entry(plan_.others[row][k]), cols_[at(plan_.program.told[k])]);
    }

    // The block's permanent, of the sum of all terms, beside other rows as Montgomery has numbers.
    std::uint64_t permanent(const mpz_class &sum) const {
        const std::uint64_t residue = mpz_fdiv_ui(sum.get_mpz_t(), field_.prime());
        std::uint64_t product = plan_.others.empty() ? field_.to(residue) : residue;
        if (plan_.program.is_halved) product = field_.add(product, product);
        for (const std::uint64_t r : rows_) product = field_.multiply(product, r);
        for (const std::uint64_t c : cols_) product = field_.multiply(product, c);
        return field_.from(quotient(product, field_.power(field_.to(2), plan_.program.n_halved)));
    }

  private:
    std::uint64_t entry(std::int64_t k) const { return field_.to(plan_.read.value(values_, k)); }
    std::uint64_t quotient(std::uint64_t x, std::uint64_t y) const {
        return field_.multiply(x, field_.power(y, field_.prime() - 2));
    }

    const SievePlan &plan_;
    const std::vector<std::uint64_t> &values_;
    const Montgomery field_;
    std::vector<std::uint64_t> rows_, cols_;
};

} // namespace

bool SievePlan::is_fit(const Residues &residues, std::size_t matrix) const {
    return std::ranges::none_of(
        scales, [&](const Scale &s) { return read.value(residues.values[matrix], s.entry) == 0; });
}

// As a GPU's first piece has it.
KernelSource sieve_source(const Candidate &c, const Numbers &, bool) {
    const SievePlan &plan = *plan_as<SievePlan>(c);
    if (!plan.others.empty()) return {{}, "rows of other numbers than small integers are for a CPU alone"};
    const Prefixes prefixes(plan);
    const auto first = prefixes.of(0);
    std::vector<std::uint32_t> followed(first.begin(), first.end());
    const std::size_t step = SieveOnDevice::follow_first(plan.program, plan.prefix_step, followed);
    return {sieve_kernel(plan.program, step).source(), {}};
}

EngineResult run_sieve(const EngineRun &run, const EngineInput &input) {
    const SievePlan &plan = *plan_as<SievePlan>(run.choice);
    const Residues &residues = *input.residues();
    const Prefixes prefixes(plan);
    const auto tables =
        OtherRows::bytes(residues.primes.size(), plan.others.size(), plan.program.told.size());
    const Charge charge(&call().memory(), prefixes.bytes() + static_cast<std::int64_t>(tables));
    std::vector<Scales> scales;
    for (std::size_t k = 0; k < residues.primes.size(); ++k) scales.emplace_back(plan, residues, k);
    const auto other = [&](std::size_t matrix, std::size_t row, std::size_t k) {
        return scales[matrix].other(row, k);
    };
    const OtherRows others =
        plan.others.empty() ? OtherRows()
                            : OtherRows(residues.primes, plan.others.size(), plan.program.told.size(), other);
    const SievePart nothing{std::vector<mpz_class>(others.width()), 0};
    const double work = run.choice.cost.operations / static_cast<double>(plan.pieces);
    EngineResult result;
    std::vector<SievePart> parts;
    const auto run_pieces = [&](const auto &compute) {
        parts = parts_of_pieces(prefixes.pieces(), work, nothing, compute);
    };
    const auto on_gpus = [&] {
        const DeviceQueues queues = run.gpus.when_needed();
        OnEachDevice<SieveOnDevice> devices(queues, [&](DeviceQueue &queue) {
            return std::make_unique<SieveOnDevice>(queue, plan.program, plan.prefix_step);
        });
        run_pieces([&](std::span<const std::uint64_t> todo, const auto &done) {
            devices.share(
                todo, [](const SieveOnDevice &) { return pieces_at_once; },
                [&](SieveOnDevice &device, std::span<const std::uint64_t> pieces) {
                    run_on(device, prefixes, pieces, done);
                });
        });
        result.counts.peak_bytes = devices.peak_bytes();
    };
    if (!run.choice.on_gpu || !run_on_gpu("a walk over signs", run.options, on_gpus)) {
        Walks walks(plan, others);
        const auto piece = [&](std::uint64_t k) { return walks.sum(prefixes.of(k)); };
        run_pieces(each_on_its_thread(piece, static_cast<double>(walks.bytes())));
    }
    std::vector<mpz_class> sums = nothing.sums;
    for (const SievePart &part : parts) {
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += part.sums[k];
        result.counts.states += part.prefixes;
    }
    result.counts.operations = result.counts.states;
    result.counts.peak_states = run.choice.cost.peak_states;
    ResidueVector values;
    for (std::size_t k = 0; k < scales.size(); ++k)
        values.push_back(scales[k].permanent(sums[plan.others.empty() ? 0 : k]));
    result.value = std::move(values);
    return result;
}

} // namespace libperm
