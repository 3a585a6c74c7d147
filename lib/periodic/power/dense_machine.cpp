#include "lib/periodic/power/dense_machine.hpp"

#include "jit/kernel/dense_product.hpp"

#include <array>
#include <bit>

namespace libperm {
namespace {

class Processor final : public DenseMachine {
  public:
    explicit Processor(RunControl &control) : control_(control) {}

    PlacedMatrix placed(DenseMatrix x) override { return {std::move(x), {}}; }
    PlacedMatrix times(const PlacedMatrix &a, const PlacedMatrix &b) override {
        return {product(a.on_host, b.on_host, control_), {}};
    }
    double largest(const PlacedMatrix &x) override { return x.on_host.largest(); }
    void take_out(PlacedMatrix &x, int power) override { x.on_host.take_out(power); }
    DenseMatrix on_host(const PlacedMatrix &x) override { return x.on_host; }

  private:
    RunControl &control_;
};

class DenseDevice final : public DenseMachine {
  public:
    DenseDevice(DeviceQueue &queue, RunControl &control) : queue_(queue), control_(control), most_(queue) {
        queue.load(dense_product_kernels());
        most_.reserve(sizeof(std::uint64_t));
    }

    // Rows have room for a multiple of eight numbers, zeros behind their own.
    PlacedMatrix placed(DenseMatrix x) override {
        PlacedMatrix out{described(x), {}};
        std::vector<double> wide(count_of(x), 0);
        for (const DensePlane &plane : x.planes) {
            control_.poll();
            for (std::size_t i = 0; i < x.rows; ++i)
                std::copy_n(plane.begin() + static_cast<std::ptrdiff_t>(i * x.columns), x.columns,
                            wide.begin() + static_cast<std::ptrdiff_t>(i * dense_pitch(x.columns)));
            out.planes.emplace_back(queue_).reserve(8 * wide.size());
            queue_.copy_in(out.planes.back().address(), wide.data(), 8 * wide.size());
        }
        return out;
    }

    PlacedMatrix times(const PlacedMatrix &a, const PlacedMatrix &b) override {
        DenseMatrix described{a.on_host.complex, false, a.on_host.rows, b.on_host.columns, {}};
        described.exp2 = a.on_host.exp2 + b.on_host.exp2;
        PlacedMatrix c{std::move(described), {}};
        for (std::size_t p = 0; p < a.planes.size(); ++p)
            c.planes.emplace_back(queue_).reserve(8 * count_of(c.on_host));
        std::vector<bool> has_terms(c.planes.size(), false);
        for (const PartProduct &part : parts_of_product(a.on_host.complex)) {
            DeviceDenseProduct m{a.planes[part.a].address(),
                                 b.planes[part.b].address(),
                                 c.planes[part.c].address(),
                                 static_cast<std::uint32_t>(a.on_host.rows),
                                 static_cast<std::uint32_t>(a.on_host.columns),
                                 static_cast<std::uint32_t>(b.on_host.columns),
                                 dense_pitch(a.on_host.columns),
                                 dense_pitch(b.on_host.columns),
                                 has_terms[part.c] ? 1U : 0U,
                                 part.negative ? -1.0 : 1.0};
            has_terms[part.c] = true;
            const std::array<void *, 1> arguments{&m};
            const std::uint32_t blocks =
                (m.rows + dense_rows - 1) / dense_rows * ((m.columns + dense_columns - 1) / dense_columns);
            queue_.launch(dense_product_entry, blocks, dense_product_threads, arguments);
        }
        queue_.wait();
        control_.advance(static_cast<double>(a.on_host.rows) * static_cast<double>(a.on_host.columns) *
                         static_cast<double>(b.on_host.columns));
        return c;
    }

    double largest(const PlacedMatrix &x) override {
        std::uint64_t bits = 0, count = count_of(x.on_host);
        DeviceAddress most = most_.address();
        queue_.copy_in(most, &bits, sizeof bits);
        for (const DeviceArray &plane : x.planes) {
            DeviceAddress at = plane.address();
            const std::array<void *, 3> arguments{&at, &count, &most};
            queue_.launch(dense_largest_entry, blocks_for(dense_largest_entry, count), dense_product_threads,
                          arguments);
        }
        queue_.copy_out(&bits, most, sizeof bits);
        return std::bit_cast<double>(bits);
    }

    void take_out(PlacedMatrix &x, int power) override {
        auto [one, other] = x.on_host.taken_out(power);
        std::uint64_t count = count_of(x.on_host);
        for (const DeviceArray &plane : x.planes) {
            DeviceAddress at = plane.address();
            const std::array<void *, 4> arguments{&at, &count, &one, &other};
            queue_.launch(dense_scale_entry, blocks_for(dense_scale_entry, count), dense_product_threads,
                          arguments);
        }
    }

    DenseMatrix on_host(const PlacedMatrix &x) override {
        DenseMatrix out = DenseMatrix::unwritten(x.on_host.rows, x.on_host.columns, x.on_host.complex, false);
        out.exp2 = x.on_host.exp2;
        out.lost = x.on_host.lost;
        std::vector<double> wide(count_of(out));
        for (std::size_t p = 0; p < out.planes.size(); ++p) {
            control_.poll();
            queue_.copy_out(wide.data(), x.planes[p].address(), 8 * wide.size());
            for (std::size_t i = 0; i < out.rows; ++i)
                std::copy_n(wide.begin() + static_cast<std::ptrdiff_t>(i * dense_pitch(out.columns)),
                            out.columns,
                            out.planes[p].begin() + static_cast<std::ptrdiff_t>(i * out.columns));
        }
        return out;
    }

  private:
    static std::size_t count_of(const DenseMatrix &x) { return x.rows * dense_pitch(x.columns); }
    static DenseMatrix described(const DenseMatrix &x) {
        return {x.complex, x.dd, x.rows, x.columns, {}, x.exp2, x.lost};
    }
    unsigned blocks_for(const char *entry, std::uint64_t count) {
        const std::uint64_t needed = (count + dense_product_threads - 1) / dense_product_threads,
                            at_once = queue_.blocks_at_once(entry, dense_product_threads);
        return static_cast<unsigned>(std::max<std::uint64_t>(std::min(needed, at_once), 1));
    }

    DeviceQueue &queue_;
    RunControl &control_;
    DeviceArray most_;
};

} // namespace

std::unique_ptr<DenseMachine> processor(RunControl &control) { return std::make_unique<Processor>(control); }

std::unique_ptr<DenseMachine> dense_device(DeviceQueue &queue, RunControl &control) {
    return std::make_unique<DenseDevice>(queue, control);
}

} // namespace libperm
