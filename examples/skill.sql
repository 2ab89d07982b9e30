-- Derives the skill of every entity, its intervals and the certification of every agent from the published scores of the
-- current release, and counts in how many places the release says the same. It runs in the folder of the data: see
-- docs/data.md, "The skill, derived again".
SET VARIABLE release = (
  SELECT max(release) FROM read_json('releases/*/manifest.json', columns = {release: 'INTEGER'})
);
SET VARIABLE entities = format('releases/{:08d}/entities/*.parquet', getvariable('release'));
SET VARIABLE scores = format('releases/{:08d}/scores/*.parquet', getvariable('release'));

-- Contested pairs, in whole 1e-9.
WITH pair AS (
  SELECT entity_type, entity_id, cluster, standard_reference::HUGEINT AS z,
    round_even(coverage * brier * 1e9, 0)::HUGEINT AS b,
    round_even(coverage * crowd_brier * 1e9, 0)::HUGEINT AS k
  FROM read_parquet(getvariable('scores'))
  WHERE contested
),
-- Gain on the reference by cluster: against the standard field, and against the crowd.
compared AS (
  SELECT entity_type, entity_id, 'field' AS against, cluster, count(*) AS pairs, sum(z - b) AS x, sum(z) AS z
  FROM pair GROUP BY ALL
  UNION ALL
  SELECT entity_type, entity_id, 'crowd', cluster, count(*), sum(k - b), sum(k)
  FROM pair GROUP BY ALL
),
summed AS (
  SELECT entity_type, entity_id, against, sum(pairs) AS questions, count(*) AS g,
    sum(z)::DOUBLE + 2.5e9 AS denominator, sum(x)::DOUBLE / denominator AS skill,
    sum(x * x)::DOUBLE AS xx, sum(x * z)::DOUBLE AS xz, sum(z * z)::DOUBLE AS zz
  FROM compared GROUP BY ALL
),
-- The width of the interval: its level depends on the number of the agent among those of its owner.
bounded AS (
  SELECT summed.*,
    CASE WHEN attempt IS NULL THEN 0.05::DOUBLE ELSE 0.1::DOUBLE / (attempt * (attempt + 1)) END AS alpha,
    sqrt((1 + 20 / g) * round_even(ln((g / 20 + 1) / (alpha * alpha)) * 1e9, 0) / 1e9) AS h,
    sqrt(g / nullif(g - 1, 0) * greatest(0, xx - 2 * skill * xz + skill * skill * zz)) / denominator AS error
  FROM summed
  JOIN (SELECT entity_type, entity_id, attempt FROM read_parquet(getvariable('entities'))) USING (entity_type, entity_id)
),
-- Rounded to six decimals, as published.
derived AS (
  SELECT entity_type, entity_id, any_value(questions) AS questions, any_value(g) AS clusters,
    max(round_even(skill * 1e6, 0) / 1e6) FILTER (against = 'field') AS skill,
    max(round_even((skill - h * error) * 1e6, 0) / 1e6) FILTER (against = 'field') AS lower,
    max(round_even((skill - h * error) * 1e6, 0) / 1e6) FILTER (against = 'crowd') AS crowd_lower
  FROM bounded GROUP BY ALL
),
decided AS (
  SELECT derived.*, CASE
    WHEN questions < 25 THEN 'none'
    WHEN voice_rule = 'everyone' OR questions < 50 OR clusters < 25 OR lower <= 0 THEN 'provisional'
    WHEN questions < 100 OR crowd_lower <= 0 THEN 'certified'
    ELSE 'expert' END AS certification
  FROM derived, read_json('releases/*/manifest.json', columns = {release: 'INTEGER', voice_rule: 'VARCHAR'})
  WHERE release = getvariable('release')
)
SELECT count(*) AS entities,
  count(*) FILTER (decided.skill = published.skill) AS same_skill,
  count(*) FILTER (lower IS NOT DISTINCT FROM published.skill_lower) AS same_lower,
  count(*) FILTER (crowd_lower IS NOT DISTINCT FROM published.crowd_skill_lower) AS same_crowd_lower,
  count(*) FILTER (entity_type = 'agent') AS agents,
  count(*) FILTER (entity_type = 'agent' AND certification = published.award) AS same_certification
FROM decided JOIN read_parquet(getvariable('entities')) published USING (entity_type, entity_id);
