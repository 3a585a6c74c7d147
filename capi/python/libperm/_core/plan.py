"""A pattern analysed once, for many matrices that have it."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any, Literal, overload

from libperm._core import abi, batch, minors, quick
from libperm._core.call import call, run
from libperm._core.handle import LONG_SECONDS, Handle, Task, bytes_of_plan, load_plan, plan_in
from libperm._core.inputs import LONG_ORDER, input_of, weighted_input
from libperm._core.lazy import np
from libperm._core.library import library, read_text
from libperm._core.matchings import Marginals, told_marginals
from libperm._core.matrix import Matrix, entries_for, read, require_kind
from libperm._core.options import Options, Prepared, RunOptions, Unpack, readable_again
from libperm._core.picture import picture_of_plan
from libperm._core.result import SIZE, Answer, Gradient, Result, result_of
from libperm._core.scalars import Kind, Number
from libperm._core.values import (
    Buffer,
    any_negative,
    encode,
    is_array,
    is_as_it_should_be,
    is_numpy,
    kind_of_entries,
    value_type_of,
)

_MANY = 2**16  # matrices: what is told of fewer may always be
_TOLD = "what is told of so many matrices"


class Plan:
    """What follows from the pattern of A alone: reductions, engines, orders.

    Its numbers are of A's kind: a plan of an integer matrix computes with integers, exactly. It may be
    executed by many threads at once. Ctrl-C in one execution of a plan stops them all.

    >>> import libperm
    >>> plan = libperm.Plan([[1.0, 2.0], [0.0, 3.0]])
    >>> plan.permanent(), plan.permanent([4, 5, 6]), plan.permanent([[1, 1], [0, 7]])
    (3.0, 24.0, 7.0)
    >>> with libperm.Plan([[1, 1], [1, 1]]) as plan:
    ...     plan.permanents([[1, 2, 3, 4], [5, 6, 7, 8]])
    [10, 82]
    """

    _handle: Handle | None
    _for_signs: Handle | None  # another plan, for values of both signs, if the first was told of none
    _quick: object | None  # both, for the compiled extension, once it is known how long they take
    _seconds: float
    _for_marginals: dict[Any, Handle]  # with weights of rows, of columns or without

    def __init__(self, A: Any, **options: Unpack[Options]) -> None:
        matrix = read(A).kept()
        self._set_up(matrix, dict(options), value_type_of(matrix.entries, matrix.kind))
        # Told of real values only, a plan would be made anew for each complex one.
        is_told = matrix.kind is not Kind.COMPLEX or any(complex(x).imag for x in matrix.entries)
        self._handle = self._create(is_told)
        self._is_signless = matrix.kind is not Kind.COMPLEX and not any_negative(matrix.entries)

    @classmethod
    def _of(cls, matrix: Matrix, options: dict[str, Any], value_type: int, is_told: bool) -> Plan:
        """Makes a plan that is not told of the values, if their signs or phases will not be those of all."""
        plan = cls.__new__(cls)
        plan._set_up(matrix, options, value_type)
        plan._handle = plan._create(is_told)
        return plan

    def _set_up(self, matrix: Matrix, options: dict[str, Any], value_type: int) -> None:
        options = readable_again(options)
        self._matrix, self._kind, self._given = matrix, matrix.kind, options
        self._options = Prepared(options, "exact" if matrix.kind.is_exact else None)
        self._input = input_of(matrix, options, value_type)
        self._handle = self._for_signs = self._quick = None
        self._for_marginals = {}
        self._is_signless = False

    def _create(self, is_told: bool) -> Handle:
        handle = Handle()
        run(self._options, self._input.is_long, lambda: handle.make(self._input, self._options, is_told))
        return handle

    def _handle_for(self, entries: Any) -> Handle:
        handle = self._open()
        if not self._is_signless or not any_negative(entries):
            return handle
        if self._for_signs is None:
            self._for_signs = self._create(is_told=False)
            self._quick = None
        return self._for_signs

    # ---------------------------------------------------------------- executing

    def permanent(self, values: Any = None) -> Number:
        """Of A, or of these values: one for each entry of the pattern, rows by rows, or a matrix that has no
        entries outside of it. As libperm.permanent() returns it."""
        kept = self._quick
        number: Number | None = None if kept is None else quick.compiled.execute(kept, values)
        if number is not None:
            return number
        return self._execute(values).number(*self._form(values))

    def compute(self, values: Any = None) -> Result:
        """The same, with its bounds and how it was computed."""
        return result_of(self._execute(values), *self._form(values))

    def _form(self, values: Any) -> tuple[Kind, bool, bool]:
        return self._options.form(self._kind, self._answers_numpy(values))

    def _answers_numpy(self, values: Any) -> bool:
        return is_numpy(self._matrix.row_ptr if values is None else values)

    def permanents(self, values: Any, full: bool = False) -> Any:
        """Of many matrices: `values` has a row of nnz values for each, or is an array (count, m, n) of
        matrices that have no entries outside of the pattern.

        An array of float64 or complex128 (a list where numpy is not used), a list of int or Fraction if
        the plan is exact. An array has inf, or 0, where no double is near. full=True: a libperm.Batch."""
        found = self._quick_permanents(values, full)
        if found is not None:
            return found
        count, flat = batch.rows_in(values, self._matrix)
        require_kind(kind_of_entries(flat), self._kind)
        return self._permanents(count, flat, full, is_numpy(values))

    def _permanents(self, count: int, flat: Any, full: bool, as_numpy: bool) -> Any:
        handle, buffer = self._handle_for(flat), encode(flat, self._input.value_type)
        self._make_quick()
        if as_numpy and is_array(buffer.owner):
            found = self._quick_permanents(buffer.owner.reshape(count, self._matrix.nnz), full)
            if found is not None:
                return found
        results = self._results(count)
        arguments = handle.address, buffer.address, self._matrix.nnz
        is_long = count * handle.seconds() > LONG_SECONDS
        run(self._options, is_long, lambda: results.fill(*arguments))
        form = self._options.form(self._kind, as_numpy)
        return results.read(*form) if full else results.values(*form)

    def _results(self, count: int, numbers: int = 0) -> batch.Results:
        """For so many matrices, each with some numbers beside."""
        self._options.require(count * (SIZE + 16.0 * numbers), _TOLD)
        return batch.Results(count)

    @overload
    def gradient(self, values: Any = None, full: Literal[False] = ..., with_permanent: bool = ...) -> Any: ...
    @overload
    def gradient(
        self, values: Any = None, *, full: Literal[True], with_permanent: bool = ...
    ) -> Gradient: ...
    def gradient(self, values: Any = None, full: bool = False, with_permanent: bool = False) -> Any:
        """The derivatives by each entry of the pattern, in their order: doubles, inf or 0 where they are out
        of range; of a plan of integers or fractions exact. As libperm.gradient() returns them:
        with_permanent=True: a pair, the permanent and they; full=True: a libperm.Gradient, with the bounds of
        their errors.

        >>> import libperm
        >>> libperm.Plan([[1, 2], [3, 4]]).gradient()
        [4, 3, 2, 1]
        """
        if minors.are_exact(self._kind, self._given, False):
            return batch.chosen(self._exact_gradient(values), full, with_permanent)
        handle, buffer = self._encoded(values)
        parts = self._matrix.nnz * (2 if self._kind is Kind.COMPLEX else 1)
        gradient, bounds = (ctypes.c_double * parts)(), (ctypes.c_double * self._matrix.nnz)()
        answer, as_numpy = Answer(), is_numpy(self._matrix.row_ptr)
        is_long, places = handle.seconds() > LONG_SECONDS, (gradient, bounds if full else None, answer)
        call(self._options, is_long, library.perm_plan_gradient, handle, buffer, *places)
        derivatives = batch.numbers_in(gradient, self._kind, as_numpy)
        errors = batch.numbers_in(bounds, Kind.REAL, as_numpy) if full else None
        found = Gradient(derivatives, errors, result_of(answer, *self._form(values)))
        return batch.chosen(found, full, with_permanent)

    def _exact_gradient(self, values: Any) -> Gradient:
        matrix, permanent = self._with(values), self.compute(values)
        found = minors.exact_gradient(matrix, permanent, self._given, Plan._of)
        if is_numpy(matrix.row_ptr):
            found = replace(found, derivatives=np.array(found.derivatives, dtype=object))
        return found

    def _with(self, values: Any) -> Matrix:
        """The matrix, or that of the pattern with these values."""
        m = self._matrix
        entries = m.entries if values is None else entries_for(m, self._kind, values)
        return Matrix(m.shape, m.row_ptr, m.col_idx, entries, self._kind)

    def gradients(self, values: Any, full: bool = False, with_permanents: bool = False) -> Any:
        """Of many matrices, given as for permanents(): their derivatives by the entries of the pattern, in
        their order, an array (count, nnz); inf or 0 where they are out of range. In doubles, on all threads:
        gradient() has exact ones. As libperm.gradients() returns them: with_permanents=True: a pair, the
        permanents, an array (count,), and they; full=True: a libperm.Gradient, whose `permanent` is a
        libperm.Batch.

        >>> import libperm
        >>> libperm.Plan([[1.0, 2.0], [3.0, 4.0]]).gradients([[1, 2, 3, 4], [5, 6, 7, 8]])
        array([[4., 3., 2., 1.],
               [8., 7., 6., 5.]])
        """
        return batch.chosen(self._gradients(values, full), full, with_permanents)

    def _gradients(self, values: Any, full: bool) -> Gradient:
        minors.refuse_exact_batch(self._given)
        count, flat = batch.rows_in(values, self._matrix)
        require_kind(kind_of_entries(flat), self._kind)
        handle, buffer = self._handle_for(flat), encode(flat, self._input.value_type)
        nnz = self._matrix.nnz
        results = self._results(count, nnz * (2 if full else 1))
        derivatives = np.empty((count, nnz), complex if self._kind is Kind.COMPLEX else float)
        bounds = np.empty((count, nnz)) if full else None
        place, of_bounds = derivatives.ctypes.data, None if bounds is None else bounds.ctypes.data
        is_long, places = 10 * count * handle.seconds() > LONG_SECONDS, (place, of_bounds, results.address)
        call(self._options, is_long, library.perm_plan_gradient_batch, handle, buffer, nnz, count, *places)
        permanents = results.arrays(Kind.COMPLEX if self._kind is Kind.COMPLEX else Kind.REAL)
        return Gradient(derivatives, bounds, permanents)

    def hessian_product(self, V: Any, values: Any = None, full: bool = False) -> Any:
        """How the derivatives change as the values move along V, which is given as values are: the Hessian
        times V, by each entry of the pattern, in their order, in doubles. full=True: a pair, they and certain
        bounds of their errors.

        >>> import libperm
        >>> product = libperm.Plan([[1.0, 2.0], [3.0, 4.0]]).hessian_product([1.0, 0.0, 0.0, 0.0])
        >>> [round(abs(x), 12) for x in product]
        [0.0, 0.0, 0.0, 1.0]
        """
        m, (handle, buffer) = self._matrix, self._encoded(values)
        entries = entries_for(m, self._kind, V)
        along = encode(entries if len(entries) > 0 else [0], self._input.value_type)
        parts = m.nnz * (2 if self._kind is Kind.COMPLEX else 1)
        product, bounds = (ctypes.c_double * parts)(), (ctypes.c_double * m.nnz)()
        is_long, places = 10 * handle.seconds() > LONG_SECONDS, (along, product, bounds)
        call(self._options, is_long, library.perm_plan_hessian_product, handle, buffer, *places)
        as_numpy = is_numpy(m.row_ptr)
        numbers = batch.numbers_in(product, self._kind, as_numpy)
        return (numbers, batch.numbers_in(bounds, Kind.REAL, as_numpy)) if full else numbers

    def marginals(
        self, values: Any = None, row_unmatched: Any = None, col_unmatched: Any = None
    ) -> Marginals:
        """How likely each entry of the pattern is to be in a matching, in their order, and each row and
        column to stay unmatched, as libperm.marginals() has it: of A, or of these values, given as for
        permanent(). What the pattern takes is found once for all values; again where rows, or columns, have
        weights of staying unmatched that had none.

        >>> import libperm
        >>> gates = libperm.Plan([[2.0, 1.0], [0.0, 3.0]])
        >>> found = gates.marginals(row_unmatched=1.0, col_unmatched=1.0)
        >>> [round(p, 4) for p in found.entries], round(found.rows[0], 4), found.value
        ([0.6154, 0.0769, 0.6923], 0.3077, 13.0)
        >>> gates.marginals([1.0, 1.0, 1.0], row_unmatched=1.0, col_unmatched=0.5).value
        2.75
        """
        matrix = self._with(values)
        given, _ = weighted_input(matrix, row_unmatched, col_unmatched, self._given, warns=False)
        key = row_unmatched is None, col_unmatched is None, given.value_type
        self._open()
        handle = self._for_marginals.get(key)
        if handle is None:
            handle = Handle()
            made = handle  # of the pattern alone: any values may follow
            run(self._options, given.is_long, lambda: made.make(given, self._options, is_told=False))
            self._for_marginals[key] = handle
        is_long = handle.seconds() > LONG_SECONDS or max(matrix.shape, default=0) > LONG_ORDER
        form: Any = self._answers_numpy(values), lambda entries: entries  # in the pattern's order
        function, places = library.perm_plan_marginals, (handle, given.values)
        return told_marginals(self._options, is_long, matrix, form, function, *places)

    # ---------------------------------------------------------------- shards

    def shards(self) -> int:
        """How many numbered pieces the work has that any process may run: run_shard(0 .. shards() - 1)."""
        return self._task().shards()

    def run_shard(self, number: int, values: Any = None) -> bytes:
        """What one comes to, for combine() here or in another process that has the same plan (to_bytes()).

        >>> import libperm
        >>> plan = libperm.Plan([[1, 2], [3, 4]])
        >>> plan.combine([plan.run_shard(k) for k in range(plan.shards())]).value
        10
        """
        return self._task(values).run_shard(number)

    def combine(self, partials: Iterable[bytes], values: Any = None) -> Result:
        """The permanent from what all shards came to, in any order: the bits of compute()."""
        found, answer = Answer(), abi.Answer(ctypes.sizeof(abi.Answer))
        answer.results, answer.count = found.address, 1
        self._task(values).combine(partials, answer)
        return result_of(found, *self._form(values))

    def _task(self, values: Any = None) -> Task:
        handle, buffer = self._encoded(values)
        arguments = handle.address, buffer.address
        return Task(
            self._options, lambda place: int(library.perm_task_plan(*arguments, place)), (handle, buffer)
        )

    def _execute(self, values: Any) -> Answer:
        handle, buffer = self._encoded(values)
        answer = handle.execute(buffer, self._options)
        self._make_quick()
        return answer

    def _make_quick(self) -> None:
        handle, of_both = self._handle, self._for_signs
        if self._quick is not None or handle is None:
            return
        if self._kind.is_exact or not self._options.wants_exact:  # else a Fraction
            handles = [handle] if of_both is None else [handle, of_both]
            self._seconds = max(each.seconds() for each in handles)
            is_long = self._seconds > LONG_SECONDS or self._options.progress is not None
            as_numpy = self._answers_numpy(None)
            self._quick = quick.plan(
                self._input, handles, self._is_signless, self._seconds, is_long, as_numpy
            )

    def _quick_permanents(self, values: Any, full: bool) -> Any:
        kept = self._quick
        if kept is None or self._kind.is_exact or not is_array(values) or values.ndim < 2:
            return None
        if len(values) > _MANY:
            self._options.require(len(values) * float(SIZE), _TOLD)
        is_long = len(values) * self._seconds > LONG_SECONDS
        return quick.permanents(kept, values, self._kind, full, partial(run, self._options, is_long))

    def _encoded(self, values: Any) -> tuple[Handle, Buffer]:
        if values is None:
            return self._open(), self._input.values
        if is_array(values) and is_as_it_should_be(values, self._input.value_type, self._matrix.nnz):
            return self._handle_for(values), Buffer(values)
        entries = entries_for(self._matrix, self._kind, values)
        return self._handle_for(entries), encode(entries, self._input.value_type)

    # ---------------------------------------------------------------- explaining

    def explain(self) -> str:
        """What the plan will do, what that costs, and why."""
        return self._open().explain(abi.FORMAT_TEXT)

    def explain_json(self) -> dict[str, Any]:
        """The same as a dictionary."""
        explained: dict[str, Any] = json.loads(self._open().explain(abi.FORMAT_JSON))
        return explained

    def plot(self, file: str | os.PathLike[str] | None = None) -> Any:
        """What the plan makes of the matrix: its pattern, the blocks that it falls into, the frontier of the
        one that takes longest, and what each engine would take. A Figure of matplotlib, which notebooks show.
        file: where to write it, .svg, .png, .pdf, ...

        >>> import libperm, os, tempfile
        >>> plan = libperm.Plan([[1.0, 2.0, 0.0], [0.0, 3.0, 1.0], [1.0, 1.0, 1.0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     picture = plan.plot(os.path.join(folder, "plan.svg"))
        ...     os.listdir(folder)
        ['plan.svg']
        """
        picture: dict[str, Any] = json.loads(self._open().explain(abi.FORMAT_PICTURE))
        return picture_of_plan(picture, file)

    def source(self, arch: str | None = None) -> str:
        """The CUDA C++ of its kernel, for "sm_90", "compute_90", ..."""
        handle, target = self._open(), None if arch is None else arch.encode()
        return read_text(lambda *to: library.perm_plan_source(handle.address, target, *to))

    # ---------------------------------------------------------------- the plan as an object

    @property
    def shape(self) -> tuple[int, int]:
        return self._matrix.shape

    @property
    def nnz(self) -> int:
        return self._matrix.nnz

    @property
    def pattern(self) -> Sequence[tuple[int, int]]:
        """Row and column of each entry, in the order of `values`."""
        return self._matrix.positions()

    def close(self) -> None:
        """Frees it, once what runs has ended."""
        self._handle = self._for_signs = self._quick = None
        self._for_marginals = {}

    def _open(self) -> Handle:
        if self._handle is None:
            raise ValueError("the plan is closed")
        return self._handle

    def __enter__(self) -> Plan:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        rows, cols = self.shape
        return f"<libperm.Plan of a {rows}x{cols} matrix of {self.nnz} {self._kind.name.lower()} entries>"

    def _repr_html_(self) -> str:
        """Shows in notebooks what it will do."""
        return f"<pre>{escape(self.explain() if self._handle is not None else repr(self))}</pre>"

    def to_bytes(self) -> bytes:
        """For a file or another process: from_bytes() does not analyse again. Without the options progress
        and machine: a plan for another machine is executed where it is loaded.

        >>> import libperm
        >>> saved = libperm.Plan([[1, 2], [3, 4]]).to_bytes()
        >>> libperm.Plan.from_bytes(saved, threads=1, memory_limit="1G").permanent()
        10
        """
        return bytes_of_plan(self._open().address, self._matrix, self._input.value_type, self._given)

    @classmethod
    def from_bytes(cls, saved: bytes, **options: Unpack[RunOptions]) -> Plan:
        """What to_bytes() made, as a plan again: its numbers have the same bits on any machine. What
        libperm.RunOptions lists is as it was when the plan was made, or as given here; all else is its own.
        """
        taken = RunOptions.__annotations__
        for name in options:
            if name not in taken:
                raise TypeError(f"a saved plan takes no option {name!r}; there are {', '.join(taken)}")
        matrix, value_type, made_with, native = plan_in(saved)
        plan, handle = cls.__new__(cls), Handle()
        plan._set_up(matrix, {**made_with, **options}, value_type)
        load_plan(native, plan._options.address, plan._input.address, handle.address)
        plan._handle = handle
        return plan

    def __reduce__(self) -> Any:
        return Plan.from_bytes, (self.to_bytes(),)
