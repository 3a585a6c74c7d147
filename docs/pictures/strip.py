"""Draws strip.svg, of docs/periodic.md: python3 docs/pictures/strip.py >docs/pictures/strip.svg"""

from itertools import combinations
from random import Random

WIDTH, LAYERS, CUT = 4, 7, 3  # the cut: layers 0 .. 3 have met their rows
CELL = [{1: 1, 2: 1, 5: 1}, {0: 1, 2: 1, 3: 1, 4: 1}]  # rows: columns of the cells before, here, behind
BLUE, ORANGE, GREY = "#0072b2", "#e69f00", "#999999"


def is_black(layer, x):
    return (layer + x) % 2 == 0


def neighbours(layer, x):
    for at in ((layer, x - 1), (layer, x + 1), (layer - 1, x), (layer + 1, x)):
        if at[0] >= 0 and at[1] in range(WIDTH):
            yield at


def pairs_left_of_the_cut():
    """Each black vertex with a white one, so that of layers 0 .. CUT - 1 every white one has been taken."""
    blacks = [(k, x) for k in range(CUT + 1) for x in range(WIDTH) if is_black(k, x)]

    random = Random(2)

    def search(k, taken):
        if k == len(blacks):
            closed = [(a, b) for a in range(CUT) for b in range(WIDTH) if not is_black(a, b)]
            return [] if all(at in taken for at in closed) else None
        around = list(neighbours(*blacks[k]))
        for to in random.sample(around, len(around)):
            if to not in taken:
                rest = search(k + 1, taken | {to})
                if rest is not None:
                    return [(blacks[k], to), *rest]
        return None

    return search(0, frozenset())


def factors():
    """What the two rows of a cell make of the states: matrices, from states before to states behind."""
    last = {j: i for i, row in enumerate(CELL) for j in row if j < 2}  # the row that closes a column
    before = [frozenset(s) for s in combinations(range(4), 2)]
    levels, states = [], before
    for i, row in enumerate(CELL):
        ways = {}
        for number, state in enumerate(states):
            for j, value in row.items():
                behind = state | {j}
                if j not in state and all(c in behind for c in last if last[c] == i):
                    ways[behind, number] = ways.get((behind, number), 0) + value
        behind = sorted({state for state, _ in ways}, key=sorted)
        if i + 1 == len(CELL):  # the next cell's: each column is one cell further back
            behind = [frozenset({0, 1} | {j + 2 for j in state}) for state in before]
        levels.append([[ways.get((state, k), 0) for k in range(len(states))] for state in behind])
        states = behind
    return levels


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def line(a, b, colour, thick):
    return (
        f'<line x1="{a[0]}" y1="{a[1]}" x2="{b[0]}" y2="{b[1]}" stroke="{colour}" stroke-width="{thick}" '
        'stroke-linecap="round"/>'
    )


def text(x, y, what, size=15, anchor="middle"):
    return f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}">{what}</text>'


def strip(left, top, step=52):
    def place(at):
        return left + step * at[0], top + step * at[1]

    pairs = pairs_left_of_the_cut()
    taken = {to for _, to in pairs}
    for layer in range(LAYERS):
        for x in range(WIDTH):
            for to in ((layer + 1, x), (layer, x + 1)):
                if to[0] < LAYERS and to[1] < WIDTH:
                    yield line(place((layer, x)), place(to), "#cccccc", 2)
    for a, b in pairs:
        yield line(place(a), place(b), BLUE, 7)
    cut = left + step * (CUT + 0.5)
    yield (
        f'<line x1="{cut}" y1="{top - 34}" x2="{cut}" y2="{top + 3 * step + 34}" stroke="black" '
        'stroke-width="2" stroke-dasharray="7 5"/>'
    )
    for layer in range(LAYERS):
        for x in range(WIDTH):
            px, py = place((layer, x))
            if is_black(layer, x):
                yield f'<circle cx="{px}" cy="{py}" r="9" fill="{"black" if layer <= CUT else GREY}"/>'
                continue
            is_open = layer in (CUT, CUT + 1)
            fill = ORANGE if is_open and (layer, x) in taken else "white"
            colour, thick = (ORANGE, 5) if is_open else (GREY, 2)
            pen = f'fill="{fill}" stroke="{colour}" stroke-width="{thick}"'
            yield f'<circle cx="{px}" cy="{py}" r="9" {pen}/>'
    bottom = top + 3 * step + 62
    yield text(left + step * 1.5, bottom, "rows that have been met")
    yield text(left + step * (CUT + 0.5), top - 44, "cut")
    yield text(left + step * 5.3, bottom, "rows to come")


def matrix(a, left, top, name, step=26):
    height, width = step * len(a), step * len(a[0])
    yield f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="#f4f4f4" stroke="{GREY}"/>'
    for i, row in enumerate(a):
        for j, x in enumerate(row):
            if x:
                place = f'x="{left + step * j + 2}" y="{top + step * i + 2}"'
                colour = BLUE if x == 1 else ORANGE
                yield f'<rect {place} width="{step - 4}" height="{step - 4}" fill="{colour}"/>'
                if x > 1:
                    yield text(left + step * (j + 0.5), top + step * (i + 0.5) + 5, x)
    yield text(left + width / 2, top + height + 27, name)


def picture():
    first, second = factors()
    whole = product(second, first)
    yield from strip(50, 84)
    tops = [84 + (156 - 26 * len(a)) / 2 for a in (whole, second, first)]
    left = 470
    for a, top, name, sign in zip(
        (whole, second, first), tops, ("T", "second row", "first row"), ("=", "·", "")
    ):
        yield from matrix(a, left, top, name)
        left += 26 * len(a[0]) + 40
        yield text(left - 20, 168, sign, 24)


print('<svg xmlns="http://www.w3.org/2000/svg" width="1080" height="320" viewBox="0 0 1080 320">')
print('<rect width="1080" height="320" fill="white"/><g font-family="sans-serif">')
print("\n".join(picture()))
print("</g></svg>")
