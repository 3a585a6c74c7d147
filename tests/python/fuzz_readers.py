"""Random matrices in every container and type that Python has, read by libperm and by a reader of our own:
plain Python, entry by entry, before the container is made. Permanents by definition, of Fractions.

    python tests/python/fuzz_readers.py --count 100000 --seed 1

None may be wrong, none accepted that is no matrix of numbers, none refused that is one."""

from __future__ import annotations

import argparse
import math
import random
import sys
import warnings
from collections import Counter, UserDict
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pandas as pd
from scipy import sparse

import libperm

INTEGER, RATIONAL, REAL, COMPLEX = range(4)
NO_NUMBER, NOT_FINITE = "no number", "not finite"
REFUSALS = (TypeError, ValueError, OverflowError)  # libperm.InvalidMatrixError is a ValueError

INTEGERS = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f4", "f8", "g"]
COMPLEXES = ["c8", "c16", "G"]
NUMBERS = INTEGERS + FLOATS + COMPLEXES
OTHERS = ["f2", "U3", "S3", "M8[D]", "m8[s]", "V8", "record"]


def meaning(x):
    """(kind, exact value: a pair of Fractions), or why it has none."""
    name = type(x).__name__
    if isinstance(x, (bool, int, np.bool_)) or (isinstance(x, np.integer) and name != "timedelta64"):
        return INTEGER, (Fraction(int(x)), Fraction(0))
    if isinstance(x, Fraction):
        return RATIONAL, (x, Fraction(0))
    if isinstance(x, (Decimal, float, np.floating)) and name != "float16":
        if not math.isfinite(x):
            return NOT_FINITE
        return RATIONAL if isinstance(x, Decimal) else REAL, (Fraction(*x.as_integer_ratio()), Fraction(0))
    if isinstance(x, (complex, np.complexfloating)):
        parts = [meaning(part) for part in (x.real, x.imag)]
        return NOT_FINITE if NOT_FINITE in parts else (COMPLEX, (parts[0][1][0], parts[1][1][0]))
    return NO_NUMBER


@dataclass
class Given:
    """What libperm is given, and what it means: rows of meanings. `kind`: that of its type, at least."""

    it: object
    rows: list
    what: str
    kind: int = INTEGER
    shape: tuple = ()

    def __post_init__(self):
        entries = [x for row in self.rows for x in row]
        self.fault = next((why for why in (NO_NUMBER, NOT_FINITE) if why in entries), None)
        if self.fault is None:
            self.kind = max([self.kind, *(kind for kind, _ in entries)])
            self.exact = [[value for _, value in row] for row in self.rows]


# ---------------------------------------------------------------- entries


