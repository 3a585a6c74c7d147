"""Builds the package with scikit-build-core. Where that fails, the last line says what to install."""

import sys

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403

_WHAT_HELPS = """
libperm was not built: the error is above. Most often a compiler or a library is missing. Any of these helps:
  - a wheel of libperm, which needs neither;
  - a libperm.so.1 that is there already (PERM_LIBRARY names it when Python runs): pip install with \
the option -C wheel.cmake=false;
  - on Debian 12: apt-get install g++ cmake ninja-build pkg-config libtbb-dev libfmt-dev libspdlog-dev \
rapidjson-dev libcli11-dev libgmp-dev libmpfr-dev libxxhash-dev libhwy-dev libcereal-dev \
libboost-dev libeigen3-dev zlib1g-dev libminizip-dev python3-dev"""


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    try:
        return _build.build_wheel(wheel_directory, config_settings, metadata_directory)
    except BaseException as failure:
        if not isinstance(failure, KeyboardInterrupt):
            sys.stdout.flush()
            print(_WHAT_HELPS, file=sys.stderr, flush=True)
        raise
