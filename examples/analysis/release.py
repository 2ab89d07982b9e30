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


def whole(column):
    """Coverage times a squared error, in whole 1e-9."""
    return (pl.col("coverage") * pl.col(column) * 1e9).round()


contested = scores.filter("contested").select(
    *KEY, "question_id", "cluster", "settled_at", "attempt", "coverage", "brier",
    z=pl.col("standard_reference").cast(pl.Float64), x=pl.col("standard_reference") - whole("brier"),
    x_if_other=pl.col("gain_if_other").cast(pl.Float64), f=pl.col("spread").cast(pl.Float64),
)  # fmt: skip


def skill_of(pairs):
    """The skill of every entity with its interval, by the formula of docs/data.md, "The skill, derived again"."""
    x, z, f, g = pl.col("x"), pl.col("z"), pl.col("f"), pl.col("clusters")
    sums = pairs.group_by(*KEY, "attempt", "cluster").agg(x.sum(), z.sum(), f.sum())
    sums = sums.group_by(*KEY, "attempt").agg(
        x.sum(), z.sum(), clusters=pl.len(), xx=(x * x).sum(), xz=(x * z).sum(), zz=(z * z).sum(), ff=(f * f).sum()
    )
    skill, attempt = pl.col("skill"), pl.col("attempt")
    alpha = pl.when(attempt.is_null()).then(0.05).otherwise(0.1 / (attempt * (attempt + 1)))
    h = ((1 + 20 / g) * ((g / 20 + 1) / alpha**2).log()).sqrt()
    around = g / (g - 1) * (pl.col("xx") - 2 * skill * pl.col("xz") + skill**2 * pl.col("zz"))
    margin = pl.when(g > 1).then(h * pl.max_horizontal(around, "xx", "ff").sqrt() / (z + 2.5e9))
    return (
        sums.with_columns(skill=x / (z + 2.5e9))
        .with_columns(margin=margin)
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