def scalar(r, dtype):
    """Of this type, as numpy's."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.bool_(r.random() < 0.6)
    if kind in "iu":
        info = np.iinfo(dtype)
        number = r.choice(
            [0, 1, info.min, info.max, r.randint(int(info.min), int(info.max)), r.randint(0, 9)]
        )
        return np.dtype(dtype).type(int(number))
    if kind == "f":
        numbers = [0.0, -0.0, 1.0, r.gauss(0, 1), r.randint(-9, 9) / 4, r.choice([1e-9, 3e7, 1e16, 1e-30])]
        if r.random() < 0.004:
            numbers = [math.nan, math.inf, -math.inf]
        number = np.dtype(dtype).type(r.choice(numbers))
        return number / np.dtype(dtype).type(3) if r.random() < 0.2 else number
    part = {"c8": "f4", "c16": "f8", "G": "g"}[dtype]
    z = np.zeros(1, dtype)
    z.real, z.imag = scalar(r, part), scalar(r, part)
    return z[0]


NO_NUMBERS = [
    lambda r: None,
    lambda r: "",
    lambda r: "1",
    lambda r: [],
    lambda r: [1],
    lambda r: (),
    lambda r: {},
    lambda r: b"",
    lambda r: b"1",
    lambda r: np.timedelta64(r.randint(0, 2), "s"),
    lambda r: pd.NA,
    lambda r: pd.NaT,
    lambda r: np.datetime64("2020-01-01"),
    lambda r: object(),
    lambda r: np.float16(1),
    lambda r: np.str_(""),
    lambda r: {1},
    lambda r: pd.Timedelta(0),
    lambda r: np.array([]),
    lambda r: range(0),
    lambda r: np.array([1.0]),
]


def any_entry(r, with_faults):
    """Of an object array or a list."""
    if with_faults and r.random() < 0.1:
        return r.choice(NO_NUMBERS)(r)
    return r.choice(
        [
            lambda: r.randint(-9, 9),
            lambda: 0,
            lambda: r.choice([2**53 + 1, 2**63, -(2**64) - 1, 10**30]),
            lambda: r.random() < 0.5,
            lambda: Fraction(r.randint(-9, 9), r.randint(1, 9)),
            lambda: Decimal(r.randint(-99, 99)) / 10,
            lambda: r.randint(-9, 9) / 8,
            lambda: r.gauss(0, 1),
            lambda: complex(r.gauss(0, 1), r.randint(-1, 1)),
            lambda: scalar(r, r.choice(NUMBERS)),
        ]
    )()


def mix(r):
    """A source of entries; most are of one or two kinds."""
    with_faults = r.random() < 0.15
    kinds = r.choice(["any", "integers", "rationals", "reals", "type"])
    dtype = r.choice(NUMBERS)

    def entry():
        while True:
            x = scalar(r, dtype) if kinds == "type" else any_entry(r, with_faults)
            found = meaning(x)
            most = {"integers": INTEGER, "rationals": RATIONAL, "reals": REAL}.get(kinds, COMPLEX)
            if isinstance(found, str) or found[0] <= most:
                return x

    return entry


# ---------------------------------------------------------------- containers


def laid_out(r, a):
    """The same entries, elsewhere in memory."""
    way = r.choice(
        ["as is", "fortran", "reversed", "strided", "read-only", "unaligned", "byte order", "view"]
    )
    if way == "fortran":
        a = np.asfortranarray(a)
    elif way == "reversed":
        axes = tuple(slice(None, None, r.choice([1, -1])) for _ in a.shape)
        a = np.ascontiguousarray(a[axes])[axes]
    elif way == "strided":
        large = np.zeros([2 * extent + 1 for extent in a.shape], a.dtype)
        large[...] = a.flat[0] if a.size and a.dtype != object else large
        part = large[tuple(slice(1, None, 2) for _ in a.shape)]
        part[...] = a
        a = part
    elif way == "unaligned" and a.dtype != object and a.size:
        raw = np.zeros(a.nbytes + 1, np.uint8)
        part = raw[1:].view(a.dtype).reshape(a.shape)
        part[...] = a
        a = part
    elif way == "byte order" and a.dtype.kind in "iufc":
        a = a.astype(a.dtype.newbyteorder())
    elif way == "view" and a.ndim == 2:
        a = np.asmatrix(a)
    elif way == "read-only":
        a = a.copy()
        a.flags.writeable = False
    return a, way


def of_objects(rows, shape):
    a = np.empty(shape, object)
    for i, row in enumerate(rows):
        for j, x in enumerate(row):
            a[i, j] = x
    return a


def kind_of_dtype(dtype):
    return {"b": INTEGER, "i": INTEGER, "u": INTEGER, "f": REAL, "c": COMPLEX}[np.dtype(dtype).kind]


def an_array(r, m, n):
    dtype = r.choice(NUMBERS)
    scalars = [[scalar(r, dtype) for _ in range(n)] for _ in range(m)]
    a = np.zeros((m, n), dtype)
    for i, row in enumerate(scalars):
        for j, x in enumerate(row):
            a[i, j] = x
    a, way = laid_out(r, a)
    return Given(a, [list(map(meaning, row)) for row in scalars], f"{dtype} {way}", kind_of_dtype(dtype))


def an_object_array(r, m, n):
    entry = mix(r)
    rows = [[entry() for _ in range(n)] for _ in range(m)]
    a, way = laid_out(r, of_objects(rows, (m, n)))
    return Given(a, [list(map(meaning, row)) for row in rows], f"objects {way} {rows!r}")


def lists(r, m, n):
    entry = mix(r)
    rows = [[entry() for _ in range(n)] for _ in range(m)]
    meanings = [list(map(meaning, row)) for row in rows]
    kind = INTEGER
    one_type = {type(x) for row in rows for x in row}
    way = r.choice(["lists", "tuples", "iterators", "arrays", "series"])
    if (
        way == "arrays"
        and len(one_type) == 1
        and isinstance(rows[0][0], np.generic)
        and NO_NUMBER not in sum(meanings, [])
    ):
        it = [np.array(row) for row in rows]
    elif way == "series":
        it = [pd.Series(np.array([*row, None], object)[:-1], index=range(n, 0, -1)) for row in rows]
    elif way == "tuples":
        it = tuple(map(tuple, rows))
    elif way == "iterators":
        it = Once(lambda: iter([iter(row) for row in rows]))
    else:
        it = rows
    return Given(it, meanings, f"{way} {rows!r}", kind)


class Once:
    """A new iterator for each call."""

    def __init__(self, make):
        self.make = make


def fresh(it):
    return it.make() if isinstance(it, Once) else it


def a_sparse_one(r, m, n):
    dtype = r.choice(NUMBERS)
    count = r.randint(0, 2 * m * n) if m * n else 0
    places = sorted((r.randrange(m), r.randrange(n)) for _ in range(count))
    form = r.choice(["coo", "csr", "csc", "bsr", "lil", "dok", "dia"])
    if form in ("lil", "dok", "dia"):
        places = sorted(set(places))
    if form == "csc":
        places.sort(key=lambda at: (at[1], r.random()))
    elif form in ("csr", "bsr"):
        places.sort(key=lambda at: (at[0], r.random()))
    else:
        r.shuffle(places)
    data = np.zeros(len(places), dtype)
    scalars = [scalar(r, dtype) for _ in places]
    for k, x in enumerate(scalars):
        data[k] = x
    rows, cols = (np.array([at[k] for at in places], np.int32) for k in (0, 1))
    make = getattr(sparse, f"{form}_{r.choice(['array', 'matrix'])}")
    if form == "coo":
        it = make((data, (rows, cols)), shape=(m, n))
    elif form in ("csr", "csc", "bsr"):
        lines, others, extent = (cols, rows, n) if form == "csc" else (rows, cols, m)
        starts = np.searchsorted(lines, np.arange(extent + 1))
        blocks = data[:, None, None] if form == "bsr" else data
        it = make((blocks, others, starts), shape=(m, n))
    else:
        dense = np.zeros((m, n), dtype)
        dense[rows, cols] = data
        it = make(dense)
    sums = {}
    for at, x in zip(places, scalars):
        sums.setdefault(at, []).append(meaning(x))
    kind = kind_of_dtype(dtype)

    def entry(at):
        terms = sums.get(at, [])
        if NOT_FINITE in terms:
            return NOT_FINITE
        return kind, tuple(sum((value[k] for _, value in terms), Fraction(0)) for k in (0, 1))

    meanings = [[entry((i, j)) for j in range(n)] for i in range(m)]
    return Given(it, meanings, f"{type(it).__name__} {dtype} {places} {data!r}", kind)


def a_table(r, m, n):
    """Of pandas, with columns of several types."""
    columns, meanings = {}, []
    for j in range(n):
        way = r.choice(
            [*INTEGERS, "f4", "f8", "c16", "Int64", "Float64", "boolean", "category", "object", "words"]
        )
        if way in ("Int64", "Float64", "boolean"):
            make = {
                "Int64": lambda: r.choice([r.randint(-9, 9), 2**53 + 1]),
                "Float64": lambda: r.gauss(0, 1),
                "boolean": lambda: r.random() < 0.5,
            }[way]
            column = [make() for _ in range(m)]
            if r.random() < 0.1:
                column = [None if r.random() < 0.5 else x for x in column]
            columns[j] = pd.array(column, dtype=way)
            # Of a missing float numpy's array of a table of one type has NaN, and others an NA.
            found = [
                ("missing" if way == "Float64" else NO_NUMBER) if x is None else meaning(x) for x in column
            ]
        elif way in ("category", "words"):
            column = [r.choice([1, 2, 3]) for _ in range(m)]
            columns[j] = pd.Categorical(column if way == "category" else list(map(str, column)))
            found = list(map(meaning, column)) if way == "category" else [NO_NUMBER] * m
        elif way == "object":
            entry = mix(r)
            column = [entry() for _ in range(m)]
            columns[j] = of_objects([[x] for x in column], (m, 1))[:, 0]
            found = list(map(meaning, column))
        else:
            column = [scalar(r, way) for _ in range(m)]
            columns[j] = np.array(column, way)
            found = list(map(meaning, column))
        meanings.append(found)
    it = pd.DataFrame(columns, index=range(m))
    rows = [[NO_NUMBER if column[i] == "missing" else column[i] for column in meanings] for i in range(m)]
    return Given(it, rows, f"table {it.dtypes.tolist()} {it.to_numpy(dtype=object).tolist()!r}")


def another(r, m, n):
    """No matrix at all."""
    m, n = max(m, 1), max(n, 1)
    way = r.choice(
        [
            *OTHERS,
            "masked",
            "dict",
            "UserDict",
            "set",
            "frozenset",
            "bytes",
            "graph",
            "str",
            "sets",
            "dicts",
            "texts",
            "scalars",
            "3-d",
            "1-d",
            "generator",
            "tables",
            "masked rows",
        ]
    )
    ints = np.array([[r.randint(0, 3) for _ in range(n)] for _ in range(m)])
    table = pd.DataFrame(ints)
    if way == "record":
        it = np.zeros((m, n), [("a", float)])
    elif way in OTHERS:
        it = ints.astype("i8").astype(way) if way != "V8" else ints.astype("i8").view("V8")
    else:
        it = {
            "masked": lambda: np.ma.masked_array(ints, ints > 5),
            "dict": lambda: dict(enumerate(ints)),
            "UserDict": lambda: UserDict(enumerate(ints.tolist())),
            "sets": lambda: [{1, 2}] * m,
            "set": lambda: {(1, 2), (3, 4)},
            "frozenset": lambda: frozenset({(1,)}),
            "bytes": lambda: [b"12"] * 2,
            "graph": lambda: _graph(),
            "str": lambda: ["12", "34"],
            "dicts": lambda: [{0: 1, 1: 2}] * m,
            "texts": lambda: ints.astype(str).tolist(),
            "scalars": lambda: r.choice([1, 1.5, None, np.float64(1), np.array(2.0), True]),
            "3-d": lambda: np.ones((m, n, 2)),
            "1-d": lambda: ints[0],
            "generator": lambda: (x for x in range(3)),
            "tables": lambda: [table, table],
            "masked rows": lambda: [np.ma.masked_array([1, 2], [True, False])] * 2,
        }[way]()
    return Given(it, [[NO_NUMBER]], way)


def _graph():
    try:
        import networkx as nx
    except ImportError:
        return {}
    return nx.grid_2d_graph(2, 2)


# ---------------------------------------------------------------- exact numbers


def times(x, y):
    if not x[1] and not y[1]:
        return x[0] * y[0], x[1]
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


def total(terms):
    re = im = Fraction(0)
    for x, y in terms:
        re, im = re + x, im + y
    return re, im


def product(factors):
    out = Fraction(1), Fraction(0)
    for x in factors:
        out = times(out, x)
    return out


def permanent(rows, m, n):
    if m > n:
        rows, m, n = list(zip(*rows)) if rows and n else [[] for _ in range(n)], n, m
    return total(product(rows[i][j] for i, j in enumerate(s)) for s in permutations(range(n), m))


def magnitudes(rows):
    return [[(abs(re) + abs(im), Fraction(0)) for re, im in row] for row in rows]


def of_matchings(rows, m, n, row_weights, col_weights):
    """With every line free to stay unmatched."""
    terms = []
    for k in range(min(m, n) + 1):
        for left in combinations(range(m), k):
            rest = [row_weights[i] for i in range(m) if i not in left]
            for right in permutations(range(n), k):
                free = [col_weights[j] for j in range(n) if j not in right]
                terms.append(product([*(rows[i][j] for i, j in zip(left, right)), *rest, *free]))
    return total(terms)


# ---------------------------------------------------------------- what is asked


def of_result(r):
    power = Fraction(2) ** r.exp2
    return Fraction(r.mantissa_re) * power, Fraction(r.mantissa_im) * power


def is_near(found, exact, scale, relative=Fraction(1, 10**9)):
    return max(abs(found[0] - exact[0]), abs(found[1] - exact[1])) <= relative * max(scale, abs(exact[0]))


def checked_value(value, exact, kind, scale):
    """Why it is wrong, or nothing."""
    if kind == INTEGER and type(value) is not int:
        return f"a {type(value).__name__}, where an int is expected"
    if kind == RATIONAL and type(value) is not Fraction:
        return f"a {type(value).__name__}, where a Fraction is expected"
    if kind <= RATIONAL:
        return None if value == exact[0] else f"{value}, where {exact[0]} is right"
    if (kind == COMPLEX) != isinstance(value, complex):
        return f"a {type(value).__name__} of a matrix of kind {kind}"
    value = complex(value)
    found = Fraction(value.real), Fraction(value.imag)
    return None if is_near(found, exact, scale) else f"{value}, where {exact} is right"


def exactly(value, exact, kind):
    if kind == COMPLEX:
        return None
    return None if value == exact[0] else f"{value} exactly, where {exact[0]} is right"


def ask_permanent(r, given, m, n):
    rows = given.exact
    exact, scale = permanent(rows, m, n), permanent(magnitudes(rows), m, n)[0]
    way = r.randrange(4)
    if way == 0:
        return checked_value(libperm.permanent(fresh(given.it)), exact, given.kind, scale)
    if way == 1 and given.kind != COMPLEX:
        return exactly(libperm.permanent(fresh(given.it), precision="exact"), exact, given.kind)
    if way == 2:
        with libperm.Plan(fresh(given.it)) as plan:
            return checked_value(plan.permanent(), exact, given.kind, scale)
    found = libperm.compute(fresh(given.it))
    value = of_result(found)
    bound = Fraction(found.abs_error_bound) if math.isfinite(found.abs_error_bound) else scale
    slack = scale / 2**50
    if given.kind > RATIONAL or not found.text:
        error = max(abs(value[0] - exact[0]), abs(value[1] - exact[1]))
        return None if error <= bound + slack else f"{found!r}, bound {bound}, where {exact} is right"
    return checked_value(found.value, exact, given.kind, scale)


def ask_others(r, given, m, n):
    exact, scale = permanent(given.exact, m, n), permanent(magnitudes(given.exact), m, n)[0]
    way = r.randrange(4)
    if way == 0:
        last = libperm.matchings(fresh(given.it))[min(m, n)]
        return checked_value(last, exact, given.kind, scale)
    if way == 1:
        found = libperm.bounds(fresh(given.it))
        lower, upper = found.lower.exactly, found.upper.exactly
        square = exact[0] ** 2 + exact[1] ** 2
        if not found.of_magnitude:
            return None if lower <= exact[0] <= upper else f"{found}, where {exact} is right"
        return None if lower**2 <= square <= upper**2 else f"{found}, where {exact} is right"
    if way == 2:
        found = libperm.estimate(fresh(given.it))
        mantissa, power = found.value.mantissa, Fraction(2) ** found.value.exp2
        value = Fraction(complex(mantissa).real) * power, Fraction(complex(mantissa).imag) * power
        return None if not found.exact or is_near(value, exact, scale) else f"{found}, where {exact} is right"
    if given.kind == COMPLEX or any(x < 0 for row in given.exact for x, _ in row) or m == 0 or n == 0:
        return None
    weights = [(Fraction(1), Fraction(0))]
    found = libperm.marginals(fresh(given.it), 1, 1)
    exact = of_matchings(given.exact, m, n, m * weights, n * weights)
    return None if is_near(of_result(found.result), exact, exact[0]) else f"{found}, where {exact} is right"


def ask_values(r, given, m, n):
    """A plan's, of the same or another kind: it may refuse what its numbers cannot hold."""
    if 0 in (m, n):
        return None
    one = r.choice([1, Fraction(1, 2), 1.0, 1j])
    kind = meaning(one)[0]
    plan = libperm.Plan([[one] * n for _ in range(m)])
    exact, scale = permanent(given.exact, m, n), permanent(magnitudes(given.exact), m, n)[0]
    try:
        value = plan.permanent(fresh(given.it))
    except REFUSALS as refused:
        fits = given.kind <= kind and all(
            float(x) == x and abs(x) < 2**53 for row in given.exact for pair in row for x in pair
        )
        return f"refused by a plan of kind {kind}: {refused!r}" if fits else None
    if given.kind > kind:
        return f"accepted by a plan of kind {kind}"
    return checked_value(value, exact, kind, scale)


