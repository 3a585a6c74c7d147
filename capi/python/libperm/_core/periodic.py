"""Matrices of equal cells, of any number of them."""

from __future__ import annotations

import ctypes
import json
import os
from array import array
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from libperm._core import abi
from libperm._core.batch import Results
from libperm._core.call import call, run
from libperm._core.errors import InvalidOptionError, UnsupportedError
from libperm._core.handle import Owned
from libperm._core.inputs import input_of
from libperm._core.library import check, library, read_text
from libperm._core.matrix import Matrix, read
from libperm._core.options import MULTIPLICITIES, Options, Prepared, Unpack, whole
from libperm._core.picture import picture_of_periodic
from libperm._core.result import SIZE, Answer, Result, result_of, warn_if_missed
from libperm._core.scalars import Number, exact_of

_MOST_CELLS = 2**63 - 1  # the library says which lengths there are


@dataclass(frozen=True)
class GeneratingFunction:
    """The permanents of all lengths as one quotient: sum_m perm(m cells) x^m = numerator / denominator.

    Coefficients of the lowest power first. The denominator is the recurrence that the permanents obey.
    str() is the quotient, written out."""

    numerator: tuple[int | Fraction, ...]
    denominator: tuple[int | Fraction, ...]
    order: int  # of the recurrence; no shorter one has these terms
    states: int  # it could not be longer than this
    proven: bool  # that it holds for all terms
    checked: int  # terms that it was checked on beyond those it was made from
    _text: str = field(repr=False)

    def __str__(self) -> str:
        return self._text


class Growth(NamedTuple):
    """By what factor the permanent grows with each cell: lower <= it <= upper for certain."""

    value: float
    lower: float
    upper: float


def lattice_cell(name: str) -> Matrix:
    """The cell that Periodic.lattice() takes by its name."""
    if not isinstance(name, str):
        raise InvalidOptionError(f"name is {name!r}: a text like 'grid:4' is expected")
    function, text = library.perm_periodic_lattice, name.encode()
    cell = abi.Csr(ctypes.sizeof(abi.Csr))
    address = ctypes.addressof(cell)
    check(function(text, address, None, None, None))  # how long they are
    parts = [array("q", bytes(8 * count)) for count in (cell.n_rows + 1, cell.nnz, cell.nnz)]
    check(function(text, address, *(part.buffer_info()[0] for part in parts)))
    row_ptr, col_idx, values = parts
    return Matrix((cell.n_rows, cell.n_cols), row_ptr, col_idx, list(values))


