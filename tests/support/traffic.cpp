#include "tests/support/traffic.hpp"

#include <algorithm>
#include <limits>

namespace libperm {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

bool is_row_sum(const StraightLine &program, const Instruction &i) {
    return i.op == Op::add && i.a < program.inputs;
}

// One machine with its registers; values that the code does not need again are not kept.
class Belady {
  public:
    Belady(const StraightLine &program, std::int32_t registers)
        : program_(program),
          registers_(at(std::max(registers, 4))),
          uses_(at(program.inputs) + program.code.size()),
          written_(uses_.size()) {
        const auto end = static_cast<std::int64_t>(program.code.size());
        for (std::int64_t k = 0; k < end; ++k)
            for_operands(program.code[at(k)], [&](std::int32_t v) { uses_[at(v)].push_back(k); });
        for (const std::int32_t v : program.outputs) uses_[at(v)].push_back(end);
        for (auto &uses : uses_) std::reverse(uses.begin(), uses.end());
    }

    Traffic run() {
        for (std::size_t k = 0; k < program_.code.size(); ++k) {
            for_operands(program_.code[k], [&](std::int32_t v) { pinned_.push_back(v); });
            for (const std::int32_t v : pinned_) fetch(v);
            forget(static_cast<std::int64_t>(k));
            enter(program_.inputs + static_cast<std::int32_t>(k));
            pinned_.clear();
        }
        std::vector<std::int32_t> outputs = program_.outputs;
        std::sort(outputs.begin(), outputs.end());
        outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
        for (const std::int32_t v : outputs)
            if (!held(v)) count_again(v);
        return traffic_;
    }

  private:
    static constexpr auto never = std::numeric_limits<std::int64_t>::max();

    std::int64_t next_use(std::int32_t v) const { return uses_[at(v)].empty() ? never : uses_[at(v)].back(); }

    void forget(std::int64_t done) {
        for (const std::int32_t v : pinned_)
            while (next_use(v) <= done) uses_[at(v)].pop_back();
        std::erase_if(held_, [&](std::int32_t v) { return next_use(v) == never; });
    }

    void enter(std::int32_t v) {
        if (held_.size() == registers_) evict();
        held_.push_back(v);
    }

    void evict() {
        auto furthest = held_.end();
        for (auto v = held_.begin(); v != held_.end(); ++v) {
            const bool pinned = std::find(pinned_.begin(), pinned_.end(), *v) != pinned_.end();
            if (!pinned && (furthest == held_.end() || next_use(*v) > next_use(*furthest))) furthest = v;
        }
        if (next_use(*furthest) != never && !remade(*furthest) && !written_[at(*furthest)]) {
            written_[at(*furthest)] = true;
            ++traffic_.stores;
        }
        held_.erase(furthest);
    }

    void fetch(std::int32_t v) {
        if (held(v)) return;
        count_again(v);
        enter(v);
    }

    bool held(std::int32_t v) const {
        return v < program_.inputs || std::find(held_.begin(), held_.end(), v) != held_.end();
    }
    void count_again(std::int32_t v) { ++(remade(v) ? traffic_.repeated : traffic_.loads); }

    bool remade(std::int32_t v) const { return is_row_sum(program_, program_.code[at(v - program_.inputs)]); }

    const StraightLine &program_;
    std::size_t registers_;
    std::vector<std::vector<std::int64_t>> uses_; // of each value, the next one last
    std::vector<bool> written_;
    std::vector<std::int32_t> held_, pinned_;
    Traffic traffic_;
};

} // namespace

Traffic traffic_of(const StraightLine &program, std::int32_t registers) {
    return Belady(program, registers).run();
}

} // namespace libperm
