#include "tests/record/host.hpp"

#include "bench/families.hpp"
#include "lib/glynn/minors/left_out_in_pieces.hpp"
#include "tests/record/played.hpp"

#include <cmath>

using namespace libperm;
using perm::families::Random;

namespace {

GridMatrix lines_of(const LeftOutShape &shape, bool far_apart, Random &random) {
    GridMatrix lines = shape.no_lines();
    const auto entry = [&] {
        return std::ldexp(random.uniform(-1, 1), far_apart ? static_cast<int>(random.integer(-60, 60)) : 0);
    };
    for (int i = 0; i < shape.rows(); ++i)
        for (int j = 0; j < shape.columns(); ++j) {
            const double re = entry(), im = shape.is_complex ? entry() : 0;
            lines.set(i, j, re, im);
        }
    if (!lines.fix()) throw std::logic_error("lines that have no grid");
    return lines;
}

// Numbers and bounds, and of gradients the permanent behind them.
std::vector<double> numbers_of(const LeftOutShape &shape, const GridMatrix &lines, LineSums found) {
    std::vector<double> numbers;
    const auto take = [&](const auto &put) {
        double x[2]{};
        numbers.push_back(put(x));
        numbers.insert(numbers.end(), {x[0], x[1]});
    };
    const LeftOutSums sums(shape.what, lines, std::move(found));
    if (shape.what == LeftOut::minors) {
        for (int i = 0; i < shape.rows(); ++i) take([&](double *to) { return sums.put(i, to); });
        return numbers;
    }
    for (int i = 0; i < shape.rows(); ++i)
        for (int j = 0; j < shape.columns(); ++j) take([&](double *to) { return sums.put(i, j, 1, 0, to); });
    take([&](double *to) { return sums.put_permanent(to); });
    return numbers;
}

std::string minors_text(HostQueue &queue, const LeftOutShape &shape) {
    Random random(static_cast<std::uint64_t>(shape.columns()));
    std::vector<GridMatrix> lines;
    for (const bool far_apart : {false, true}) lines.push_back(lines_of(shape, far_apart, random));
    LeftOutOnDevice device(queue, shape, 1e-3, 1 << 20);
    const std::uint64_t tasks = shape.share().tasks();
    const std::vector<LineSums> found = device.run(lines, {0, tasks});
    std::string text = fmt::format("tasks={} numbers=", tasks);
    for (std::size_t k = 0; k < lines.size(); ++k) {
        LineSums all = shape.no_sums();
        for (std::size_t t = 0; t < tasks; ++t) add_task(found[k * tasks + t], all);
        const std::vector<double> numbers = numbers_of(shape, lines[k], std::move(all));
        text += fmt::format("[{} {} {}]", bits_of(numbers[0]), bits_of(numbers[1]), digest_of(numbers));
    }
    return text;
}

} // namespace

void record_minors(RecordLines &to) {
    const auto ones = [](std::size_t count) { return std::vector<int>(count, 1); };
    HostQueue queue;
    for (const bool is_complex : {false, true})
        for (const auto &[name, shape] :
             {std::pair<const char *, LeftOutShape>{"gradient",
                                                    {LeftOut::gradients, ones(12), ones(12), is_complex}},
              {"minors", {LeftOut::minors, ones(13), ones(12), is_complex}},
              {"gradient_repeated", {LeftOut::gradients, {3, 1, 2, 1}, ones(14), is_complex}},
              {"minors_repeated", {LeftOut::minors, {2, 1, 3}, ones(16), is_complex}}})
            record_on(to, fmt::format("minors/{}/{}", name, is_complex ? "complex" : "real"), queue,
                      [&](HostQueue &q) { return minors_text(q, shape); });
}
