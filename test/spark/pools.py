"""Divides the pairs of a Parquet file into pools on Spark. Writes the number of rounds and the label of each entity, as JSON."""

import importlib.util
import json
import sys

from pyspark.sql import SparkSession

job, pairs, written, found = sys.argv[1:]
spec = importlib.util.spec_from_file_location("release", job)
release = importlib.util.module_from_spec(spec)
spec.loader.exec_module(release)

spark = SparkSession.builder.getOrCreate()
spark.read.parquet(pairs).createOrReplaceTempView("met")
rounds = release.find_pools(spark, written)
labels = [list(row) for row in spark.sql("SELECT entity, label FROM label").collect()]
with open(found, "w") as file:
    json.dump({"rounds": rounds, "labels": labels}, file)
