#include "lib/base/log.hpp"

#include <array>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace libperm {
namespace {

// A logger of its own, outside spdlog's registry: a host program's spdlog is left alone.
spdlog::logger &logger() {
    static spdlog::logger the_logger = [] {
        spdlog::logger l("libperm", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        l.set_level(spdlog::level::warn);
        l.set_pattern("[%n] %l: %v");
        return l;
    }();
    return the_logger;
}

} // namespace

void set_log_level(int level) {
    constexpr std::array levels{spdlog::level::off, spdlog::level::err, spdlog::level::warn,
                                spdlog::level::info, spdlog::level::debug};
    logger().set_level(levels[static_cast<std::size_t>(level)]);
}

void log_decision(std::string_view text) { logger().info(text); }
void log_detail(std::string_view text) { logger().debug(text); }
void log_warning(std::string_view text) { logger().warn(text); }

} // namespace libperm
