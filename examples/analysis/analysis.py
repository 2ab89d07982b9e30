# /// script
# requires-python = ">=3.11"
# dependencies = ["matplotlib==3.11.2", "polars==2.1.0"]
# ///
# %% [markdown]
# # Six questions to a release
# Draws what a release of the forecast verification service says, from its public Parquet files alone. Run it with
# `uv run analysis.py DATA FOLDER`, or cell by cell in an editor that knows `# %%`. DATA is the folder of a store, or
# the https address where a service has its data; the pictures and `numbers.json` go to FOLDER. Copy what you need.

# %%
import json, sys
from pathlib import Path

import numpy as np
import polars as pl
from figures import EDGE, MARK, QUIET, RULE, SECOND, TEXT, draw, in_words, save, signed
from release import KEY, MANIFEST, boards, contested, mean_by_cluster, name, scores, skill_of

FOLDER = Path(sys.argv[2])
FOLDER.mkdir(parents=True, exist_ok=True)
derived = skill_of(contested)
board = next((board for board in boards if len(board) > 1), None)
if board is None:
    sys.exit(f"release {MANIFEST['release']} has no board of two or more, so there is nothing to draw yet")
kind, leader = board["entity_type"][0], board["entity_id"][0]
numbers = {"release": MANIFEST["release"], "skill": derived.to_dicts(), "calibration": {}}

# %% [markdown]
# ## 1. Does 70 % happen seven times in ten?


# %%
def recalibrated(said, came):
    """Isotonic regression (CORP): equal forecasts are pooled first, then neighbours that fall."""
    blocks = []
    for value in np.unique(said):
        blocks.append([came[said == value].sum(), (said == value).sum()])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            events, count = blocks.pop()
            blocks[-1] = [blocks[-1][0] + events, blocks[-1][1] + count]
    return np.repeat([events / count for events, count in blocks], [count for _, count in blocks])


def calibration(entity):
    rows = scores.filter(pl.col("closing_probability").is_not_null(), entity_id=entity).sort("closing_probability")
    said, came = rows["closing_probability"].to_numpy(), (rows["outcome"] == "yes").to_numpy().astype(float)
    curve = recalibrated(said, came)
    random = np.random.default_rng(1)
    lucky = [recalibrated(said, (random.random(len(said)) < said).astype(float)) for _ in range(500)]
    low, high = np.quantile(lucky, [0.025, 0.975], axis=0)
    error, best, base = ((said - came) ** 2).mean(), ((curve - came) ** 2).mean(), came.mean() * (1 - came.mean())
    numbers["calibration"][entity] = {"miscalibration": error - best, "discrimination": base - best}
    return said, curve, low, high


heads = [board["entity_id"][0] for board in boards]
curves = [calibration(entity) for entity in heads]
outside = [((curve < low) | (curve > high)).mean() for _, curve, low, high in curves]
off = [f"{name(e)}, in {share:.0%} of forecasts" for e, share in zip(heads, outside) if share > 0.05]
claim = (
    f"More than luck parts what was said from what came: {'; '.join(off)}"
    if off
    else f"What {' and '.join(map(name, heads))} said differs from what came by no more than luck explains"
)
sure = "Band: where the curve of a calibrated forecaster lies in 95 % of 500 simulations, at each forecast by itself."
figure, axes = draw(claim, sure, (5.2 * len(heads), 5.6), 1, len(heads), squeeze=False, sharey=True)
for axis, entity, (said, curve, low, high) in zip(axes[0], heads, curves):
    axis.fill_between(said, low, high, color=MARK, alpha=0.18, linewidth=0)
    axis.plot([0, 1], [0, 1], color=EDGE, linewidth=1, linestyle=(0, (4, 3)))
    axis.plot(said, curve, color=MARK, linewidth=2)
    axis.plot(said, np.full(len(said), -0.04), "|", color=QUIET, markersize=7, alpha=0.5)
    axis.set(
        title=f"{name(entity)}, {len(said)} closing forecasts",
        xlabel="what was said last, probability of yes",
        aspect=1,
    )
axes[0][0].set_ylabel("how often it happened, share")
save(figure, FOLDER / "calibration.png")

# %% [markdown]
# ## 2. Who leads, since when, and how sure is that?