def ask_minors(r, given, m, n):
    rows = given.exact
    try:
        if abs(m - n) == 1:
            found, bounds = libperm.sub_permanents(fresh(given.it), full=True)
            minors = [
                permanent(
                    rows[:k] + rows[k + 1 :] if m > n else [row[:k] + row[k + 1 :] for row in rows],
                    *2 * [min(m, n)],
                )
                for k in range(max(m, n))
            ]
        elif m == n and m > 0 and not hasattr(given.it, "tocsr"):
            if isinstance(given.it, np.ndarray):
                batch = np.asarray(given.it)[None]
            else:
                batch = [given.it if isinstance(given.it, pd.DataFrame) else list(map(list, fresh(given.it)))]
            gradient = libperm.gradients(batch, full=True)
            found, bounds = gradient.derivatives.reshape(-1), gradient.error_bounds.reshape(-1)
            assert (libperm.gradients(batch).reshape(-1) == found).all()
            minors = [
                permanent([row[:j] + row[j + 1 :] for k, row in enumerate(rows) if k != i], m - 1, n - 1)
                for i in range(m)
                for j in range(n)
            ]
        else:
            return ask_permanent(r, given, m, n)
    except REFUSALS as refused:
        entries = [x for row in rows for pair in row for x in pair]
        fits = all(float(x) == x for x in entries) if max(entries, default=0) < 10**300 else False
        return f"refused, of doubles: {refused!r}" if fits else None
    for value, bound, exact in zip(found, bounds, minors):
        if isinstance(value, (int, Fraction)):
            if (Fraction(value), 0) != exact or bound != 0:
                return f"{found}, where {exact} is right"
            continue
        value = complex(value)
        error = max(abs(Fraction(value.real) - exact[0]), abs(Fraction(value.imag) - exact[1]))
        if error > Fraction(bound) * Fraction(1.0000001):
            return f"{found}, where {exact} is right"
    return None


