"""The look of the figures: the colours of the service's pages, the claim as title, and how sure it is under it."""

import textwrap

import matplotlib.pyplot as plt

# The colours of the service's pages, in light.
TEXT, QUIET, RULE, EDGE, MARK, SECOND = "#1b1f24", "#57606a", "#d0d7de", "#818b98", "#2458a8", "#a84a06"
plt.rcParams |= {
    "text.color": TEXT, "axes.labelcolor": QUIET, "xtick.color": QUIET, "ytick.color": QUIET, "axes.edgecolor": EDGE,
    "grid.color": RULE, "axes.grid": True, "axes.axisbelow": True, "grid.linewidth": 0.8, "font.size": 10,
    "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 10, "axes.titlelocation": "left",
    "figure.dpi": 100, "savefig.dpi": 150,
}  # fmt: skip


def wrapped(text, letters):
    return textwrap.fill(text, int(letters), break_on_hyphens=False)


def draw(claim, sure, size, rows=1, columns=1, **options):
    """Begins a figure of a width and height in inches, and prints its claim."""
    print(f"{claim}\n{sure}\n")
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", **options)
    width, height = size
    claim, sure = wrapped(claim, width * 9.4), wrapped(sure, width * 14)
    top, bottom = 0.28 * claim.count("\n") + 0.5, 0.17 * sure.count("\n") + 0.35
    figure.get_layout_engine().set(rect=(0.01, bottom / height, 0.98, 1 - (top + bottom) / height), wspace=0.05)
    figure.text(0.02, 1 - 0.1 / height, claim, size=13, weight="bold", va="top")
    figure.text(0.02, 0.1 / height, sure, size=9, color=QUIET, va="bottom")
    return figure, axes


def save(figure, path):
    figure.savefig(path)
    plt.close(figure)


def signed(value, digits=2):
    return f"{value:+.{digits}f}".replace("-", "−")


def in_words(mean, lower, upper):
    return f"{signed(mean, 3)}, 95 % {signed(lower, 3)} to {signed(upper, 3)} over clusters, for one look"
