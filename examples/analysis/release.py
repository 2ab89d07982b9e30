"""Reads the current release of a store from its public files, and derives every skill from its scores again.

The first argument of the program is the folder of the store, or the address of the data of a service. Every file is
checked against the manifest, so that nothing damaged is read.
"""

import hashlib, io, json, math, sys
from pathlib import Path
from urllib.request import urlopen

import polars as pl

DATA = sys.argv[1].rstrip("/")
IS_REMOTE = DATA.startswith(("https://", "http://"))
KEY = ["entity_type", "entity_id"]


def read(path):
    if IS_REMOTE:
        with urlopen(f"{DATA}/{path}", timeout=60) as answer:
            return answer.read()
    return (Path(DATA) / path).read_bytes()


def checked(file):
    content = read(f"{PREFIX}/{file['path']}")
    if hashlib.sha256(content).hexdigest() != file["sha256"]:
        sys.exit(f"{PREFIX}/{file['path']}: its SHA-256 is not that of the manifest")
    return content


def table(folder):
    files = [file for file in MANIFEST["files"] if file["path"].startswith(f"{folder}/")]
    return pl.concat(pl.read_parquet(io.BytesIO(checked(file))) for file in files)


def current_release():
    if IS_REMOTE:
        return json.loads(read("index.json"))["release"]
    return max(int(path.parent.name) for path in Path(DATA).glob("releases/*/manifest.json"))


PREFIX = f"releases/{current_release():08d}"
MANIFEST = json.loads(read(f"{PREFIX}/manifest.json"))
entities = table("entities")
scores = table("scores").filter("settled").join(entities.select(*KEY, "attempt"), on=KEY)
first_pages = [file for file in MANIFEST["files"] if file["path"] == "leaderboard/agent/000000.json"]
names = {row["agent_id"]: row["name"] for file in first_pages for row in json.loads(checked(file))["entries"]}


def name(entity):
    """The name of an agent; of a person, whose name no release has, the end of the id."""
    return names.get(entity) or f"…{entity[-6:]}"


def board_of(kind):
    """Those with a rank in the pool of a kind that has the most of them."""
    ranked = entities.filter(pl.col("rank").is_not_null(), entity_type=kind)
    pools = ranked.group_by("pool").len().sort("len", "pool", descending=[True, False])
    return ranked.join(pools.head(1), on="pool", how="semi").sort("rank")


boards = [board for board in (board_of("agent"), board_of("forecaster")) if len(board) > 0]


def number(column):
    return pl.col(column).cast(pl.Float64)


# The errors of the others' average, the gains on it, and both had the question ended otherwise, in 1e-9.
contested = scores.filter("contested").select(
    *KEY, "question_id", "unit", "joint", "cluster", "week", "settled_at", "attempt",
    r=number("average_brier"), r_if_other=number("average_brier_if_other"), x=number("gain"),
    x_if_other=number("average_brier_if_other") - number("judged_brier_if_other"), f=number("spread"),
)  # fmt: skip


def skill_of(pairs):
    """The skill of every entity with its interval, by the formula of docs/data.md, "The skill, derived again"."""
    x, r, f, g = pl.col("x"), pl.col("r"), pl.col("f"), pl.col("clusters")
    least, most = pl.min_horizontal("x", "x_if_other"), pl.max_horizontal("x", "x_if_other")
    is_one_sided = (pl.col("joint") == "lone") & (most > 0) & (-least > 3 * most)
    pairs = pairs.with_columns(
        f=pl.when(is_one_sided).then(0.0).otherwise(f), a=pl.when(is_one_sided).then(f).otherwise(0.0)
    )
    sums = pairs.group_by(*KEY, "attempt").agg(x.sum(), r.sum(), clusters=pl.col("cluster").n_unique())
    # The spreads of nested thresholds add up, of options that exclude each other twice their squares do.
    units = pairs.group_by(*KEY, "unit", "joint").agg(f.sum(), ff=(f * f).sum())
    ff = pl.when(pl.col("joint") == "ordered").then(f * f).when(pl.col("joint") == "exclusive").then(2 * pl.col("ff"))
    sums = sums.join(units.group_by(KEY).agg(ff=ff.otherwise(pl.col("ff")).sum()), on=KEY)
    for group in ("cluster", "week"):
        parts = pairs.group_by(*KEY, group).agg(x.sum(), pl.col("a").sum())
        squares = parts.group_by(KEY).agg(
            (x * x).sum().alias(f"xx_{group}"), (pl.col("a") * pl.col("a")).sum().alias(f"aa_{group}")
        )
        sums = sums.join(squares, on=KEY)
    skill, attempt = pl.col("skill"), pl.col("attempt")
    alpha = pl.when(attempt.is_null()).then(0.05).otherwise(0.1 / (attempt * (attempt + 1)))
    h = ((1 + 20 / g) * ((g / 20 + 1) / alpha**2).log()).sqrt()
    otherwise = pl.col("ff") + pl.max_horizontal("aa_cluster", "aa_week")
    margin = pl.when(g > 1).then(h * pl.max_horizontal("xx_cluster", "xx_week", otherwise).sqrt() / (r + 2.5e9))
    return (
        sums.with_columns(skill=x / (r + 2.5e9), margin=margin)
        .select(*KEY, "skill", lower=skill - pl.col("margin"), upper=skill + pl.col("margin"))
        .sort(KEY)
    )


def mean_by_cluster(rows, column):
    """The mean and a plain 95 % interval over clusters of questions, which is good for one look."""
    sums = rows.group_by("cluster").agg(pl.col(column).sum(), count=pl.len())
    mean = rows[column].mean()
    g = len(sums)
    error = math.sqrt(g / max(g - 1, 1) * ((sums[column] - mean * sums["count"]) ** 2).sum()) / len(rows)
    return mean, mean - 1.96 * error, mean + 1.96 * error
