-- Derives the skill of every entity, its intervals, its evidence and the certification of every agent from the published
-- scores of the current release, and counts in how many places the release says the same. It runs in the folder of the
-- data: see docs/data.md, "The skill, derived again".
SET VARIABLE release = (
  SELECT max(release) FROM read_json('releases/*/manifest.json', columns = {release: 'INTEGER'})
);
SET VARIABLE entities = format('releases/{:08d}/entities/*.parquet', getvariable('release'));
SET VARIABLE scores = format('releases/{:08d}/scores/*.parquet', getvariable('release'));

-- Contested pairs, in whole 1e-9. With the other outcome, the others' errors less the crowd's are the same as with this one.
WITH pair AS (
  SELECT entity_type, entity_id, cluster, standard_reference::HUGEINT AS z, gain_if_other::HUGEINT AS z_gain,
    round_even(coverage * brier * 1e9, 0)::HUGEINT AS b,
    round_even(coverage * reference_brier * 1e9, 0)::HUGEINT AS y,
    round_even(coverage * crowd_brier * 1e9, 0)::HUGEINT AS k,
    crowd_gain_if_other::HUGEINT AS k_gain, k_gain + y - k AS y_gain
  FROM read_parquet(getvariable('scores'))
  WHERE contested
),
-- The error of each reference, and the gain on it with the other outcome.
referred AS (
  SELECT entity_type, entity_id, cluster, 'standard' AS against, b, z, z_gain AS other_gain FROM pair
  UNION ALL
  SELECT entity_type, entity_id, cluster, 'strict', b, least(z, y), least(z_gain, y_gain) FROM pair
  UNION ALL
  SELECT entity_type, entity_id, cluster, 'crowd', b, k, k_gain FROM pair
),
-- Gain, reference and spread by cluster.
clustered AS (
  SELECT entity_type, entity_id, against, cluster, count(*) AS pairs, sum(z - b) AS x, sum(z) AS z,
    sum(round_even(sqrt(greatest(0, -(z - b)::DOUBLE * other_gain::DOUBLE)), 0)::HUGEINT) AS f
  FROM referred GROUP BY ALL
),
summed AS (
  SELECT entity_type, entity_id, against, sum(pairs) AS questions, count(*) AS g, sum(z)::DOUBLE / 2.5e9 AS evidence,
    sum(z)::DOUBLE + 2.5e9 AS denominator, sum(x)::DOUBLE / denominator AS skill,
    sum(x * x)::DOUBLE AS xx, sum(x * z)::DOUBLE AS xz, sum(z * z)::DOUBLE AS zz, sum(f * f)::DOUBLE AS ff
  FROM clustered GROUP BY ALL
),
-- The width of the interval: its level depends on the number of the agent among those of its owner.
bounded AS (
  SELECT summed.*,
    CASE WHEN attempt IS NULL THEN 0.05::DOUBLE ELSE 0.1::DOUBLE / (attempt * (attempt + 1)) END AS alpha,
    sqrt((1 + 20 / g) * round_even(ln((g / 20 + 1) / (alpha * alpha)) * 1e9, 0) / 1e9) AS h,
    greatest(g / nullif(g - 1, 0) * (xx - 2 * skill * xz + skill * skill * zz), xx, ff) AS variance,
    CASE WHEN g > 1 THEN h * sqrt(variance) / denominator END AS margin
  FROM summed
  JOIN (SELECT entity_type, entity_id, attempt FROM read_parquet(getvariable('entities'))) USING (entity_type, entity_id)
),
-- Rounded to six decimals, as published.
rounded AS (
  SELECT entity_type, entity_id, against, questions, g, round_even(skill * 1e6, 0) / 1e6 AS skill,
    round_even(evidence * 1e6, 0) / 1e6 AS evidence,
    round_even((skill - margin) * 1e6, 0) / 1e6 AS lower, round_even((skill + margin) * 1e6, 0) / 1e6 AS upper
  FROM bounded
),
derived AS (
  SELECT standard.*, strict.lower AS strict_lower, strict.upper AS strict_upper, crowd.skill AS crowd_skill,
    crowd.evidence AS crowd_evidence, crowd.lower AS crowd_lower, crowd.upper AS crowd_upper
  FROM (FROM rounded WHERE against = 'standard') standard
  JOIN (FROM rounded WHERE against = 'strict') strict USING (entity_type, entity_id)
  JOIN (FROM rounded WHERE against = 'crowd') crowd USING (entity_type, entity_id)
),
decided AS (
  SELECT derived.*,
    coalesce(voice_rule = 'recorded' AND questions >= 50 AND g >= 25 AND evidence >= 1 AND lower > 0 AND strict_lower > 0, false)
      AS certified,
    CASE
      WHEN questions < 25 THEN 'none'
      WHEN NOT certified THEN 'provisional'
      WHEN questions < 100 OR crowd_evidence < 1 OR crowd_lower <= 0 THEN 'certified'
      ELSE 'expert' END AS certification
  FROM derived, read_json('releases/*/manifest.json', columns = {release: 'INTEGER', voice_rule: 'VARCHAR'})
  WHERE release = getvariable('release')
)
SELECT count(*) AS entities,
  count(*) FILTER (decided.skill = published.skill AND decided.crowd_skill = published.crowd_skill) AS same_skills,
  count(*) FILTER (lower IS NOT DISTINCT FROM skill_lower AND upper IS NOT DISTINCT FROM skill_upper) AS same_interval,
  count(*) FILTER (strict_lower IS NOT DISTINCT FROM strict_skill_lower
    AND strict_upper IS NOT DISTINCT FROM strict_skill_upper) AS same_strict_interval,
  count(*) FILTER (crowd_lower IS NOT DISTINCT FROM crowd_skill_lower
    AND crowd_upper IS NOT DISTINCT FROM crowd_skill_upper) AS same_crowd_interval,
  count(*) FILTER (decided.evidence = published.evidence AND decided.crowd_evidence = published.crowd_evidence)
    AS same_evidence,
  count(*) FILTER (entity_type = 'agent') AS agents,
  count(*) FILTER (entity_type = 'agent' AND certification = published.award) AS same_certification
FROM decided JOIN read_parquet(getvariable('entities')) published USING (entity_type, entity_id);
