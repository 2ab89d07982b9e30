"""Divides the pairs of a Parquet file into pools and fits strengths to them on Spark. Writes the pools of the entities, and then
the scales and the strengths after every pass, a line each."""

import importlib.util
import json
import sys

from pyspark.sql import SparkSession

job, pairs, entities, parameters, written, lines = sys.argv[1:]
spec = importlib.util.spec_from_file_location("release", job)
release = importlib.util.module_from_spec(spec)
spec.loader.exec_module(release)

spark = SparkSession.builder.getOrCreate()
spark.read.parquet(pairs).createOrReplaceTempView("fitted")
spark.read.parquet(entities).createOrReplaceTempView("entity")


def rows(sql):
    return [list(row) for row in spark.sql(sql).collect()]


with open(lines, "w") as file:
    rounds = release.fit_pools(spark, written)
    file.write(json.dumps({"rounds": rounds, "pools": rows("SELECT entity, pool FROM entity_pool")}) + "\n")
    for _ in release.fit_strengths(spark, json.loads(parameters), written):
        scales, strengths = rows("SELECT pool, scale FROM scale"), rows("SELECT entity, strength FROM strength")
        file.write(json.dumps({"scales": scales, "strengths": strengths}) + "\n")