# %%
top = board["entity_id"].head(6).to_list()
order = pl.col("settled_at").rank("ordinal").over(KEY)
course = contested.filter(entity_type=kind).sort("settled_at", "question_id").with_columns(number=order)
course = course.filter(pl.col("entity_id").is_in(top))
steps = np.unique(np.linspace(2, course["number"].max(), 60).astype(int))
ends = [course.filter(entity_id=entity)["number"].max() for entity in top]
running = pl.concat(
    skill_of(course.filter(pl.col("number") <= n)).with_columns(number=n) for n in {*steps.tolist(), *ends}
)
paths = [running.filter(entity_id=e).filter(pl.col("number") <= n).sort("number") for e, n in zip(top, ends)]
below = paths[0].filter(~(pl.col("lower") > 0).fill_null(False))["number"].max() or 0
is_above = derived.filter(entity_id=leader)["lower"].item() > 0
claim = f"{name(leader)} leads with a skill of {signed(paths[0]['skill'][-1])}" + (
    f", above the average of the others for sure since question {below + 1}" if is_above else ", which luck alone may explain"
)
sure = "Band: 95 % over the whole course, so that it may be looked at after every question. Grey: the others shown."
figure, axes = draw(claim, sure, (10.4, 6.2), 2, 3, sharex=True, sharey=True)
for axis, entity, path in zip(axes.flat, top, paths):
    for other in paths:
        axis.plot(other["number"], other["skill"], color=RULE, linewidth=1)
    axis.fill_between(path["number"], path["lower"], path["upper"], color=MARK, alpha=0.18, linewidth=0)
    axis.plot(path["number"], path["skill"], color=MARK, linewidth=2)
    axis.axhline(0, color=TEXT, linewidth=0.9)
    axis.set(title=f"{board.filter(entity_id=entity)['rank'].item()}  {name(entity)}")
axes[0][0].set_ylim(max(-1.5, running["lower"].min()), min(2, running["upper"].max()))
for axis in axes[-1]:
    axis.set_xlabel("contested questions settled so far")
for axis in axes[:, 0]:
    axis.set_ylabel("skill, 0 = average of the others")
for axis in axes.flat[len(top) :]:
    axis.set_visible(False)
save(figure, FOLDER / "over-time.png")

# %% [markdown]
# ## 3. Agents against people, on the questions that both answered

# %%
sides = scores.group_by("question_id", "cluster", "entity_type").agg(pl.col("brier").mean(), voices=pl.len())
both = sides.filter(entity_type="agent").join(sides.filter(entity_type="forecaster"), on=["question_id", "cluster"])
if both.is_empty():
    print("agents against people: left out, because no question has scores of both")
else:
    both = both.with_columns(gap=pl.col("brier_right") - pl.col("brier"))
    gap, lower, upper = mean_by_cluster(both, "gap")
    better = f"{'agents' if gap > 0 else 'people'} erred less" if lower * upper > 0 else "neither erred less for sure"
    claim = f"On the {len(both)} questions that both answered, {better}"
    sure = f"People's mean error less the agents': {in_words(gap, lower, upper)}."
    figure, axis = draw(claim, sure, (6.8, 7.2))
    won = both["gap"].to_numpy() > 0
    for mask, colour, label in ((won, MARK, "agents were closer"), (~won, SECOND, "people were closer")):
        points = both.filter(mask)
        axis.scatter(
            points["brier_right"],
            points["brier"],
            s=26,
            color=colour,
            alpha=0.6,
            linewidth=0,
            label=f"{label}: {len(points)}",
        )
    most = max(both["brier"].max(), both["brier_right"].max()) * 1.05
    axis.plot([0, most], [0, most], color=EDGE, linewidth=1, linestyle=(0, (4, 3)))
    axis.set(xlabel="people's mean squared error on a question", ylabel="agents' mean squared error on it", aspect=1)
    axis.legend(frameon=False, loc="upper left")
    save(figure, FOLDER / "agents-and-people.png")

# %% [markdown]
# ## 4. Which questions were hard?

