#include "part_file.hpp"

#include "output.hpp"

#include "lib/base/durable_file.hpp"
#include "lib/base/error.hpp"
#include "lib/base/kept_file.hpp"
#include "lib/base/seal.hpp"

#include "jit/compile/digest.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace perm {

template <class Archive> void PartFile::save(Archive &ar) const {
    ar(plan, values, of, index, static_cast<std::uint64_t>(partials.size()));
    for (const auto &[number, bytes] : partials) ar(number, bytes);
}

template <class Archive> void PartFile::load(Archive &ar) {
    std::uint64_t left = 0;
    for (ar(plan, values, of, index, left); left > 0; --left) {
        std::int64_t number = 0;
        ar(number);
        ar(partials[number]);
    }
}

namespace {

using libperm::Seal;

constexpr Seal plan_seal{"PERMPLNF", 1, "the plan", "perm plan", "make the plan anew with perm plan"};
constexpr Seal part_seal{"PERMJOBS", 1, "the part", "perm shard",
                         "finish with that version, or remove it and run perm shard again"};

template <class Content> Content read(const Seal &seal, const std::string &file) {
    try {
        return libperm::content_of<Content>(seal, libperm::read_file(file));
    } catch (const libperm::Error &error) {
        throw Error(error.status(), fmt::format("{}: {}", file, error.what()));
    } catch (const std::system_error &error) {
        throw Error(PERM_BAD_ARGUMENT, fmt::format("cannot read '{}': {}", file, error.code().message()));
    }
}

template <class Content>
void write(const Seal &seal, const std::string &file, const Content &content, bool is_torn = false) {
    try {
        libperm::write_durably(file, libperm::sealed(seal, libperm::written(content)), is_torn);
    } catch (const std::system_error &error) {
        const std::string text = fmt::format("cannot write '{}': {}", file, error.code().message());
        if (error.code() == std::errc::no_space_on_device || error.code() == std::errc::io_error)
            throw OutputError(text);
        throw Error(PERM_BAD_OPTION, text);
    }
}

template <class T> std::vector<T> vector_of(const void *first, std::int64_t count) {
    const T *begin = static_cast<const T *>(first);
    return begin ? std::vector<T>(begin, begin + count) : std::vector<T>();
}

} // namespace

PlanFile plan_file_of(const std::string &matrix, const perm_csr &a, std::string plan) {
    const auto numbers = [](const void *first, std::int64_t count) {
        return libperm::written(vector_of<std::int64_t>(first, count));
    };
    const std::string pattern = libperm::written(a.n_cols) + numbers(a.row_ptr, a.n_rows + 1) +
                                numbers(a.col_idx, a.nnz) + numbers(a.row_multiplicity, a.n_rows) +
                                numbers(a.col_multiplicity, a.n_cols);
    return {matrix, libperm::digest_of_bytes(pattern), a.value_type, std::move(plan)};
}

KeptValues values_of(const perm_csr &a) {
    KeptValues values;
    switch (a.value_type) {
    case PERM_VALUE_F64:
        values.doubles = vector_of<double>(a.values, a.nnz);
        break;
    case PERM_VALUE_C128:
        values.doubles = vector_of<double>(a.values, 2 * a.nnz);
        break;
    case PERM_VALUE_I64:
        values.integers = vector_of<std::int64_t>(a.values, a.nnz);
        break;
    case PERM_VALUE_TEXT:
        for (const char *text : vector_of<const char *>(a.values, a.nnz)) values.texts.emplace_back(text);
        break;
    default: // of a pattern there are none
        break;
    }
    return values;
}

ValuesView::ValuesView(const KeptValues &values, std::int32_t value_type) {
    for (const std::string &text : values.texts) texts_.push_back(text.c_str());
    if (value_type == PERM_VALUE_TEXT) data_ = texts_.data();
    if (value_type == PERM_VALUE_I64) data_ = values.integers.data();
    if (value_type == PERM_VALUE_F64 || value_type == PERM_VALUE_C128) data_ = values.doubles.data();
}

// shards * index / of, without overflow where `of` has 32 bits.
std::int64_t first_shard(std::int64_t shards, std::int64_t of, std::int64_t index) {
    return shards / of * index + shards % of * index / of;
}

bool is_whole(const PartFile &part, std::int64_t shards) {
    const std::int64_t first = first_shard(shards, part.of, part.index);
    const std::int64_t last = first_shard(shards, part.of, part.index + 1);
    return static_cast<std::int64_t>(part.partials.size()) == last - first;
}

void forget_previous(const std::string &file) {
    std::error_code none;
    std::filesystem::remove(libperm::previous_of(file), none);
}

void discard_part(const std::string &file) {
    std::error_code none;
    std::filesystem::remove(file, none);
    forget_previous(file);
}

void write_plan_file(const std::string &file, const PlanFile &plan) {
    write(plan_seal, file, plan);
    forget_previous(file);
}

PlanFile read_plan_file(const std::string &file) { return read<PlanFile>(plan_seal, file); }

void write_part_file(const std::string &file, PartFile &part) {
    write(part_seal, file, part, part.is_torn);
    part.is_torn = false;
}

PartFile read_part_file(const std::string &file) { return read<PartFile>(part_seal, file); }

std::optional<PartFile> read_begun_part(const std::string &file) {
    try {
        auto kept = libperm::read_kept<PartFile>(
            file, [](std::string_view bytes) { return libperm::content_of<PartFile>(part_seal, bytes); },
            [](const std::string &text) { write_message("warning: " + text); });
        if (!kept) return {};
        kept->content.is_torn = kept->is_previous;
        return std::move(kept->content);
    } catch (const libperm::Error &error) {
        throw Error(error.status(), error.what());
    }
}

void require_same_matrix(const std::string &file, const PlanFile &found, const PlanFile &wanted) {
    if (found.pattern != wanted.pattern)
        throw Error(PERM_BAD_ARGUMENT,
                    fmt::format("{} is of another matrix, {}, than {}", file, found.matrix, wanted.matrix));
    if (found.value_type != wanted.value_type)
        throw Error(PERM_BAD_ARGUMENT,
                    fmt::format("{} is of another kind of numbers: --decimal is to be given to all "
                                "subcommands or to none",
                                file));
}

} // namespace perm
