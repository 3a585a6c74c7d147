#include "bench/blocks/cusparse_many.hpp"

namespace bench {
namespace {

// Their binary interface.
using Create = int (*)(void **);
using Destroy = int (*)(void *);
using CreateCsr = int (*)(void **, std::int64_t, std::int64_t, std::int64_t, void *, void *, void *, int, int,
                          int, int);
using CreateEllpack = int (*)(void **, std::int64_t, std::int64_t, std::int64_t, std::int64_t, void *, void *,
                              int, int, int);
using CreateDense = int (*)(void **, std::int64_t, std::int64_t, std::int64_t, void *, int, int);
using BufferSize = int (*)(void *, int, int, const void *, void *, void *, const void *, void *, int, int,
                           std::size_t *);
using Multiply = int (*)(void *, int, int, const void *, void *, void *, const void *, void *, int, int,
                         void *);
using Synchronize = int (*)();
using Allocate = int (*)(std::uint64_t *, std::size_t);
using Release = int (*)(std::uint64_t);

constexpr int index_32 = 2, zero_based = 0, doubles = 1, as_it_is = 0, by_rows = 2;
constexpr double one = 1, zero = 0;

} // namespace

CuSparseMany::CuSparseMany() : cusparse_("libcusparse.so.12"), cuda_("libcuda.so.1") {
    check(cusparse_.find<Create>("cusparseCreate")(&handle_), "cusparseCreate");
}

CuSparseMany::~CuSparseMany() {
    forget();
    cusparse_.find<Destroy>("cusparseDestroy")(handle_);
}

void CuSparseMany::synchronize() const {
    check(cuda_.find<Synchronize>("cuCtxSynchronize")(), "cuCtxSynchronize");
}

void CuSparseMany::prepare(const DeviceCsr &a, std::uint64_t x, std::uint64_t y, std::int64_t lanes,
                           Algorithm algorithm) {
    forget();
    check(cusparse_.find<CreateCsr>("cusparseCreateCsr")(
              &matrix_, a.rows, a.columns, a.entries, pointer(a.first), pointer(a.column), pointer(a.value),
              index_32, index_32, zero_based, doubles),
          "cusparseCreateCsr");
    prepare_rest(a.rows, a.columns, x, y, lanes, algorithm);
}

void CuSparseMany::prepare(const DeviceEllpack &a, std::uint64_t x, std::uint64_t y, std::int64_t lanes) {
    forget();
    check(cusparse_.find<CreateEllpack>("cusparseCreateBlockedEll")(
              &matrix_, a.rows, a.columns, a.block, a.width, pointer(a.column), pointer(a.value), index_32,
              zero_based, doubles),
          "cusparseCreateBlockedEll");
    prepare_rest(a.rows, a.columns, x, y, lanes, Algorithm::blocked);
}

void CuSparseMany::prepare_rest(std::int64_t rows, std::int64_t columns, std::uint64_t x, std::uint64_t y,
                                std::int64_t lanes, Algorithm algorithm) {
    algorithm_ = algorithm;
    const auto dense = cusparse_.find<CreateDense>("cusparseCreateDnMat");
    check(dense(&x_, columns, lanes, lanes, pointer(x), doubles, by_rows), "cusparseCreateDnMat");
    check(dense(&y_, rows, lanes, lanes, pointer(y), doubles, by_rows), "cusparseCreateDnMat");
    std::size_t bytes = 0;
    const int kind = static_cast<int>(algorithm);
    check(cusparse_.find<BufferSize>("cusparseSpMM_bufferSize")(handle_, as_it_is, as_it_is, &one, matrix_,
                                                                x_, &zero, y_, doubles, kind, &bytes),
          "cusparseSpMM_bufferSize");
    check(cuda_.find<Allocate>("cuMemAlloc_v2")(&buffer_, bytes + 256), "cuMemAlloc");
    if (algorithm != Algorithm::blocked)
        check(cusparse_.find<Multiply>("cusparseSpMM_preprocess")(
                  handle_, as_it_is, as_it_is, &one, matrix_, x_, &zero, y_, doubles, kind, pointer(buffer_)),
              "cusparseSpMM_preprocess");
}

void CuSparseMany::multiply() {
    check(cusparse_.find<Multiply>("cusparseSpMM")(handle_, as_it_is, as_it_is, &one, matrix_, x_, &zero, y_,
                                                   doubles, static_cast<int>(algorithm_), pointer(buffer_)),
          "cusparseSpMM");
}

void CuSparseMany::forget() {
    if (matrix_) cusparse_.find<Destroy>("cusparseDestroySpMat")(matrix_);
    for (void *dense : {x_, y_})
        if (dense) cusparse_.find<Destroy>("cusparseDestroyDnMat")(dense);
    if (buffer_ != 0) cuda_.find<Release>("cuMemFree_v2")(buffer_);
    matrix_ = x_ = y_ = nullptr;
    buffer_ = 0;
}

} // namespace bench