# ---------------------------------------------------------------- many, weights, counts


def ask_batch(r, m, n, makers):
    """Several in one call: of one array, or of a list."""
    count = r.randint(1, 3)
    if r.random() < 0.5:
        some = [an_object_array(r, m, n) if r.random() < 0.5 else None for _ in range(1)][0]
        if some is None:
            some = an_array(r, m, n)
            parts = [some]
            while len(parts) < count:
                other = an_array(r, m, n)
                if other.it.dtype == some.it.dtype:
                    parts.append(other)
        else:
            parts = [some, *(an_object_array(r, m, n) for _ in range(count - 1))]
        it = np.empty((len(parts), m, n), parts[0].it.dtype)
        for k, part in enumerate(parts):
            it[k] = np.asarray(part.it)
        it = laid_out(r, it)[0]
    else:
        parts = [r.choice(makers)(r, m, n) for _ in range(count)]
        it = [fresh(part.it) for part in parts]
    what = " and ".join(part.what for part in parts)
    fault = next((part.fault for part in parts if part.fault), None)
    kind = max(part.kind for part in parts)
    try:
        found = libperm.permanents(it)
    except REFUSALS as refused:
        return (None, what, True) if fault else (f"refused: {refused!r}", what, False)
    if fault:
        return f"{found!r} of what has an entry that is {fault}", what, False
    for value, part in zip(found, parts):
        exact = permanent(part.exact, m, n)
        wrong = checked_value(value, exact, kind, permanent(magnitudes(part.exact), m, n)[0])
        if wrong:
            return wrong, what, False
    return None, what, False


