#include "lib/subsets/windows.hpp"

#include "jit/number/partial.hpp"
#include "lib/base/work_sharing.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/placement.hpp"
#include "lib/subsets/segment_sum.hpp"

namespace libperm {
namespace {

class WindowSum {
  public:
    WindowSum(const SubsetPlan &plan, const std::vector<SubsetMatrix> &matrices,
              const std::function<WindowWorkers()> &open)
        : plan_(plan),
          matrices_(matrices),
          open_(open),
          pieces_(piece_count(plan.kernel)),
          windows_(plan.kernel.equal_chunks ? 1 : window_count(plan.kernel) / pieces_) {}

    std::vector<SubsetSum> run() {
        const auto compute = [&](std::span<const std::uint64_t> todo, const auto &done) {
            const WindowWorkers workers = open_();
            const auto at_once = [&](std::size_t k) { // pieces
                return std::max<std::uint64_t>(1, workers[k]->at_once() / windows_);
            };
            share_out(todo, workers.size(),
                      {at_once,
                       [&](std::size_t k, std::span<const std::uint64_t> some) {
                           run_pieces(*workers[k], at_once(k), some, done);
                       },
                       [&](std::size_t, const std::exception_ptr &error) {
                           return is_of_its_device(error, workers.size() == 1);
                       }});
        };
        const std::vector<SubsetSum> parts = parts_of_pieces(
            pieces_ * matrices_.size(), plan_.subsets / static_cast<double>(pieces_), SubsetSum{}, compute);
        std::vector<SubsetSum> totals(matrices_.size());
        for (std::uint64_t k = 0; k < parts.size(); ++k) add(totals[k / pieces_], parts[k], k / pieces_);
        return totals;
    }

  private:
    // Consecutive ones of one matrix together.
    template <class Done>
    void run_pieces(WindowWorker &worker, std::uint64_t most, std::span<const std::uint64_t> pieces,
                    const Done &done) {
        for (std::size_t k = 0, end = 0; k < pieces.size(); k = end) {
            call().begin_piece();
            const std::uint64_t matrix = pieces[k] / pieces_;
            while (end < pieces.size() && pieces[end] == pieces[k] + (end - k) &&
                   pieces[end] / pieces_ == matrix && end - k < most)
                ++end;
            const std::uint64_t first = pieces[k] % pieces_ * windows_, count = (end - k) * windows_;
            std::vector<SubsetSum> sums(end - k);
            for (std::uint64_t w = 0; w < count;) {
                const std::uint64_t some = std::min(count - w, worker.at_once());
                for (const SubsetSum &sum : worker.sums(matrices_[matrix], first + w, some))
                    add(sums[w++ / windows_], sum, matrix);
            }
            for (std::size_t i = k; i < end; ++i) done(pieces[i], sums[i - k]);
        }
    }

    void add(SubsetSum &total, const SubsetSum &part, std::uint64_t matrix) const {
        with_arithmetic_of(plan_.kernel.arithmetic, matrices_[matrix].numbers,
                           [&](const auto &f) { add_window(f, total, part); });
    }

    const SubsetPlan &plan_;
    const std::vector<SubsetMatrix> &matrices_;
    const std::function<WindowWorkers()> &open_;
    const std::uint64_t pieces_, windows_; // of a matrix, of a piece
};

} // namespace

std::vector<SubsetSum> sum_windows(const SubsetPlan &plan, const std::vector<SubsetMatrix> &matrices,
                                   const std::function<WindowWorkers()> &open) {
    return WindowSum(plan, matrices, open).run();
}

} // namespace libperm
