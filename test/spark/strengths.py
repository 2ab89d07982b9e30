"""Fits strengths to the pairs of a Parquet file on Spark, and writes the scale and the strengths after every pass, a line each."""

import importlib.util
import json
import sys

from pyspark.sql import SparkSession

job, pairs, parameters, written, passes = sys.argv[1:]
spec = importlib.util.spec_from_file_location("release", job)
release = importlib.util.module_from_spec(spec)
spec.loader.exec_module(release)

spark = SparkSession.builder.getOrCreate()
spark.read.parquet(pairs).createOrReplaceTempView("fitted")
with open(passes, "w") as lines:
    for scale in release.fit_strengths(spark, json.loads(parameters), written):
        rows = spark.sql("SELECT entity, strength FROM strength ORDER BY entity").collect()
        strengths = [[entity, strength] for entity, strength in rows]
        lines.write(json.dumps({"scale": scale, "strengths": strengths}) + "\n")