class Periodic:
    """A matrix of equal cells: each has r rows and r columns, and its rows reach the columns of the d cells
    before it and behind it.

    cell: r rows and r (2 d + 1) columns, the blocks for the cells -d, ..., 0, ..., d side by side; in all
    forms that libperm.permanent() takes. joined: the cell behind the last is the first; else what reaches
    beyond the ends is left out. head, tail: rows above and below those of the cells. The head's columns are p
    of its own and the d r of the first d cells; the tail's are the d r of the last d cells, and q of its own.
    Of libperm.Options precision, tolerance, threads, limits, progress and checkpoint count; precision="mod:P"
    gives the residues modulo a prime, as int. A checkpoint is of one call of permanent(), compute(),
    terms().

    Everything asked of it has one sparse operator, of one cell, that is made here.

    >>> import libperm
    >>> dominoes = libperm.Periodic([[0, 1, 1, 0, 0, 1], [1, 0, 1, 1, 1, 0]])  # on a board of 4 by m
    >>> dominoes.permanent(10)
    18061
    >>> dominoes.terms(6)
    [1, 5, 11, 36, 95, 281]
    >>> print(dominoes.generating_function())
    (1 - x^2)
    / (1 - x - 5 x^2 - x^3 + x^4)
    order 4: no shorter recurrence has these terms, and this one is proven for all of them
    >>> libperm.Periodic([[1, 1, 1]], joined=True).terms(3, first=5)
    [13, 20, 31]
    """

    def __init__(
        self, cell: Any, joined: bool = False, head: Any = None, tail: Any = None, **options: Unpack[Options]
    ) -> None:
        for name in MULTIPLICITIES:
            if options.get(name) is not None:
                raise UnsupportedError(f"{name}: a periodic matrix has no multiplicities")
        parts = [None if part is None else read(part).kept() for part in (cell, head, tail)]
        if parts[0] is None:
            raise TypeError("NoneType is no matrix: a cell is expected")
        self._cell: Matrix = parts[0]
        kind = max(part.kind for part in parts if part is not None)
        self._joined = bool(joined)
        self._options = Prepared(dict(options), "exact" if kind.is_exact else None)
        self._form = self._options.form(kind, as_numpy=False)
        given = [part and input_of(part, {}) for part in parts]
        addresses = (part and part.address for part in given)
        struct = abi.Periodic(ctypes.sizeof(abi.Periodic), *addresses, self._joined)
        self._handle = Owned(library.perm_periodic_destroy)
        place = ctypes.byref(self._handle.address)
        self._call(library.perm_periodic_create, ctypes.byref(struct), self._options, place)

    @classmethod
    def lattice(
        cls, name: str, joined: bool = False, head: Any = None, tail: Any = None, **options: Unpack[Options]
    ) -> Periodic:
        """Of a cell by its name, whose permanents count the perfect matchings of a lattice:

        "grid:W", a strip of the square lattice, W vertices wide: dominoes on a board; with joined ends a ring
        of it. "grid:AxB", a bar of the cubic lattice. "ring:W", a cylinder, W even vertices around; with
        joined ends a torus. "ring:AxB", a bar whose first side is a ring. "hexagonal:W", a strip of the
        hexagonal lattice, a brick wall W vertices wide. Or bands of ones: "circulant:K", K in a row, the
        first on the diagonal; "toeplitz:A,B", from A below the diagonal to B above it.

        A cell of grid and ring is one layer where a side of the cross-section is even, else two; an odd
        number of cells of one layer is joined with a twist (docs/periodic.md). libperm.lattices has matrices
        of lattices of one size, and the cell itself.

        >>> import libperm
        >>> libperm.Periodic.lattice("grid:8").permanent(8)  # of a chessboard with dominoes
        12988816
        >>> libperm.Periodic.lattice("ring:4", joined=True).permanent(4)  # of a torus
        272
        """
        return cls(lattice_cell(name), joined, head, tail, **options)

    def _call(self, function: Any, *arguments: Any) -> None:
        call(self._options, True, function, *arguments)

    # ---------------------------------------------------------------- permanents

    def permanent(self, length: int) -> Number:
        """Of so many cells, as libperm.permanent() returns it.

        >>> import libperm
        >>> libperm.Periodic([[1, 1, 1]]).permanent(100)
        573147844013817084101
        >>> libperm.Periodic([[1, 1, 1]], precision="mod:1000003").permanent(10**15)
        880682
        """
        return self._execute(length).number(*self._form)

    def compute(self, length: int) -> Result:
        """The same, with its bounds and how it was computed."""
        return result_of(self._execute(length), *self._form)

    def terms(self, count: int, first: int = 1) -> list[Number]:
        """Of `count` lengths from `first` on, in one walk."""
        count, first = whole("count", count, 2**31), whole("first", first, _MOST_CELLS)
        self._options.require(float(count) * SIZE, f"{count} terms")
        results = Results(count)
        self._call(library.perm_periodic_terms, self._handle, first, count, results.address)
        for struct in results:
            if not struct.tolerance_met:
                warn_if_missed(struct)
                break
        values: list[Number] = results.values(*self._form)
        return values

    def _execute(self, length: Any) -> Answer:
        answer, cells = Answer(), whole("length", length, _MOST_CELLS)
        self._call(library.perm_periodic_execute, self._handle, cells, answer)
        return answer

    # ---------------------------------------------------------------- of all lengths

    def generating_function(self) -> GeneratingFunction:
        """The permanents of all lengths as a quotient of polynomials, exactly; with open ends the sum begins
        with no cell, with joined ends with one.

        >>> import libperm
        >>> f = libperm.Periodic([[1, 1, 1]]).generating_function()
        >>> f.numerator, f.denominator, f.order, f.proven
        ((1,), (1, -1, -1), 2, True)
        """
        function = library.perm_periodic_generating_function

        def text_as(form: int) -> Any:
            ask = partial(read_text, lambda *to: function(self._handle.address, form, *to))
            return run(self._options, True, ask)

        found: dict[str, Any] = json.loads(text_as(abi.FORMAT_JSON))
        return GeneratingFunction(
            numerator=_exactly(found["numerator"]),
            denominator=_exactly(found["denominator"]),
            order=found["order"],
            states=found["states"],
            proven=found["proven"],
            checked=found["checked"],
            _text=text_as(abi.FORMAT_TEXT).rstrip("\n"),
        )

    def growth(self) -> Growth:
        """By what factor the permanent grows with each cell, in the limit of many; of entries that are not
        negative.

        >>> import libperm
        >>> growth = libperm.Periodic([[1, 1, 1]]).growth()
        >>> growth.lower <= (1 + 5**0.5) / 2 <= growth.upper, growth.upper - growth.lower < 1e-12
        (True, True)
        """
        numbers = [(ctypes.c_double * 1)() for _ in Growth._fields]
        self._call(library.perm_periodic_growth, self._handle, *numbers)
        return Growth(*(number for (number,) in numbers))

    # ---------------------------------------------------------------- explaining

    def explain(self) -> str:
        """Columns open at a cut, states, moves of a cell."""
        return self._explain(abi.FORMAT_TEXT)

    def explain_json(self) -> dict[str, Any]:
        """The same as a dictionary, with the order of the rows."""
        explained: dict[str, Any] = json.loads(self._explain(abi.FORMAT_JSON))
        return explained

    def plot(self, file: str | os.PathLike[str] | None = None) -> Any:
        """The cell, and a matrix of some of them. A Figure of matplotlib, which notebooks show.
        file: where to write it, .svg, .png, .pdf, ..."""
        rows, columns = self._cell.shape
        reach = max(columns // max(rows, 1) // 2, 0)
        return picture_of_periodic(rows, self._cell.positions(), self._joined, reach, file)

    def _explain(self, form: int) -> str:
        function = library.perm_periodic_explain
        return read_text(lambda *to: function(self._handle.address, form, *to))

    def __reduce__(self) -> Any:
        raise TypeError("a libperm.Periodic cannot be pickled: pickle its cell, and make it anew")

    def __repr__(self) -> str:
        rows, cols = self._cell.shape
        ends = "joined" if self._joined else "open"
        reach = cols // rows // 2
        return f"<libperm.Periodic of cells of {rows} rows, coupled to {reach} on either side, {ends} ends>"


def _exactly(texts: list[str]) -> tuple[Any, ...]:
    return tuple(map(exact_of, texts))
