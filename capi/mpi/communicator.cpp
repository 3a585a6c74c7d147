#include "capi/mpi/communicator.hpp"

#include "jit/text/text.hpp"

#include <array>
#include <thread>

namespace libperm::mpi {
namespace {

void wait(MPI_Request &request) {
    Pause pause;
    for (int done = 0;;) {
        check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        if (done) return;
        std::this_thread::sleep_for(pause.next());
    }
}

} // namespace

void check_mpi(int code) {
    if (code == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw Error(PERM_INTERNAL, formatted("MPI failed: {}", text.data()));
}

Communicator::Communicator(MPI_Comm comm) {
    check_mpi(MPI_Comm_dup(comm, &comm_));
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
    check_mpi(MPI_Comm_rank(comm_, &rank_));
    check_mpi(MPI_Comm_size(comm_, &size_));
}

Communicator::~Communicator() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void Communicator::broadcast(std::int64_t &number, int root) const {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibcast(&number, 1, MPI_INT64_T, root, comm_, &request));
    wait(request);
}

void Communicator::broadcast(std::string &bytes, int root) const {
    auto size = static_cast<std::int64_t>(bytes.size());
    broadcast(size, root);
    agree(failure_of([&] { bytes.resize(static_cast<std::size_t>(size)); }));
    in_pieces(bytes, [&](char *piece, int count) {
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Ibcast(piece, count, MPI_BYTE, root, comm_, &request));
        wait(request);
    });
}

std::int64_t Communicator::sum(std::int64_t number) const {
    std::int64_t total = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Iallreduce(&number, &total, 1, MPI_INT64_T, MPI_SUM, comm_, &request));
    wait(request);
    return total;
}

void Communicator::agree(const std::optional<Failure> &own) const {
    const int mine = own ? rank_ : size_;
    int first = size_;
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm_, &request));
    wait(request);
    if (first == size_) return;
    std::int64_t status = own ? own->status : PERM_OK;
    std::string text = own ? own->text : "";
    broadcast(status, first);
    broadcast(text, first);
    throw Error(static_cast<perm_status>(status), first == 0 ? text : formatted("rank {}: {}", first, text));
}

} // namespace libperm::mpi
