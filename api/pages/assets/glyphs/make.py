"""Writes the outlines of the characters that pictures of cards have: regular.txt and bold.txt, a line for each.

A line holds the code point in hexadecimal digits, the width in 1/2048 of the size of the font, and the outline as a path
of SVG with its y axis upwards. They come from DejaVu Sans, whose licence allows that: see LICENCE. Run it with fontTools,
as in `python3 make.py /usr/share/fonts/truetype/dejavu`. Other versions of the font may have other outlines, so the files are
committed, and not made at run time. Left out are scripts whose letters change their form or run from right to left.
"""

import sys
from pathlib import Path

from fontTools.pens.basePen import BasePen
from fontTools.ttLib import TTFont

RANGES = [
    (0x20, 0x7E), (0xA0, 0x17F), (0x218, 0x21B), (0x370, 0x3FF), (0x400, 0x45F), (0x490, 0x4F9),
    (0x1E80, 0x1E85), (0x1E9E, 0x1E9E), (0x1EA0, 0x1EF9), (0x2010, 0x2015), (0x2018, 0x201E), (0x2020, 0x2022), (0x2026, 0x2026),
    (0x2030, 0x2030), (0x2039, 0x203A), (0x20AC, 0x20AC), (0x2116, 0x2116), (0x2122, 0x2122),
    (0x2190, 0x2193), (0x2212, 0x2212), (0x25A1, 0x25A1), (0x25CB, 0x25CB), (0x25D0, 0x25D0), (0x2713, 0x2713),
]  # fmt: skip


class Outline(BasePen):
    def __init__(self, glyphs):
        super().__init__(glyphs)
        self.parts = []

    def _add(self, letter, *points):
        self.parts.append(letter + " ".join(f"{round(x)} {round(y)}" for x, y in points))

    def _moveTo(self, point):
        self._add("M", point)

    def _lineTo(self, point):
        self._add("L", point)

    def _qCurveToOne(self, control, point):
        self._add("Q", control, point)

    def _closePath(self):
        self.parts.append("Z")


def lines(font):
    glyphs, names = font.getGlyphSet(), font.getBestCmap()
    for first, last in RANGES:
        for point in range(first, last + 1):
            if point in names:
                outline = Outline(glyphs)
                glyphs[names[point]].draw(outline)
                yield f"{point:04x} {glyphs[names[point]].width} {''.join(outline.parts)}".rstrip() + "\n"


here = Path(__file__).parent
for weight, file in [("regular", "DejaVuSans.ttf"), ("bold", "DejaVuSans-Bold.ttf")]:
    font = TTFont(Path(sys.argv[1]) / file)
    assert font["head"].unitsPerEm == 2048
    (here / f"{weight}.txt").write_text("".join(lines(font)))
