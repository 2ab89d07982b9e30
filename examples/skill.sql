-- Derives the skills of every entity, their intervals, its evidence and its title from the published scores of the current
-- release, and counts in how many places the release says the same. It runs in the folder of the data: see docs/data.md,
-- "The skill, derived again".
SET VARIABLE release = (
  SELECT max(release) FROM read_json('releases/*/manifest.json', columns = {release: 'INTEGER'})
);
SET VARIABLE entities = format('releases/{:08d}/entities/*.parquet', getvariable('release'));
SET VARIABLE scores = format('releases/{:08d}/scores/*.parquet', getvariable('release'));

-- The errors on contested questions in whole 1e-9, once for each yardstick.
WITH error AS (
  SELECT entity_type, entity_id, unit, joint, cluster, week, priced, judged_coverage, judged_brier AS b, judged_brier_if_other AS b_if_other,
    unnest(['average', 'median', 'market']) AS against, unnest([average_brier, median_brier, market_brier]) AS r,
    unnest([average_brier_if_other, median_brier_if_other, market_brier_if_other]) AS r_if_other
  FROM read_parquet(getvariable('scores'))
  WHERE contested
),
-- X, X′, f, and whether many small gains stand against one great loss.
gain AS (
  SELECT *, (r - b)::HUGEINT AS x, (r_if_other - b_if_other)::HUGEINT AS x_if_other,
    round_even(sqrt(greatest(0, -x::DOUBLE * x_if_other::DOUBLE)), 0)::HUGEINT AS f,
    joint = 'lone' AND greatest(x, x_if_other) > 0 AND -least(x, x_if_other) > 3 * greatest(x, x_if_other) AS one_sided
  FROM error
),
summed AS (
  SELECT entity_type, entity_id, against, count(DISTINCT unit) AS questions, count(DISTINCT cluster) AS g,
    count(DISTINCT unit) FILTER (priced) AS priced,
    sum(r)::DOUBLE / 2.5e9 AS evidence, sum(r)::DOUBLE + 2.5e9 AS denominator, sum(x)::DOUBLE / denominator AS skill,
    sum(round_even(judged_coverage * 1e12, 0)) / 1e12 / count(*) AS coverage
  FROM gain GROUP BY ALL
),
-- The spreads of the units: those of nested thresholds add up, of options that exclude each other twice their squares do.
spread AS (
  SELECT entity_type, entity_id, against, sum(ff) AS ff
  FROM (SELECT entity_type, entity_id, against, unit,
      CASE joint WHEN 'ordered' THEN sum(f) * sum(f) WHEN 'exclusive' THEN 2 * sum(f * f) ELSE sum(f * f) END AS ff
    FROM gain WHERE NOT one_sided GROUP BY entity_type, entity_id, against, unit, joint)
  GROUP BY ALL
),
-- The gains and the one-sided spreads by cluster and by week.
grouped AS (
  SELECT entity_type, entity_id, against, kind, sum(x) AS x, coalesce(sum(f) FILTER (one_sided), 0) AS a
  FROM (SELECT *, unnest(['cluster', 'week']) AS kind, unnest([cluster, week]) AS name FROM gain)
  GROUP BY entity_type, entity_id, against, kind, name
),
scattered AS (
  SELECT entity_type, entity_id, against, max(xx) AS xx, max(aa) AS aa
  FROM (SELECT entity_type, entity_id, against, kind, sum(x * x) AS xx, sum(a * a) AS aa FROM grouped GROUP BY ALL)
  GROUP BY ALL
),
-- The width of the interval: its level depends on the number of the agent among those of its owner.
bounded AS (
  SELECT *,
    CASE WHEN attempt IS NULL THEN 0.05::DOUBLE ELSE 0.1::DOUBLE / (attempt * (attempt + 1)) END AS alpha,
    sqrt((1 + 20 / g) * round_even(ln((g / 20 + 1) / (alpha * alpha)) * 1e9, 0) / 1e9) AS h,
    CASE WHEN g > 1 THEN h * sqrt(greatest(xx, coalesce(ff, 0) + aa)::DOUBLE) / denominator END AS margin
  FROM summed JOIN scattered USING (entity_type, entity_id, against) LEFT JOIN spread USING (entity_type, entity_id, against)
  JOIN (SELECT entity_type, entity_id, attempt FROM read_parquet(getvariable('entities'))) USING (entity_type, entity_id)
  WHERE against <> 'market' OR priced > 0
),
-- Rounded to six decimals, as published.
rounded AS (
  SELECT entity_type, entity_id, against, questions, priced, round_even(evidence * 1e6, 0) / 1e6 AS evidence,
    round_even(coverage * 1e6, 0) / 1e6 AS coverage, round_even(skill * 1e6, 0) / 1e6 AS skill,
    round_even((skill - margin) * 1e6, 0) / 1e6 AS lower, round_even((skill + margin) * 1e6, 0) / 1e6 AS upper
  FROM bounded
),
-- By these a record is certified: all of its skills must be shown.
shown AS (
  SELECT entity_type, entity_id, bool_and(coalesce(skill >= 0.02 AND lower > 0, false)) AS all_shown FROM rounded GROUP BY ALL
),
decided AS (
  SELECT average.*, median.skill AS median, median.lower AS median_low, median.upper AS median_high,
    market.skill AS market, market.lower AS market_low, market.upper AS market_high,
    CASE
      WHEN average.questions < 25 THEN 'none'
      WHEN average.questions < 50 OR average.evidence < 1 OR average.coverage < 0.2 OR NOT all_shown
        OR (voice_rule = 'everyone' AND average.priced < 50) THEN 'measured'
      ELSE 'certified' END AS title
  FROM (FROM rounded WHERE against = 'average') average JOIN shown USING (entity_type, entity_id)
    JOIN (FROM rounded WHERE against = 'median') median USING (entity_type, entity_id)
    LEFT JOIN (FROM rounded WHERE against = 'market') market USING (entity_type, entity_id),
    read_json('releases/*/manifest.json', columns = {release: 'INTEGER', voice_rule: 'VARCHAR'})
  WHERE release = getvariable('release')
)
SELECT count(*) AS entities,
  count(*) FILTER (decided.skill = published.skill AND median = median_skill AND market IS NOT DISTINCT FROM market_skill)
    AS same_skills,
  count(*) FILTER (lower IS NOT DISTINCT FROM skill_lower AND upper IS NOT DISTINCT FROM skill_upper) AS same_interval,
  count(*) FILTER (median_low IS NOT DISTINCT FROM median_skill_lower AND median_high IS NOT DISTINCT FROM median_skill_upper)
    AS same_median_interval,
  count(*) FILTER (market_low IS NOT DISTINCT FROM market_skill_lower AND market_high IS NOT DISTINCT FROM market_skill_upper)
    AS same_market_interval,
  count(*) FILTER (decided.evidence = published.evidence AND decided.coverage = published.coverage) AS same_evidence,
  count(*) FILTER (title = published.award) AS same_title
FROM decided JOIN read_parquet(getvariable('entities')) published USING (entity_type, entity_id);
