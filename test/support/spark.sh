#!/usr/bin/env bash
# Brings Apache Spark, Delta Lake and Hadoop's s3a for the tests in test/spark.
#
#   spark.sh DIR    completes them under DIR and prints the variables to export; what an earlier run left there serves again
#
# Where there is no Java or no Maven it installs Debian's.
set -euo pipefail

dir=$(mkdir -p "${1:?usage: spark.sh DIR}" && cd "$1" && pwd)
requirements=$(cd "$(dirname "${BASH_SOURCE[0]}")/../spark" && pwd)/requirements.txt
delta=4.0.0
# The Hadoop that this Spark has, and the client of S3 that this Hadoop names.
hadoop=3.4.1
aws=2.24.6

debian() {
  command -v "$1" >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" >/dev/null
}
debian java openjdk-17-jre-headless
debian mvn maven

venv=$dir/python-$(sha256sum <"$requirements" | cut -c -16)
if [[ ! -e $venv/complete ]]; then
  python3 -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --requirement "$requirements" >&2
  touch "$venv/complete"
fi

# Completes a folder with one jar of Maven's.
jar() {
  local to=$dir/$1 name version
  IFS=: read -r _ name version <<<"$2"
  [[ -e $to/$name-$version.jar ]] && return
  mvn --batch-mode --quiet org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
    -Dartifact="$2" -DoutputDirectory="$to" >&2
}
jar "delta-$delta-s3a-$hadoop" "io.delta:delta-spark_2.13:$delta"
jar "delta-$delta-s3a-$hadoop" "io.delta:delta-storage:$delta"
jar "delta-$delta-s3a-$hadoop" "org.apache.hadoop:hadoop-aws:$hadoop"
jar "aws-$aws" "software.amazon.awssdk:bundle:$aws"
home=$("$venv/bin/python" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')
java_home=$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")
echo "export SPARK_HOME=$home SPARK_PYTHON=$venv/bin/python JAVA_HOME=$java_home SPARK_JARS=$dir/delta-$delta-s3a-$hadoop AWS_BUNDLE=$dir/aws-$aws/bundle-$aws.jar"
