#include "bench/cusparse.hpp"

#include <utility>

namespace bench {
namespace {

// Their binary interface: handles and descriptors are pointers, kinds are numbers.
using Create = int (*)(void **);
using Destroy = int (*)(void *);
using GetVersion = int (*)(void *, int *);
using CreateCsr = int (*)(void **, std::int64_t, std::int64_t, std::int64_t, void *, void *, void *, int, int,
                          int, int);
using CreateVector = int (*)(void **, std::int64_t, void *, int);
using BufferSize = int (*)(void *, int, const void *, void *, void *, const void *, void *, int, int,
                           std::size_t *);
using Multiply = int (*)(void *, int, const void *, void *, void *, const void *, void *, int, int, void *);
using Synchronize = int (*)();
using Allocate = int (*)(std::uint64_t *, std::size_t);
using Release = int (*)(std::uint64_t);

using SumBuffer = int (*)(void *, int, int, const double *, void *, int, const double *, const int *,
                          const int *, const double *, void *, int, const double *, const int *, const int *,
                          void *, const double *, const int *, const int *, std::size_t *);
using SumSize = int (*)(void *, int, int, void *, int, const int *, const int *, void *, int, const int *,
                        const int *, void *, int *, int *, void *);
using Sum = int (*)(void *, int, int, const double *, void *, int, const double *, const int *, const int *,
                    const double *, void *, int, const double *, const int *, const int *, void *, double *,
                    int *, int *, void *);
using ProductStep = int (*)(void *, int, int, const void *, void *, void *, const void *, void *, int, int,
                            void *, std::size_t *, void *);
using ProductCopy = int (*)(void *, int, int, const void *, void *, void *, const void *, void *, int, int,
                            void *);
using SizeOf = int (*)(void *, std::int64_t *, std::int64_t *, std::int64_t *);
using SetPointers = int (*)(void *, void *, void *, void *);

constexpr int index_32 = 2, zero_based = 0, doubles = 1, as_it_is = 0;
constexpr double one = 1, zero = 0;

} // namespace

CuSparse::CuSparse() : cusparse_("libcusparse.so.12"), cuda_("libcuda.so.1") {
    check(cusparse_.find<Create>("cusparseCreate")(&handle_), "cusparseCreate");
    check(cusparse_.find<GetVersion>("cusparseGetVersion")(handle_, &version_), "cusparseGetVersion");
}

CuSparse::~CuSparse() {
    forget();
    cusparse_.find<Destroy>("cusparseDestroy")(handle_);
}

void CuSparse::synchronize() const {
    check(cuda_.find<Synchronize>("cuCtxSynchronize")(), "cuCtxSynchronize");
}

void CuSparse::prepare(const DeviceCsr &a, std::uint64_t x, std::uint64_t y, Algorithm algorithm) {
    forget();
    algorithm_ = algorithm;
    check(cusparse_.find<CreateCsr>("cusparseCreateCsr")(
              &matrix_, a.rows, a.columns, a.entries, pointer(a.first), pointer(a.column), pointer(a.value),
              index_32, index_32, zero_based, doubles),
          "cusparseCreateCsr");
    const auto vector = cusparse_.find<CreateVector>("cusparseCreateDnVec");
    check(vector(&x_, a.columns, pointer(x), doubles), "cusparseCreateDnVec");
    check(vector(&y_, a.rows, pointer(y), doubles), "cusparseCreateDnVec");
    std::size_t bytes = 0;
    const int kind = static_cast<int>(algorithm);
    check(cusparse_.find<BufferSize>("cusparseSpMV_bufferSize")(handle_, as_it_is, &one, matrix_, x_, &zero,
                                                                y_, doubles, kind, &bytes),
          "cusparseSpMV_bufferSize");
    check(cuda_.find<Allocate>("cuMemAlloc_v2")(&buffer_, bytes + 256), "cuMemAlloc");
    check(cusparse_.find<Multiply>("cusparseSpMV_preprocess")(handle_, as_it_is, &one, matrix_, x_, &zero, y_,
                                                              doubles, kind, pointer(buffer_)),
          "cusparseSpMV_preprocess");
}

void CuSparse::multiply() {
    check(cusparse_.find<Multiply>("cusparseSpMV")(handle_, as_it_is, &one, matrix_, x_, &zero, y_, doubles,
                                                   static_cast<int>(algorithm_), pointer(buffer_)),
          "cusparseSpMV");
}

void CuSparse::reserve(std::size_t room, std::size_t bytes) {
    if (bytes <= room_bytes_[room]) return;
    if (room_[room] != 0) cuda_.find<Release>("cuMemFree_v2")(room_[room]);
    room_[room] = 0;
    room_bytes_[room] = 0;
    check(cuda_.find<Allocate>("cuMemAlloc_v2")(&room_[room], bytes), "cuMemAlloc");
    room_bytes_[room] = bytes;
}

void CuSparse::add(const DeviceCsr &a, const DeviceCsr &b, const Written &c) {
    const auto integers = [](std::uint64_t address) { return static_cast<int *>(pointer(address)); };
    const auto numbers = [](std::uint64_t address) { return static_cast<double *>(pointer(address)); };
    const int rows = static_cast<int>(a.rows), columns = static_cast<int>(a.columns),
              a_size = static_cast<int>(a.entries), b_size = static_cast<int>(b.entries);
    if (!general_)
        check(cusparse_.find<Create>("cusparseCreateMatDescr")(&general_), "cusparseCreateMatDescr");
    std::size_t bytes = 0;
    check(cusparse_.find<SumBuffer>("cusparseDcsrgeam2_bufferSizeExt")(
              handle_, rows, columns, &one, general_, a_size, numbers(a.value), integers(a.first),
              integers(a.column), &one, general_, b_size, numbers(b.value), integers(b.first),
              integers(b.column), general_, numbers(c.value), integers(c.first), integers(c.column), &bytes),
          "cusparseDcsrgeam2_bufferSizeExt");
    reserve(0, bytes + 1);
    int entries = 0;
    check(cusparse_.find<SumSize>("cusparseXcsrgeam2Nnz")(
              handle_, rows, columns, general_, a_size, integers(a.first), integers(a.column), general_,
              b_size, integers(b.first), integers(b.column), general_, integers(c.first), &entries,
              pointer(room_[0])),
          "cusparseXcsrgeam2Nnz");
    check(cusparse_.find<Sum>("cusparseDcsrgeam2")(
              handle_, rows, columns, &one, general_, a_size, numbers(a.value), integers(a.first),
              integers(a.column), &one, general_, b_size, numbers(b.value), integers(b.first),
              integers(b.column), general_, numbers(c.value), integers(c.first), integers(c.column),
              pointer(room_[0])),
          "cusparseDcsrgeam2");
}

std::int64_t CuSparse::multiply(const DeviceCsr &a, const DeviceCsr &b) {
    const auto create = cusparse_.find<CreateCsr>("cusparseCreateCsr");
    void *left = nullptr, *right = nullptr, *to = nullptr, *plan = nullptr;
    for (const auto &[matrix, of] : {std::pair{&left, &a}, std::pair{&right, &b}})
        check(create(matrix, of->rows, of->columns, of->entries, pointer(of->first), pointer(of->column),
                     pointer(of->value), index_32, index_32, zero_based, doubles),
              "cusparseCreateCsr");
    reserve(1, 4 * (static_cast<std::size_t>(a.rows) + 1));
    check(create(&to, a.rows, b.columns, 0, pointer(room_[1]), nullptr, nullptr, index_32, index_32,
                 zero_based, doubles),
          "cusparseCreateCsr");
    check(cusparse_.find<Create>("cusparseSpGEMM_createDescr")(&plan), "cusparseSpGEMM_createDescr");
    constexpr std::size_t first_room = 2;
    std::size_t room = first_room;
    for (const char *step : {"cusparseSpGEMM_workEstimation", "cusparseSpGEMM_compute"}) {
        std::size_t bytes = 0;
        const auto call = cusparse_.find<ProductStep>(step);
        const auto run = [&](void *buffer) {
            check(call(handle_, as_it_is, as_it_is, &one, left, right, &zero, to, doubles, 0, plan, &bytes,
                       buffer),
                  step);
        };
        run(nullptr);
        reserve(room, bytes + 1);
        run(pointer(room_[room]));
        ++room;
    }
    std::int64_t rows = 0, columns = 0, entries = 0;
    check(cusparse_.find<SizeOf>("cusparseSpMatGetSize")(to, &rows, &columns, &entries),
          "cusparseSpMatGetSize");
    reserve(room, 12 * static_cast<std::size_t>(entries) + 512);
    const std::uint64_t values = room_[room], indices = values + 8 * static_cast<std::uint64_t>(entries);
    check(cusparse_.find<SetPointers>("cusparseCsrSetPointers")(to, pointer(room_[1]), pointer(indices),
                                                                pointer(values)),
          "cusparseCsrSetPointers");
    check(cusparse_.find<ProductCopy>("cusparseSpGEMM_copy")(handle_, as_it_is, as_it_is, &one, left, right,
                                                             &zero, to, doubles, 0, plan),
          "cusparseSpGEMM_copy");
    cusparse_.find<Destroy>("cusparseSpGEMM_destroyDescr")(plan);
    for (void *matrix : {left, right, to}) cusparse_.find<Destroy>("cusparseDestroySpMat")(matrix);
    return entries;
}

void CuSparse::forget() {
    for (std::size_t k = 0; k < room_.size(); ++k) {
        if (room_[k] != 0) cuda_.find<Release>("cuMemFree_v2")(room_[k]);
        room_[k] = 0;
        room_bytes_[k] = 0;
    }
    if (matrix_) cusparse_.find<Destroy>("cusparseDestroySpMat")(matrix_);
    for (void *vector : {x_, y_})
        if (vector) cusparse_.find<Destroy>("cusparseDestroyDnVec")(vector);
    if (buffer_ != 0) cuda_.find<Release>("cuMemFree_v2")(buffer_);
    matrix_ = x_ = y_ = nullptr;
    buffer_ = 0;
}

} // namespace bench