# %%
quantiles = {"low": pl.col("brier").quantile(0.1), "high": pl.col("brier").quantile(0.9)}
hard = scores.group_by("question_id", "outcome").agg(pl.col("brier").mean(), voices=pl.len(), **quantiles)
hard = hard.filter(pl.col("voices") >= 5).sort("brier", "question_id", descending=[True, False])
tenth = max(1, len(hard) // 10)
share = hard["brier"].head(tenth).sum() / hard["brier"].sum()
worse = (hard["brier"] > 0.25).sum()
claim = f"The hardest {tenth} of {len(hard)} questions make {share:.0%} of all error"
sure = f"Bars: 10th to 90th percentile of those who answered, 5 or more. On {worse} questions always saying 50 % was better."
figure, axis = draw(claim, sure, (10.4, 4.8))
for outcome, colour in (("yes", MARK), ("no", SECOND)):
    rows = hard.with_row_index("place", offset=1).filter(outcome=outcome)
    axis.vlines(rows["place"], rows["low"], rows["high"], color=colour, alpha=0.3, linewidth=2)
    axis.plot(rows["place"], rows["brier"], "o", color=colour, markersize=4, label=f"ended with {outcome}: {len(rows)}")
axis.axhline(0.25, color=TEXT, linewidth=0.9)
axis.annotate("always 50 %", (len(hard), 0.25), (0, 4), textcoords="offset points", ha="right", color=QUIET)
axis.set(
    xlabel="questions, the hardest first",
    ylabel="squared error of a forecast",
    ylim=(-0.02, 1.02),
    xlim=(0, len(hard) + 1),
)
axis.legend(frameon=False, loc="upper right")
save(figure, FOLDER / "difficulty.png")

# %% [markdown]
# ## 5. Head to head: the first two of the board

# %%
first, second = board["entity_id"][:2]
duel = scores.filter(entity_id=first).join(scores.filter(entity_id=second), on="question_id")
duel = duel.with_columns(gap=pl.col("brier_right") - pl.col("brier")).sort(
    "gap", "question_id", descending=[True, False]
)
if duel.is_empty():
    print("head to head: left out, because the first two of the board share no question")
else:
    gap, lower, upper = mean_by_cluster(duel, "gap")
    ahead, behind = (duel["gap"] > 0).sum(), (duel["gap"] < 0).sum()
    verdict = f"{name(first if gap > 0 else second)} erred less" if lower * upper > 0 else "neither erred less for sure"
    claim = f"{name(first)} was closer on {ahead} questions and {name(second)} on {behind}: {verdict}"
    sure = f"Mean of the bars: {in_words(gap, lower, upper)}. Each erred over its own time."
    figure, axis = draw(claim, sure, (10.4, 4.6))
    axis.bar(
        range(1, len(duel) + 1), duel["gap"], width=0.85, color=[MARK if gap > 0 else SECOND for gap in duel["gap"]]
    )
    axis.axhline(0, color=TEXT, linewidth=0.9)
    axis.set(xlabel="questions that both answered", ylabel="difference of the squared errors", xlim=(0, len(duel) + 1))
    axis.text(0.99, 0.95, f"↑ {name(first)} was closer", transform=axis.transAxes, ha="right", color=MARK)
    axis.text(0.01, 0.05, f"↓ {name(second)} was closer", transform=axis.transAxes, color=SECOND)
    save(figure, FOLDER / "head-to-head.png")

# %% [markdown]
# ## 6. What if ten outcomes had been the other one?
# The ten on which the leader had most to lose.

# %%
loss = pl.col("x") - pl.col("x_if_other")
turned = contested.filter(entity_id=leader).sort(loss, "question_id", descending=[True, False])["question_id"].head(10)
is_turned = pl.col("question_id").is_in(turned.implode())
with_other_ends = contested.with_columns(
    pl.when(is_turned).then(other).otherwise(column).alias(column)
    for column, other in [("x", "x_if_other"), ("x_if_other", "x"), ("r", "r_if_other"), ("r_if_other", "r")]
)
rows = board.select(*KEY).head(12).join(derived, on=KEY, maintain_order="left")
rows = rows.join(skill_of(with_other_ends), on=KEY, suffix="_then", maintain_order="left")
then = rows.filter(entity_id=leader).row(0, named=True)
place = (rows["skill_then"] > then["skill_then"]).sum() + 1
fall = f"{signed(then['skill'])} to {signed(then['skill_then'])}, place {place} of these {len(rows)}"
claim = f"With ten outcomes turned, {name(leader)} falls from {fall}"
holds = (
    "still lies above 0"
    if then["lower_then"] > 0
    else "no longer lies above 0"
    if then["lower"] > 0
    else "holds 0 before and after"
)
sure = f"The leader's 95 % interval {holds}. Hollow: as published. The ten are the worst for the leader, and not likely ones."
figure, axis = draw(claim, sure, (10.4, 0.42 * len(rows) + 1.8))
for index, row in enumerate(rows.iter_rows(named=True)):
    axis.plot([row["lower"], row["upper"]], [index - 0.14] * 2, color=EDGE, linewidth=1.5)
    axis.plot([row["lower_then"], row["upper_then"]], [index + 0.14] * 2, color=MARK, linewidth=2.5)
    axis.plot(row["skill"], index - 0.14, "o", color=EDGE, markerfacecolor="white", markersize=6)
    axis.plot(row["skill_then"], index + 0.14, "o", color=MARK, markersize=6)
axis.axvline(0, color=TEXT, linewidth=0.9)
axis.set_yticks(
    range(len(rows)), [f"{place}  {name(entity)}" for place, entity in zip(board["rank"], rows["entity_id"])]
)
axis.set(xlabel="skill, 0 = average of the others", ylim=(len(rows) - 0.5, -0.5))
save(figure, FOLDER / "ten-turned.png")

(FOLDER / "numbers.json").write_text(json.dumps(numbers, indent=1))