def a_line(r, n):
    """One-dimensional, of any type."""
    given = r.choice([an_array, an_object_array, lists])(r, 1, n)
    it = given.it
    if isinstance(it, np.ndarray):
        it = np.asarray(it).reshape(n) if it.dtype == object else np.array(np.asarray(it)[0])
        if r.random() < 0.3:
            it = pd.Series(it, index=range(n, 0, -1))
        elif r.random() < 0.3:
            it = list(it)
    else:
        it = list(iter(fresh(it)))[0]
        it = list(it)
    return it, given


def ask_weights(r, m, n):
    rows = [[r.randint(0, 3) for _ in range(n)] for _ in range(m)]
    (of_rows, left), (of_cols, right) = a_line(r, m), a_line(r, n)
    what = f"weights {of_rows!r} and {of_cols!r} of {rows}"
    fault = left.fault or right.fault
    a = rows if r.random() < 0.5 else np.array(rows, r.choice(["i8", "f8"]))
    is_float = isinstance(a, np.ndarray) and a.dtype.kind == "f"
    try:
        value = libperm.permanent(a, row_unmatched=of_rows, col_unmatched=of_cols)
    except REFUSALS as refused:
        return (None, what, True) if fault else (f"refused: {refused!r}", what, False)
    if fault:
        return f"{value!r}, where a weight is {fault}", what, False
    exact_rows = [[(Fraction(x), Fraction(0)) for x in row] for row in rows]
    exact = of_matchings(exact_rows, m, n, left.exact[0], right.exact[0])
    scale = of_matchings(exact_rows, m, n, magnitudes(left.exact)[0], magnitudes(right.exact)[0])[0]
    kind = max(left.kind, right.kind, REAL if is_float else INTEGER)
    if not (
        left.kind == COMPLEX or right.kind == COMPLEX or any(x < 0 for x, _ in left.exact[0] + right.exact[0])
    ):
        try:
            found = libperm.marginals(a, of_rows, of_cols)
            if not is_near(of_result(found.result), exact, scale):
                return f"{found}, where {exact} is right", what, False
        except libperm.InvalidMatrixError:
            if exact[0]:
                return "marginals refused", what, False
    return checked_value(value, exact, kind, scale), what, False


