"""Where others' tests come from. They are kept in a folder for each version, which is whole or not there."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import urllib.request
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Source(ABC):
    name: str
    version: str

    def fetched(self, folder: Path, checkouts: Path | None) -> Path:
        to = folder / f"{self.name}-{self.version}"
        if not to.exists():
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as part:
                self.fetch(Path(part), checkouts)
                (Path(part) / to.name).rename(to)
        return to

    def packages(self, fetched: Path) -> Path | None:
        """The folder to import the tests' package from, where the tests run with it."""
        return None

    @abstractmethod
    def fetch(self, part: Path, checkouts: Path | None) -> None:
        """Makes the folder of this name and version in part."""


@dataclass(frozen=True)
class OfPyPI(Source):
    """A source package that has the tests; beside it, where it has to be built, the package as pip has it."""

    built: bool

    def fetch(self, part: Path, checkouts: Path | None) -> None:
        required = f"{self.name}=={self.version}"
        _pip("download", "--no-binary", self.name, "--dest", str(part), required)
        shutil.unpack_archive(part / f"{self.name}-{self.version}.tar.gz", part)
        if self.built:
            to = part / f"{self.name}-{self.version}"
            _pip("install", "--target", str(to / "installed"), required)

    def packages(self, fetched: Path) -> Path | None:
        return fetched / "installed" if self.built else fetched


@dataclass(frozen=True)
class OfRepository(Source):
    """Files of a tag, of a package that PyPI has without its tests."""

    owner: str
    files: tuple[str, ...]

    def fetch(self, part: Path, checkouts: Path | None) -> None:
        for file in self.files:
            to = part / f"{self.name}-{self.version}" / file
            to.parent.mkdir(parents=True, exist_ok=True)
            if checkouts is not None:
                content = (checkouts / self.name / file).read_bytes()
            else:
                of_tag = f"{self.owner}/{self.name}/v{self.version}"
                with urllib.request.urlopen(f"https://raw.githubusercontent.com/{of_tag}/{file}") as answer:
                    content = answer.read()
            to.write_bytes(content)


def _pip(command: str, *args: str) -> None:
    pip = [sys.executable, "-m", "pip", command, "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, *args], check=True)
