#include "lib/sieve/sieve.hpp"

#include "lib/number/montgomery.hpp"
#include "lib/run/numbered_sum.hpp"
#include "lib/run/on_each_device.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/placement.hpp"
#include "lib/sieve/plan.hpp"
#include "lib/sieve/walk.hpp"
#include "lib/sieve/walk_on_device.hpp"
#include "preprocess/index.hpp"

#include <cmath>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace libperm {
namespace {

constexpr std::uint64_t pieces_at_once = 8; // that a device takes

// What a piece comes to.
struct SievePart {
    mpz_class sum;
    double prefixes = 0;
};

void save_part(cereal::PortableBinaryOutputArchive &ar, const SievePart &part) {
    ar(part.sum.get_str(32), part.prefixes);
}
void load_part(cereal::PortableBinaryInputArchive &ar, SievePart &part) {
    std::string digits;
    ar(digits, part.prefixes);
    const bool is_number = digits.find_first_not_of("-0123456789abcdefghijklmnopqrstuv") == std::string::npos;
    require(is_number && part.sum.set_str(digits, 32) == 0 && part.prefixes >= 0, "the sum of a piece");
}

// Walks that are at hand, one for each thread at work, as their blocks and counts are large.
class Walks {
  public:
    Walks(const SievePlan &plan, MemoryAccount &account) : plan_(plan), account_(account) {}

    SievePart sum(std::span<const std::uint32_t> prefixes, RunControl &control) {
        std::unique_ptr<Walk> walk = take();
        SievePart part;
        part.sum = walk->walk.sum(prefixes, [&](double met) {
            part.prefixes += met;
            control.advance(met);
        });
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(walk));
        return part;
    }

  private:
    struct Walk {
        Charge charge;
        SieveWalk walk;
    };

    std::unique_ptr<Walk> take() {
        {
            const std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                std::unique_ptr<Walk> walk = std::move(idle_.back());
                idle_.pop_back();
                return walk;
            }
        }
        const auto bytes = static_cast<std::int64_t>(SieveWalk::bytes(plan_.program, plan_.prefix_step));
        Charge charge(&account_, bytes);
        return std::make_unique<Walk>(Walk{std::move(charge), SieveWalk(plan_.program, plan_.prefix_step)});
    }

    const SievePlan &plan_;
    MemoryAccount &account_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Walk>> idle_;
};

// What begins with the prefixes of the pieces, piece by piece.
class Prefixes {
  public:
    explicit Prefixes(const SievePlan &plan)
        : size_(plan.program.prefix_words()),
          all_(sieve_prefixes(plan.program, plan.prefix_step)),
          pieces_(NumberedPieces::so_many(all_.size() / size_, plan.pieces)) {}

    std::uint64_t pieces() const { return pieces_.count(); }
    std::span<const std::uint32_t> of(std::uint64_t piece) const {
        const NumberRange range = pieces_[piece];
        return std::span(all_).subspan(range.first * size_, (range.last - range.first) * size_);
    }
    std::int64_t bytes() const { return static_cast<std::int64_t>(4 * all_.size()); }

  private:
    const std::size_t size_;
    const std::vector<std::uint32_t> all_;
    const NumberedPieces pieces_;
};

// On a GPU: while a piece is walked, the prefixes of the next are followed.
template <class Done>
void run_on(SieveOnDevice &device, const Prefixes &prefixes, std::span<const std::uint64_t> pieces,
            RunControl &control, const Done &done) {
    std::vector<std::uint32_t> next = device.follow(prefixes.of(pieces[0]));
    for (std::size_t k = 0; k < pieces.size(); ++k) {
        control.begin_piece();
        device.start(next);
        if (k + 1 < pieces.size()) next = device.follow(prefixes.of(pieces[k + 1]));
        SieveOnDevice::Sum sum = device.finish();
        control.advance(sum.prefixes);
        done(pieces[k], SievePart{std::move(sum.products), sum.prefixes});
    }
}

// perm(B), of all terms' sum; where this is one shard's alone the number is of no use.
mpz_class permanent_of(const SieveProgram &program, mpz_class sum) {
    if (program.is_halved) sum *= 2;
    mpz_fdiv_q_2exp(sum.get_mpz_t(), sum.get_mpz_t(), program.n_halved);
    return sum;
}

std::uint64_t modulo(const SievePlan &plan, const mpz_class &permanent, const Residues &residues,
                     std::size_t matrix) {
    const Montgomery field(residues.primes[matrix]);
    const auto residue = [&](const mpz_class &x) {
        return field.to(mpz_fdiv_ui(x.get_mpz_t(), field.prime()));
    };
    std::uint64_t product = residue(permanent), below = field.to(1);
    for (std::size_t k = 0; k < plan.of_matching.size(); ++k) {
        product = field.multiply(product, field.to(residues.values[matrix][k]));
        below = field.multiply(below, residue(plan.of_matching[k]));
    }
    return field.from(field.multiply(product, field.power(below, field.prime() - 2)));
}

} // namespace

EngineResult run_sieve(const EngineRun &run, const EngineInput &input) {
    const SievePlan &plan = *plan_as<SievePlan>(run.choice);
    RunControl &control = run.control;
    const Prefixes prefixes(plan);
    const Charge charge(&control.memory(), prefixes.bytes());
    const double work = run.choice.cost.operations / static_cast<double>(plan.pieces);
    EngineResult result;
    std::vector<SievePart> parts;
    const auto run_pieces = [&](const auto &compute) {
        parts = parts_of_pieces(control, prefixes.pieces(), work, SievePart(), compute);
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
                    run_on(device, prefixes, pieces, control, done);
                });
        });
        result.counts.peak_bytes = devices.peak_bytes();
    };
    if (!run.choice.on_gpu || !run_on_gpu("a walk over signs", run.options, on_gpus)) {
        Walks walks(plan, control.memory());
        const auto bytes = static_cast<double>(SieveWalk::bytes(plan.program, plan.prefix_step));
        const auto piece = [&](std::uint64_t k) { return walks.sum(prefixes.of(k), control); };
        run_pieces(each_on_its_thread(control, piece, bytes));
    }
    mpz_class sum;
    for (const SievePart &part : parts) {
        sum += part.sum;
        result.counts.states += part.prefixes;
    }
    result.counts.operations = result.counts.states;
    result.counts.peak_states = run.choice.cost.peak_states;
    const mpz_class permanent = permanent_of(plan.program, std::move(sum));
    const Residues &residues = *input.residues();
    ResidueVector values;
    for (std::size_t matrix = 0; matrix < residues.primes.size(); ++matrix)
        values.push_back(modulo(plan, permanent, residues, matrix));
    result.value = std::move(values);
    return result;
}

} // namespace libperm