def ask_counts(r, n):
    rows = [[r.randint(-3, 3) for _ in range(n)] for _ in range(n)]
    counts = [r.randint(0, 2) for _ in range(n)]
    good = {
        "list": list,
        "tuple": tuple,
        "array": lambda x: np.array(x, r.choice(INTEGERS[1:])),
        "iter": iter,
        "series": lambda x: pd.Series(x, index=range(n - 1, -1, -1)),
        "objects": lambda x: np.array(x, object),
    }
    bad = {
        "floats": lambda x: [float(c) for c in x],
        "texts": lambda x: list(map(str, x)),
        "bytes": bytes,
        "dict": lambda x: dict(enumerate(x)),
        "set": set,
        "UserDict": lambda x: UserDict(enumerate(x)),
        "times": lambda x: np.array(x, "m8[s]"),
        "None": lambda x: [None] * len(x),
        "keys": lambda x: dict(enumerate(x)).keys(),
    }
    way = r.choice([*good, *good, *bad])
    a = rows if r.random() < 0.5 else np.array(rows)
    what = f"counts as {way}: {counts} of {rows}"
    exact = permanent(
        [
            [(Fraction(x), Fraction(0)) for j, x in enumerate(row) for _ in range(counts[j])]
            for row, c in zip(rows, counts)
            for _ in range(c)
        ],
        sum(counts),
        sum(counts),
    )
    make = good.get(way) or bad[way]
    try:
        value = libperm.permanent(a, row_multiplicity=make(counts), col_multiplicity=make(counts))
    except REFUSALS as refused:
        return (None, what, True) if way in bad else (f"refused: {refused!r}", what, False)
    if way in bad:
        return f"{value!r} accepted", what, False
    return checked_value(value, exact, INTEGER, 0), what, False


