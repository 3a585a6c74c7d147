#include "lib/input/machine.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/system.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <type_traits>
#include <utility>
#include <variant>

namespace libperm {
namespace {

// One number of a machine or a GPU: its key in the JSON, its member, and what it can be.
template <class Struct> struct Figure {
    const char *key;
    std::variant<int Struct::*, std::size_t Struct::*, std::int64_t Struct::*, double Struct::*> member;
    double least, most;
};

constexpr double least_memory = 0x1p20, most_memory = 0x1p60;

constexpr std::array machine_figures{
    Figure<Machine>{"cores", &Machine::cores, 1, 4096}, // perm_opts.threads knows no more
    Figure<Machine>{"memory_bytes", &Machine::memory_bytes, least_memory, most_memory},
};

constexpr std::array gpu_figures{
    Figure<GpuProperties>{"compute_capability", &GpuProperties::compute_capability, 10, 999},
    Figure<GpuProperties>{"multiprocessors", &GpuProperties::multiprocessors, 1, 65536},
    Figure<GpuProperties>{"fp64_lanes", &GpuProperties::fp64_lanes, 1, 65536},
    Figure<GpuProperties>{"registers", &GpuProperties::registers, 1, 0x1p30},
    Figure<GpuProperties>{"threads", &GpuProperties::threads, 1, 65536},
    Figure<GpuProperties>{"shared_bytes", &GpuProperties::shared_bytes, 1, 0x1p40},
    Figure<GpuProperties>{"clock_hz", &GpuProperties::clock_hz, 1e6, 1e12},
    Figure<GpuProperties>{"memory_bytes", &GpuProperties::memory_bytes, least_memory, most_memory},
    Figure<GpuProperties>{"memory_bandwidth", &GpuProperties::memory_bandwidth, 1e6, 1e18},
    Figure<GpuProperties>{"l2_bytes", &GpuProperties::l2_bytes, 0, 0x1p40},
};

[[noreturn]] void fail(const std::string &what) {
    throw Error(PERM_BAD_OPTION,
                formatted("machine: {}; \"perm info --machine\" writes what is expected, of the machine that "
                          "it runs on",
                          what));
}

std::string joined(const std::vector<std::string> &words) {
    std::string text;
    for (const std::string &word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

// An object of the JSON.
class Part {
  public:
    // `path`: what its keys are named by, "gpus[1]."; `keys`: that it has besides those of its figures.
    template <class Figures>
    Part(const Json &json, std::string path, std::vector<std::string> keys, const Figures &figures)
        : object_(std::get_if<Json::Object>(&json.value())), json_(json), path_(std::move(path)) {
        for (const auto &figure : figures) keys.emplace_back(figure.key);
        if (!object_) fail(formatted("{} must be an object with the keys {}", name(), joined(keys)));
        for (const auto &[key, value] : *object_)
            if (std::find(keys.begin(), keys.end(), key) == keys.end())
                fail(formatted("unknown key \"{}\", {} has {}", path_ + key, name(), joined(keys)));
    }

    std::string text(const char *key) const {
        const auto *text = std::get_if<std::string>(&at(key, "a text").value());
        if (!text || std::any_of(text->begin(), text->end(), [](char c) { return c >= 0 && c < ' '; }))
            fail(formatted("{} must be a text of one line", quoted(key)));
        return *text;
    }

    const Json::Array &array(const char *key) const {
        const auto *array = std::get_if<Json::Array>(&at(key, "a list").value());
        if (!array) fail(formatted("{} must be a list, [] for none", quoted(key)));
        return *array;
    }

    template <class Struct> void read(const Figure<Struct> &figure, Struct &into) const {
        std::visit([&](auto member) { into.*member = number(figure, into.*member); }, figure.member);
    }

  private:
    std::string name() const { return path_.empty() ? "it" : path_.substr(0, path_.size() - 1); }
    std::string quoted(const char *key) const { return formatted("\"{}{}\"", path_, key); }

    const Json &at(const char *key, const std::string &what) const {
        const Json *found = json_.find(key);
        if (!found) fail(formatted("{} is missing, {} is expected", quoted(key), what));
        return *found;
    }

    // The value has the type of `like`. A whole number may be written as one with an exponent, 1.28e11.
    template <class Struct, class Number> Number number(const Figure<Struct> &figure, Number like) const {
        constexpr bool is_whole = std::is_integral_v<decltype(like)>;
        const std::string what =
            formatted("a {}number from {} to {}", is_whole ? "whole " : "", figure.least, figure.most);
        const Json::Value &value = at(figure.key, what).value();
        const auto *whole = std::get_if<std::int64_t>(&value);
        const auto *real = std::get_if<double>(&value);
        const double x = whole ? static_cast<double>(*whole) : real ? *real : std::nan("");
        if (!(figure.least <= x && x <= figure.most) || (is_whole && x != std::floor(x)))
            fail(formatted("{} must be {}", quoted(figure.key), what));
        return whole ? static_cast<Number>(*whole) : static_cast<Number>(x);
    }

    const Json::Object *object_;
    const Json &json_;
    std::string path_;
};

GpuProperties read_gpu(const Json &json, std::size_t k) {
    const Part part(json, formatted("gpus[{}].", k), {"name"}, gpu_figures);
    GpuProperties gpu;
    gpu.ordinal = static_cast<int>(k);
    gpu.name = part.text("name");
    if (gpu.name.empty()) fail(formatted("\"gpus[{}].name\" must not be empty", k));
    for (const auto &figure : gpu_figures) part.read(figure, gpu);
    return gpu;
}

Json json_of(std::string_view text) {
    try {
        return Json::read(text);
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::exception &error) {
        fail(formatted("it is not JSON: {}", error.what()));
    }
}

template <class Struct> void write(Json &json, const Figure<Struct> &figure, const Struct &from) {
    std::visit([&](auto member) { json[figure.key] = from.*member; }, figure.member);
}

// GPUs of one name stand together, in the order of their first.
std::string gpu_names(const std::vector<GpuProperties> &gpus) {
    std::vector<std::pair<std::string, int>> names;
    for (const GpuProperties &gpu : gpus) {
        const auto known = std::find_if(names.begin(), names.end(),
                                        [&](const auto &known_name) { return known_name.first == gpu.name; });
        if (known == names.end())
            names.emplace_back(gpu.name, 1);
        else
            ++known->second;
    }
    std::vector<std::string> words;
    for (const auto &[name, count] : names)
        words.push_back(count == 1 ? name : formatted("{} x {}", count, name));
    return words.empty() ? "no GPU" : joined(words);
}

} // namespace

Machine read_machine(std::string_view text) {
    const Json json = json_of(text);
    const Part part(json, "", {"processor", "gpus"}, machine_figures);
    Machine machine;
    machine.processor = part.text("processor");
    for (const auto &figure : machine_figures) part.read(figure, machine);
    for (const Json &gpu : part.array("gpus")) machine.gpus.push_back(read_gpu(gpu, machine.gpus.size()));
    return machine;
}

Json machine_json(const Machine &machine) {
    Json json{{"processor", machine.processor}};
    for (const auto &figure : machine_figures) write(json, figure, machine);
    json["gpus"] = Json::Array();
    for (const GpuProperties &gpu : machine.gpus) {
        Json one{{"name", gpu.name}};
        for (const auto &figure : gpu_figures) write(one, figure, gpu);
        json["gpus"].push_back(std::move(one));
    }
    return json;
}

std::string name_of(const Machine &machine) {
    return formatted("{}{} core{}, {}, {}", machine.processor.empty() ? "" : machine.processor + ", ",
                     machine.cores, machine.cores == 1 ? "" : "s",
                     readable_bytes(static_cast<double>(machine.memory_bytes)), gpu_names(machine.gpus));
}

} // namespace libperm