# ---------------------------------------------------------------- all of it


@dataclass
class Report:
    count: int = 0
    compared: int = 0
    refused: int = 0
    containers: Counter = field(default_factory=Counter)
    failures: list = field(default_factory=list)

    def __str__(self):
        kinds = ", ".join(f"{name} {count}" for name, count in sorted(self.containers.items()))
        return (
            f"{self.count} arrays: {self.compared} compared, {self.refused} refused as they should be, "
            f"{len(self.failures)} wrong\n{kinds}"
        )


MAKERS = [an_array, an_object_array, lists, a_sparse_one, a_table]


def one(r):
    """Why it is wrong or None, what it was, and whether it was refused as it should be."""
    n = r.choice([0, 1, 2, 2, 3, 3, 4])
    m = n if r.random() < 0.7 else r.randint(0, 4)
    door = r.random()
    if door < 0.15:
        return ask_batch(r, n, n, MAKERS) if n else ask_counts(r, 2)
    if door < 0.25:
        return ask_weights(r, max(1, min(m, 3)), max(1, min(n, 3)))
    if door < 0.3:
        return ask_counts(r, max(1, min(n, 3)))
    make = r.choice([*MAKERS, *MAKERS, another])
    if 0 in (m, n) and make in (a_table, lists):
        m = n = 2
    given = make(r, m, n)
    if given.fault is None:
        ask = r.choice([ask_permanent, ask_permanent, ask_others, ask_values, ask_minors])
        try:
            return ask(r, given, m, n), f"{ask.__name__} {given.what}", False
        except REFUSALS as refused:
            return f"refused: {refused!r}", f"{ask.__name__} {given.what}", False
    calls = [
        libperm.permanent,
        libperm.compute,
        lambda x: libperm.Plan(x).permanent(),
        libperm.bounds,
        libperm.matchings,
        libperm.estimate,
        libperm.gradient,
        lambda x: libperm.sample(x, 1),
        lambda x: libperm.permanents([x]),
        lambda x: libperm.permanent(x, row_unmatched=1, col_unmatched=1),
    ]
    if given.what not in ("3-d", "tables"):  # many matrices to these
        calls += [libperm.sub_permanents, lambda x: libperm.marginals(x, 1, 1)]
    if given.what not in ("1-d", "scalars", "generator"):  # a plan's values
        calls += [lambda x: libperm.Plan([[1j] * max(n, 2)] * max(m, 2)).permanent(x)]
    call = r.choice(calls)
    try:
        found = call(fresh(given.it))
    except TypeError:
        return None, given.what, True
    except (
        ValueError,
        OverflowError,
    ) as error:  # a ValueError of another text is as well where NaN stands too
        is_told = given.fault == NOT_FINITE or isinstance(error, libperm.InvalidMatrixError)
        return (None if is_told else f"refused by {error!r}"), given.what, is_told
    return f"{found!r}, of what is {given.fault}", given.what, False


def fuzz(count, seed):
    report = Report()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(count):
            r = random.Random(f"{seed} {k}")
            report.count += 1
            try:
                wrong, what, is_refused = one(r)
            except Exception as error:
                wrong, what, is_refused = f"raised {error!r}", "", False
            report.containers[what.split(" ")[0]] += 1
            if wrong:
                report.failures.append(f"seed {seed}, case {k}: {wrong}\n  {what[:600]}")
            elif is_refused:
                report.refused += 1
            else:
                report.compared += 1
    return report


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="this one alone, which raises what it raises")
    arguments = parser.parse_args()
    if arguments.case is not None:
        print(one(random.Random(f"{arguments.seed} {arguments.case}")))
        return 0
    report = fuzz(arguments.count, arguments.seed)
    for failure in report.failures[:20]:
        print(failure)
    print(f"seed {arguments.seed}; {report}")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
