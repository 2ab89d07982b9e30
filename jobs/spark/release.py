"""Makes one release of forecasts on Apache Spark, with the same scorer and the same bytes as `fvs release`.

Spark reads the tables, joins rows, sorts them and adds whole numbers. `fvs` computes everything else that decides a
number: it runs as a filter between two sorts (docs/spark.md).
"""

import argparse
import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
import uuid

from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

# Spark compares texts by their bytes, uses UTC for dates, and fails on a sum that does not fit.
SESSION = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    # The file of a task is renamed once, and not twice. Whichever attempt wrote it, it has the same name and rows.
    "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
}

# The filters read these settings from their environment, and all that AWS's own clients do (AWS_…). They reach the workers
# there too, because anyone sees arguments.
SETTINGS = (
    "VERIFICATION_SIGNING_SECRET",
    "VERIFICATION_SIGNING_SECRET_PREVIOUS",
    "SANDBOX_VERIFICATION_SIGNING_SECRET",
    "SANDBOX_VERIFICATION_SIGNING_SECRET_PREVIOUS",
    "S3_ENDPOINT",
    "STORE_TIMEOUT_MS",
    "DUCKDB_THREADS",
    "DUCKDB_MEMORY_LIMIT",
    "LOG_LEVEL",
)
# The variable by which Node trusts authorities beside those that it knows, and the file by which Java does.
AUTHORITIES = "NODE_EXTRA_CA_CERTS"
TRUST_STORE = "fvs-authorities.keystore"
TRUST_STORE_PASSWORD = "changeit"

# The columns that the job reads of each table. A table without a commit has these and no rows.
TABLES = {
    "questions": "question_id STRING, category STRING, event_id STRING, opened_at TIMESTAMP, closes_at TIMESTAMP",
    "events": "event_id STRING, kind STRING",
    "resolutions": "question_id STRING, outcome STRING, resolved_at TIMESTAMP, known_at TIMESTAMP",
    "prices": "question_id STRING, priced_at TIMESTAMP, probability DOUBLE, recorded_at TIMESTAMP",
    "agents": """agent_id STRING, name STRING, model_type STRING, organization_name STRING, owner_id STRING,
        registered_at TIMESTAMP, retired_at TIMESTAMP""",
    "forecasters": "user_id STRING",
    "forecasts": """forecast_id STRING, entity_type STRING, entity_id STRING, question_id STRING, probability DOUBLE,
        forecast_at TIMESTAMP, recorded_at TIMESTAMP, source STRING""",
}
SUBJECTS = {
    "questions": "question_id",
    "events": "event_id",
    "resolutions": "question_id",
    "agents": "agent_id",
    "forecasters": "user_id",
}
# Prose does not decide which row of a subject is the current one, and the date of a data file follows from `recorded_at`.
UNORDERED = ("resolution_criteria", "background", "recorded_date")

# The numbers of a pair, as `fvs stage sweep` prints them.
METRICS = (
    "coverage brier log_score baseline_score peer_score judged_coverage judged_brier average_brier median_brier market_brier "
    "judged_brier_if_other average_brier_if_other median_brier_if_other market_brier_if_other voices forecasts "
    "closing_probability lean conviction moved toward first_at last_at judged priced witnessed"
).split()
# What pairs are added up by, as numbers, and how those follow that the view `question` has under other names.
FACTS = "outcome settled settled_ms unit cluster week category joint unit_questions".split()
NUMBERS = {
    "outcome": "int(outcome = 'yes')",
    "unit": "unit_number",
    "cluster": "cluster_number",
    "week": "week_number",
    "category": "category_number",
}

EVENT = (
    "question opened_ms closes_ms ends_ms divisor outcome at_ms forecast_id recorded_ms entity own_voice ppm witnessed"
).split()
CIRCUMSTANCE = "entity voice pool pool_size owner_agents attempt offered answered retired".split()
UNIT = "unit entity entity_type entity_id facts pairs scores listing".split()
SCORE = (
    "scores_part entity entity_type entity_id question question_id outcome resolved_ms settled settled_ms cluster week "
    "joint unit_questions place"
).split()
LAST = (
    "number answered question question_id outcome course crowds surprising entity entity_type entity_id ppm coverage voice listed"
).split()
REFERENCE = "place opened_ms agent_pool forecaster_pool reference_scores".split()
TALLY = "entity_type retired pool skill lower upper count".split()
CATEGORY = "category entity_type again entity_id pool_size pool value content".split()
PAGE = "page entity_type entity_id pool_size pool value content".split()
SCORED = "entity INT, pairs BIGINT, pool STRING, skill BIGINT, lower BIGINT, upper BIGINT, scores STRING, listing STRING"
PUBLISHED = (
    "what STRING, entity_type STRING, entity_id STRING, pool_size INT, pool STRING, value BIGINT, owner STRING, "
    "category INT, content STRING"
)


def main():
    options = parsed()
    plan = json.loads(run_fvs(options, "release", "plan", *plan_options(options)))
    if not plan["made"]:
        return print(json.dumps(plan))
    with tempfile.TemporaryDirectory() as folder:
        job = Job(options, plan, folder)
        try:
            print(job.run().strip())
        except (Py4JJavaError, PySparkException, subprocess.CalledProcessError) as error:
            # Another run may have published the release; its filters then take nothing more.
            if not job.is_published():
                raise
            job.log("lost the release to another run", reason=str(error)[:500])
            print(json.dumps({"made": False, "release": plan["release"], "reason": "lost"}))


def parsed():
    parser = argparse.ArgumentParser(description="Makes a release on Apache Spark.")
    parser.add_argument("--store", default=os.environ.get("STORE_URL"), help="as of fvs (default: STORE_URL)")
    parser.add_argument("--environment", default="production", help="production or sandbox")
    parser.add_argument("--staging", required=True, help="a folder for what is done, which every worker can read and write")
    parser.add_argument("--as-of", help="score as of this instant (default: now)")
    parser.add_argument("--if-changed", action="store_true", help="make none where nothing has changed")
    parser.add_argument(
        "--fvs",
        default="fvs/node_modules/.bin/node fvs/dist/fvs.js",
        help="how a worker runs fvs (default: from the archive fvs.tar.gz#fvs)",
    )
    parser.add_argument("--driver-fvs", help="how the driver runs fvs (default: as a worker)")
    options = parser.parse_args()
    if options.store is None:
        parser.error("without STORE_URL --store must be given")
    return options


def submitted():
    """Returns what spark-submit was told. Without Java's part of Spark, SparkConf would know nothing of it."""
    SparkContext._ensure_initialized()
    return SparkConf()


def session_settings(environment, told, folder):
    """Returns the settings of the session. Hadoop's s3a finds the keys or the role as fvs does, and the workers get the
    environment of the filters, but for what Kubernetes gives its pods from a secret. What spark-submit was told counts
    before both. `folder` has the file TRUST_STORE."""
    bucket = {"aws.credentials.provider": "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider"}
    if "AWS_REGION" in environment:
        bucket["endpoint.region"] = environment["AWS_REGION"]
    if "S3_ENDPOINT" in environment:
        bucket |= {"endpoint": environment["S3_ENDPOINT"], "path.style.access": "true"}
    handed_on = {
        name: value
        for name, value in environment.items()
        if (name in SETTINGS or name.startswith("AWS_")) and f"spark.kubernetes.executor.secretKeyRef.{name}" not in told
    }
    added = {}
    if AUTHORITIES in environment:
        # Spark brings the files into the folder in which a worker runs.
        handed_on[AUTHORITIES] = os.path.basename(environment[AUTHORITIES])
        files = [environment[AUTHORITIES], f"{folder}/{TRUST_STORE}"]
        options = [f"-Djavax.net.ssl.trustStore={TRUST_STORE}", f"-Djavax.net.ssl.trustStorePassword={TRUST_STORE_PASSWORD}"]
        for name, separator, words in (("spark.files", ",", files), ("spark.executor.extraJavaOptions", " ", options)):
            added[name] = separator.join([*([told[name]] if name in told else []), *words])
    found = {f"spark.hadoop.fs.s3a.{name}": value for name, value in bucket.items()}
    found |= {f"spark.executorEnv.{name}": value for name, value in handed_on.items()}
    return {**SESSION, **{name: value for name, value in found.items() if name not in told}, **added}


def trust(authorities, path):
    """Writes a file by which Java trusts the authorities beside those that it knows, and makes the Java of the driver use it."""
    gateway, jvm = SparkContext._gateway, SparkContext._jvm
    password = gateway.new_array(jvm.char, len(TRUST_STORE_PASSWORD))
    for at, character in enumerate(TRUST_STORE_PASSWORD):
        password[at] = character
    store = jvm.java.security.KeyStore.getInstance("PKCS12")
    store.load(jvm.java.io.FileInputStream(f"{jvm.System.getProperty('java.home')}/lib/security/cacerts"), password)
    factory = jvm.java.security.cert.CertificateFactory.getInstance("X.509")
    for number, certificate in enumerate(factory.generateCertificates(jvm.java.io.FileInputStream(authorities))):
        store.setCertificateEntry(f"{AUTHORITIES} {number}", certificate)
    store.store(jvm.java.io.FileOutputStream(path), password)
    jvm.System.setProperty("javax.net.ssl.trustStore", path)
    jvm.System.setProperty("javax.net.ssl.trustStorePassword", TRUST_STORE_PASSWORD)
    context = jvm.javax.net.ssl.SSLContext.getInstance("TLS")
    context.init(None, None, None)
    jvm.javax.net.ssl.SSLContext.setDefault(context)


def plan_options(options):
    as_of = [] if options.as_of is None else ["--as-of", options.as_of]
    return [*as_of, *(["--if-changed"] if options.if_changed else [])]


def run_fvs(options, *words, lines=""):
    """Runs a command on the driver, with lines as its input, and returns what it prints."""
    command = [*shlex.split(options.driver_fvs or options.fvs), *words]
    command += ["--store", options.store, "--environment", options.environment]
    return subprocess.run(command, input=lines, stdout=subprocess.PIPE, check=True, text=True).stdout


class Job:
    def __init__(self, options, plan, folder):
        self.options = options
        self.plan = plan
        self.id = uuid.uuid4().hex[:12]
        told = dict(submitted().getAll())
        if AUTHORITIES in os.environ:
            trust(os.environ[AUTHORITIES], f"{folder}/{TRUST_STORE}")
        session = SparkSession.builder.appName(f"release {plan['release']}")
        self.spark = session.config(map=session_settings(os.environ, told, folder)).getOrCreate()
        decided = {name: plan[name] for name in ("started_at", "as_of", "engines", "tables", "parameters")}
        digest = hashlib.sha256(json.dumps(decided, sort_keys=True).encode()).hexdigest()[:12]
        self.staging = f"{options.staging.rstrip('/')}/{options.environment}-{plan['release']:08}-{digest}"

    def run(self):
        self.forget_earlier()
        self.step("tables")
        for name, columns in TABLES.items():
            self.open_table(name, columns)
        self.number()
        for name in ("entity", "question"):
            if self.spark.table(name).isEmpty():
                raise SystemExit(f"nothing to score, since there is no {name}: `fvs release` finishes what has been planned")
        rule = self.sweep()
        self.circumstances()
        self.score()
        tally = self.tally(rule)
        self.publish_files(tally)
        return self.commit(tally)

    # The session

    def step(self, name):
        """Names the next step in Spark's own pages and logs."""
        self.spark.sparkContext.setJobDescription(name)

    def view(self, name, sql, keep=False):
        frame = self.spark.sql(sql)
        (frame.persist() if keep else frame).createOrReplaceTempView(name)
        return frame

    def staged(self, name, sql):
        """Makes the view `name` of stored rows, which this job writes unless another job of the same plan has written all
        of them. Each job writes in its own folders, so that two jobs at once do not collide."""
        self.step(name)
        started = time.monotonic()
        done = self.glob(f"{name}-*/_SUCCESS")
        path = done[0].removesuffix("/_SUCCESS") if done else f"{self.staging}/{name}-{self.id}"
        if not done:
            self.spark.sql(sql).write.parquet(path)
        self.spark.read.parquet(path).createOrReplaceTempView(name)
        self.log("staged", step=name, again=bool(done), seconds=round(time.monotonic() - started, 1))

    def through(self, command, columns, rows, printed):
        """Returns SQL that runs a stage over rows in order."""
        if command.split()[0] not in ("sweep", "score", "parts"):
            command += f" --release {self.plan['release']} --store {shlex.quote(self.options.store)}"
            command += f" --environment {self.options.environment}"
        program = f"{self.options.fvs} stage {command}".replace("\\", "\\\\").replace("'", "\\'")
        lines = r"ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' LINES TERMINATED BY '\n' NULL DEFINED AS '\\N'"
        return f"""SELECT TRANSFORM ({", ".join(columns)}) {lines} USING '{program}'
            AS ({printed}) {lines} FROM ({rows})"""

    def publish(self, name, command, columns, rows):
        self.staged(name, self.through(f"publish {command}", columns, rows, PUBLISHED))

    def glob(self, pattern):
        return [str(found.getPath()) for found in self.found(f"{self.staging}/{pattern}")]

    def found(self, pattern):
        path = self.spark._jvm.org.apache.hadoop.fs.Path(pattern)
        return path.getFileSystem(self.spark._jsc.hadoopConfiguration()).globStatus(path) or []

    def forget_earlier(self):
        """Deletes the staged rows of earlier releases. Another job may still read those of this release."""
        folder, own = os.path.split(self.staging)
        number = f"{self.options.environment}-{self.plan['release']:08}"
        for earlier in self.found(f"{folder}/{self.options.environment}-????????-*"):
            path = earlier.getPath()
            if path.getName()[: len(number)] < number:
                path.getFileSystem(self.spark._jsc.hadoopConfiguration()).delete(path, True)

    def is_published(self):
        return len(self.found(f"{self.store_uri()}/releases/{self.plan['release']:08}/manifest.json")) > 0

    def store_uri(self):
        scheme, _, rest = self.options.store.rstrip("/").rpartition("://")
        store = f"s3a://{rest}" if scheme == "s3" else f"file:{os.path.abspath(rest)}"
        return store if self.options.environment == "production" else f"{store}/{self.options.environment}"

    def log(self, event, **fields):
        line = {"release": self.plan["release"], "job": self.id, "msg": event, **fields}
        print(json.dumps(line), file=sys.stderr, flush=True)

    # The tables, with numbers for ids

    def open_table(self, name, columns):
        version = self.plan["tables"][name]
        if version < 0:
            rows = self.spark.createDataFrame([], columns)
        else:
            # The files of imports that were undone, and the rows of people whose forecasts were erased.
            names = ", ".join(f"'{name}'" for name in ["", *self.plan["undone_files"]])
            people = ", ".join(f"'{person['user_id']}'" for person in [{"user_id": ""}, *self.plan.get("erased_people", [])])
            kept = {
                "forecasters": f"user_id NOT IN ({people})",
                "forecasts": f"NOT (entity_type = 'forecaster' AND entity_id IN ({people}))",
            }
            rows = self.spark.sql(
                f"SELECT * FROM delta.`{self.store_uri()}/tables/{name}` VERSION AS OF {version} "
                f"WHERE _metadata.file_name NOT IN ({names}) AND {kept.get(name, 'true')}"
            )
        rows.createOrReplaceTempView(name)
        if name in SUBJECTS:
            self.view(f"current_{name}", current(name, rows.columns, columns))

    def number(self):
        self.view(
            "category",
            """SELECT category, row_number() OVER (ORDER BY category) - 1 AS category_number
               FROM (SELECT DISTINCT category FROM current_questions WHERE category <> '')""",
        )
        # Grain: one row per event whose questions are one unit.
        self.view(
            "event_unit",
            f"""SELECT event_id, any_value(if(kind = 'ordered', 1, 2)) AS event_joint, count(*) AS event_questions
                FROM current_questions JOIN current_events USING (event_id)
                  ANTI JOIN (SELECT question_id FROM current_resolutions WHERE outcome = 'annulled' AND resolved_at <= {self.now()})
                    USING (question_id)
                WHERE kind <> 'independent' GROUP BY event_id HAVING count(*) > 1""",
        )
        self.view(
            "question",
            f"""SELECT row_number() OVER (ORDER BY question_id) - 1 AS question, question_id,
                  row_number() OVER (ORDER BY settled_at, question_id) AS place, outcome, joint, unit_questions, cluster, week,
                  CASE joint WHEN 0 THEN 1 WHEN 1 THEN unit_questions ELSE 2 END AS divisor,
                  dense_rank() OVER (ORDER BY unit) - 1 AS unit_number, dense_rank() OVER (ORDER BY cluster) - 1 AS cluster_number, dense_rank() OVER (ORDER BY week) - 1 AS week_number,
                  coalesce(category_number, -1) AS category_number, unix_millis(opened_at) AS opened_ms,
                  unix_millis(closes_at) AS closes_ms, unix_millis(resolved_at) AS resolved_ms,
                  unix_millis(least(closes_at, resolved_at, known_at)) AS ends_ms, int(closes_at <= {self.now()}) AS settled,
                  unix_millis(settled_at) AS settled_ms
                FROM (SELECT *, if(joint = 0, 'question:' || question_id, cluster) AS unit
                      FROM (SELECT *, greatest(closes_at, resolved_at) AS settled_at,
                              coalesce('event:' || nullif(event_id, ''), 'question:' || question_id) AS cluster,
                              printf('%04d-W%02d', extract(YEAROFWEEK FROM closes_at), weekofyear(closes_at)) AS week,
                              coalesce(event_joint, 0) AS joint, coalesce(event_questions, 1) AS unit_questions
                            FROM current_questions JOIN current_resolutions USING (question_id)
                              LEFT JOIN category USING (category) LEFT JOIN event_unit USING (event_id)
                            WHERE outcome IN ('yes', 'no') AND resolved_at <= {self.now()}))""",
            keep=True,
        )
        size = self.plan["entities_per_shard"]
        self.view(
            "entity",
            f"""SELECT *, CASE WHEN entity_type = 'forecaster' THEN entity WHEN NOT startswith(owner_id, 'domain:')
                    THEN max(if(entity_id = first_of_owner, entity, null)) OVER (PARTITION BY owner_id) END AS recorded_voice,
                  CASE entity_type WHEN 'agent' THEN entity div {size}
                    ELSE (agents + {size - 1}) div {size} + (entity - agents) div {size} END AS shard
                FROM (SELECT *, row_number() OVER (ORDER BY entity_type, entity_id) - 1 AS entity,
                        count_if(entity_type = 'agent') OVER () AS agents
                      FROM (SELECT 'agent' AS entity_type, agent_id AS entity_id, nullif(name, '') AS name,
                              nullif(model_type, '') AS model_type, organization_name, owner_id, first_of_owner, unix_millis(registered_at) AS registered_ms,
                              unix_millis(if(retired_at <= {self.now()}, retired_at, null)) AS retired_ms
                            FROM (SELECT *, first_value(agent_id) OVER (PARTITION BY owner_id ORDER BY registered_at, agent_id)
                                    AS first_of_owner FROM current_agents)
                            LEFT SEMI JOIN (SELECT entity_id AS agent_id FROM forecasts
                              WHERE entity_type = 'agent' AND forecast_at <= {self.now()}) USING (agent_id)
                            UNION ALL SELECT 'forecaster', user_id, null, null, null, null, null, null, null
                            FROM current_forecasters))""",
            keep=True,
        )

    def now(self):
        return f"timestamp_millis({self.plan['as_of_ms']})"

    # Every question: from forecasts and prices to pairs

    def sweep(self):
        """Makes the views `voiced` of the entities with their own voices, `swept`, and `pair`. Returns the voice rule."""
        rule = "recorded"
        self.view("voiced", "SELECT *, recorded_voice AS own_voice FROM entity")
        self.staged("swept", self.swept())
        [[voices]] = self.spark.sql(
            """SELECT count(DISTINCT entity) FROM swept JOIN voiced USING (entity) JOIN question USING (question)
               WHERE own_voice = entity AND settled = 1"""
        ).collect()
        if voices < self.plan["parameters"]["least_voices"]:
            rule = "everyone"
            self.view("voiced", "SELECT *, entity AS own_voice FROM entity")
            self.staged("swept_by_everyone", self.swept())
            self.view("swept", "SELECT * FROM swept_by_everyone")
        self.view("pair", "SELECT * FROM swept WHERE entity IS NOT NULL")
        self.log("voice rule", rule=rule)
        return rule

    def swept(self):
        parameters = self.plan["parameters"]
        # An agent's forecasts come by its own API alone: an imported one is as one of nobody. A price has no id.
        events = f"""SELECT question, opened_ms, closes_ms, ends_ms, divisor, int(outcome = 'yes') AS outcome,
              unix_millis(forecast_at) AS at_ms, forecast_id, unix_millis(recorded_at) AS recorded_ms, entity, own_voice,
              coalesce(int(rint(probability * 1e6)), -1) AS ppm,
              int(source <> 'import' AND (forecasts.entity_type = 'agent' OR (recorded_at <= forecast_at
                + INTERVAL {parameters["witness_minutes"]} MINUTES AND unix_millis(recorded_at) < ends_ms))) AS witnessed
            FROM forecasts JOIN question USING (question_id) LEFT JOIN voiced ON forecasts.entity_type = voiced.entity_type
              AND forecasts.entity_id = voiced.entity_id AND (forecasts.entity_type <> 'agent' OR source <> 'import')
            UNION ALL SELECT question, opened_ms, closes_ms, ends_ms, divisor, int(outcome = 'yes'), unix_millis(priced_at), null,
              unix_millis(recorded_at), null, null, coalesce(int(rint(probability * 1e6)), -1), 0
            FROM prices JOIN question USING (question_id)
            WHERE unix_millis(priced_at) < ends_ms AND unix_millis(priced_at) > opened_ms - {parameters["price_hours"] * 3_600_000}"""
        rows = f"""SELECT * FROM ({events})
            DISTRIBUTE BY question SORT BY question, at_ms, forecast_id, recorded_ms, entity, ppm"""
        metrics = ", ".join(f"{name} BIGINT" for name in METRICS)
        return self.through("sweep", EVENT, rows, f"question INT, entity INT, {metrics}, course STRING, reference_scores STRING")

    # Who met whom

    def circumstances(self):
        """Makes the views `question_pool`, of the pools of questions, and `circumstance`, of what the scores of each entity
        depend on beside its own pairs."""
        # Grain: one row per entity and question.
        met = self.view(
            "met",
            """SELECT question, entity, entity_type, settled, settled_ms, opened_ms, ends_ms, first_at, last_at,
                 settled = 1 AND judged = 1 AS contested
               FROM pair JOIN (SELECT entity, entity_type FROM entity) USING (entity)
                 JOIN (SELECT question, settled, settled_ms, opened_ms, ends_ms FROM question) USING (question)""",
            keep=True,
        )
        self.step("pooled")
        if not self.glob("pooled-*/_SUCCESS"):
            self.log("divided into pools", rounds=find_pools(self.spark, f"{self.staging}/labels-{self.id}"))
        # Grain: one row per entity with a contested pair.
        self.staged(
            "pooled",
            """SELECT entity, label, pool, pool_size FROM label
                 JOIN (SELECT label, count(*) AS pool_size FROM label GROUP BY label) USING (label)
                 JOIN (SELECT entity AS label, entity_id AS pool FROM entity) USING (label)""",
        )
        # Grain: one row per question and kind of entity with a contested pair on it.
        self.staged(
            "question_pool",
            """SELECT question, entity_type, label, pool
               FROM (SELECT question, entity_type, min(entity) AS entity FROM met WHERE contested GROUP BY question, entity_type)
                 JOIN pooled USING (entity)""",
        )
        self.staged("circumstance", self.circumstance())
        met.unpersist()

    def circumstance(self):
        # Grain: one row per entity with a pair.
        self.view(
            "active",
            """SELECT * FROM (
                 SELECT entity, count(*) AS pairs, min(settled_ms) FILTER (WHERE contested) AS first_contested_ms,
                   min(first_at) FILTER (WHERE settled = 1) AS first_at, max(last_at) FILTER (WHERE settled = 1) AS last_at
                 FROM met GROUP BY entity)
               LEFT JOIN pooled USING (entity)""",
            keep=True,
        )
        # How many questions of its pool had opened by an entity's last forecast, less those that had ended by its
        # first. Grain: one row per entity with a contested pair.
        self.view(
            "open_meanwhile",
            """SELECT entity, sum(side * by_then) AS open
               FROM (SELECT entity, side, sum(questions) OVER (PARTITION BY label, side ORDER BY at_ms) AS by_then
                     FROM (SELECT label, stack(2, 1, opened_ms, -1, ends_ms) AS (side, at_ms), 1 AS questions, null AS entity
                           FROM question_pool JOIN question USING (question)
                           UNION ALL SELECT label, stack(2, 1, last_at, -1, first_at) AS (side, at_ms), 0, entity
                           FROM active WHERE label IS NOT NULL))
               WHERE entity IS NOT NULL GROUP BY entity""",
        )
        # How many of its pool it answered, and how many of these were not open meanwhile. Grain: the same.
        self.view(
            "answered",
            """SELECT entity, count(*) AS answered, count_if(opened_ms > last_at OR ends_ms <= first_at) AS aside
               FROM (SELECT question, entity, opened_ms, ends_ms FROM met WHERE settled = 1)
                 JOIN (SELECT entity, label, first_at, last_at FROM active) USING (entity)
                 JOIN (SELECT question, label FROM question_pool) USING (question, label)
               GROUP BY entity""",
        )
        return """SELECT entity, own_voice, int(own_voice <=> entity) AS voice, int(retired_ms IS NOT NULL) AS retired, pool,
              pool_size, pairs IS NOT NULL AS has_pair,
              CASE entity_type WHEN 'agent' THEN count(pairs) OVER (PARTITION BY entity_type, owner_id) END AS owner_agents,
              CASE WHEN entity_type = 'agent' AND first_contested_ms IS NOT NULL THEN row_number() OVER (
                PARTITION BY entity_type, owner_id ORDER BY first_contested_ms NULLS LAST, entity) END AS attempt,
              coalesce(open + aside, 0) AS offered, coalesce(answered, 0) AS answered
            FROM voiced LEFT JOIN active USING (entity) LEFT JOIN open_meanwhile USING (entity) LEFT JOIN answered USING (entity)"""

    # Every entity: from pairs to scores

    def score(self):
        """Makes the view `scored` of each entity's scores."""
        rows = f"""SELECT * FROM (
              SELECT {named(CIRCUMSTANCE)}, place, {named(FACTS, **NUMBERS)}, {named(METRICS)}
              FROM pair JOIN circumstance USING (entity) JOIN question USING (question)
              UNION ALL SELECT {named(CIRCUMSTANCE)}, {nulls(["place", *FACTS, *METRICS])}
              FROM circumstance WHERE NOT has_pair)
            DISTRIBUTE BY entity SORT BY entity, place"""
        self.staged("scored", self.through("score", [*CIRCUMSTANCE, "place", *FACTS, *METRICS], rows, SCORED))

    def tally(self, rule):
        """Stores what ranks the entities, from which the workers rank. Returns the hash of that."""
        alike = ", ".join(TALLY[:-1])
        self.view(
            "alike",
            f"""SELECT {alike}, count(*) AS count
                FROM (SELECT *, int(retired_ms IS NOT NULL) AS retired FROM scored JOIN entity USING (entity))
                GROUP BY {alike}""",
        )
        self.step("tally")
        rows = f"SELECT /*+ REPARTITION(1) */ * FROM alike SORT BY {alike}"
        tally = self.through(f"tally --voice-rule {rule}", TALLY, rows, "sha256 STRING")
        [[sha256]] = self.spark.sql(tally).collect()
        return sha256

    # Files

    def publish_files(self, tally):
        shards = """SELECT /*+ REPARTITION(1) */ shard, entity_type, count(*) AS entities, sum(pairs) AS pairs
            FROM entity JOIN scored USING (entity) GROUP BY shard, entity_type SORT BY shard"""
        parts = "shard INT, entities_part INT, scores_part INT"
        self.staged("part", self.through("parts", ["shard", "entity_type", "entities", "pairs"], shards, parts))
        self.view("placed", "SELECT * FROM entity JOIN part USING (shard)")
        self.profile()
        for name, unit in (("shards", "shard"), ("entities", "entities_part")):
            rows = f"SELECT {named(UNIT, unit=unit)} FROM profile DISTRIBUTE BY unit SORT BY entity"
            self.publish(f"{name}_published", f"{name} --tally {tally}", UNIT, rows)
        nobody = SCORE.index("question")
        rows = f"""SELECT * FROM (
              SELECT {named(SCORE)}, {named(METRICS)} FROM pair JOIN question USING (question)
              JOIN (SELECT entity, entity_type, entity_id, scores_part FROM placed) USING (entity)
              UNION ALL SELECT {named(SCORE[:nobody])}, {nulls(SCORE[nobody:])}, {nulls(METRICS)}
              FROM placed JOIN circumstance USING (entity) WHERE NOT has_pair)
            DISTRIBUTE BY scores_part SORT BY entity, place"""
        self.publish("scores_published", "scores", [*SCORE, *METRICS], rows)
        self.references()
        self.questions()
        order = "pool_size DESC NULLS LAST, pool, value DESC, entity_id"
        rows = f"""SELECT {named(PAGE)} FROM (
              SELECT *, (row_number() OVER (PARTITION BY entity_type ORDER BY {order}) - 1)
                div {self.plan["entries_per_page"]} AS page FROM shards_published WHERE what = 'entity')
            DISTRIBUTE BY entity_type, page SORT BY entity_type, page, {order}"""
        self.publish("leaderboards_published", "leaderboards", PAGE, rows)
        rows = f"""SELECT (dense_rank() OVER (ORDER BY owner) - 1) div {self.plan["owners_per_file"]} AS file,
              owner, entity_id, content FROM shards_published WHERE owner IS NOT NULL
            DISTRIBUTE BY file SORT BY owner, entity_id"""
        self.publish("owners_published", "owners", ["file", "owner", "entity_id", "content"], rows)
        rows = f"""SELECT /*+ REPARTITION(1) */ {named(CATEGORY)} FROM (
              SELECT *, explode(array(0, 1)) AS again FROM shards_published WHERE what = 'category'
              UNION ALL SELECT 'members', entity_type, null, null, null, null, null, category_number,
                string(count(DISTINCT entity)), 0
              FROM pair JOIN question USING (question) JOIN entity USING (entity)
              WHERE settled = 1 AND category_number >= 0 GROUP BY category_number, entity_type)
            SORT BY category, entity_type, again, pool_size DESC, pool, value DESC, entity_id"""
        self.publish("categories_published", "categories", CATEGORY, rows)

    def references(self):
        """Publishes the reference forecasts, which one run scores from all settled questions."""
        rows = f"""SELECT /*+ REPARTITION(1) */ {named(REFERENCE)}, {named(FACTS, **NUMBERS)} FROM question
              LEFT JOIN (SELECT question, max(pool) FILTER (WHERE entity_type = 'agent') AS agent_pool,
                           max(pool) FILTER (WHERE entity_type = 'forecaster') AS forecaster_pool
                         FROM question_pool GROUP BY question) USING (question)
              LEFT JOIN (SELECT question, reference_scores FROM swept WHERE entity IS NULL) USING (question)
            WHERE settled = 1 SORT BY place"""
        self.publish("references_published", "references", [*REFERENCE, *FACTS], rows)

    def questions(self):
        """Publishes what was forecast on settled questions."""
        # Grain: one row per entity and settled question.
        self.view(
            "last_forecast",
            """SELECT question, question_id, int(outcome = 'yes') AS outcome, entity, entity_type, entity_id,
                 closing_probability AS ppm, coverage, int(own_voice <=> entity) AS voice,
                 int(entity_type = 'forecaster' OR name IS NOT NULL) AS listed
               FROM pair JOIN question USING (question) JOIN voiced USING (entity) WHERE settled = 1""",
        )
        # Grain: one row per settled question that somebody forecast.
        self.view(
            "answered_question",
            """SELECT question, course, row_number() OVER (ORDER BY question) - 1 AS number, count(*) OVER () AS answered,
                 count(error) OVER () AS crowds,
                 if(error IS NOT NULL, rank() OVER (ORDER BY error DESC NULLS LAST) - 1, null) AS surprising
               FROM (SELECT question, bigint(abs(rint(double(sum(standing)) / double(nullif(count(standing), 0))) - any_value(outcome) * 1e6)) AS error
                     FROM (SELECT question, outcome, if(voice = 1 AND ppm >= 0, ppm, null) AS standing FROM last_forecast)
                     GROUP BY question)
                 LEFT JOIN (SELECT question, course FROM swept WHERE entity IS NULL) USING (question)""",
        )
        rows = f"""SELECT number div {self.plan["questions_per_file"]} AS file, {named(LAST)}
            FROM answered_question JOIN last_forecast USING (question)
            DISTRIBUTE BY file SORT BY number, entity"""
        self.publish("questions_published", "questions", LAST, rows)

    def profile(self):
        """Makes the view `profile`, one row per entity: its facts and its scores."""
        self.view(
            "undecided",
            f"""SELECT question_id, closes_at FROM current_questions
                ANTI JOIN (SELECT question_id FROM current_resolutions WHERE outcome <> 'open' AND resolved_at <= {self.now()})
                  USING (question_id)
                WHERE opened_at <= {self.now()}""",
        )
        # Grain: one row per entity with a forecast.
        self.view(
            "activity",
            f"""SELECT * FROM (SELECT entity_type, entity_id, max(unix_millis(forecast_at)) AS last_forecast_ms FROM forecasts
                               WHERE forecast_at <= {self.now()} GROUP BY entity_type, entity_id)
                LEFT JOIN (SELECT entity_type, entity_id, count_if(closes_at > {self.now()}) AS open,
                             count_if(closes_at <= {self.now()}) AS overdue,
                             min(unix_millis(closes_at)) FILTER (WHERE closes_at > {self.now()}) AS next_close_ms
                           FROM (SELECT entity_type, entity_id, any_value(closes_at) AS closes_at,
                                   max_by(probability, struct(forecast_at, forecast_id)) AS probability
                                 FROM forecasts JOIN undecided USING (question_id)
                                 WHERE forecast_at <= {self.now()} AND forecast_at < closes_at
                                 GROUP BY entity_type, entity_id, question_id)
                           WHERE probability IS NOT NULL GROUP BY entity_type, entity_id)
                  USING (entity_type, entity_id)""",
            keep=True,
        )
        self.view(
            "profile",
            """SELECT *, to_json(struct(name, model_type, owner_id, retired_ms AS retired_at, organization_name,
                   registered_ms AS registered_at, last_forecast_ms AS last_forecast_at, coalesce(open, 0) AS open_forecasts,
                   next_close_ms AS next_close_at, coalesce(overdue, 0) AS overdue_forecasts)) AS facts
               FROM placed JOIN scored USING (entity) LEFT JOIN activity USING (entity_type, entity_id)""",
        )

    def commit(self, tally):
        self.step("commit")
        [[forecasts]] = self.spark.sql(
            """SELECT (SELECT coalesce(sum(forecasts), 0) FROM swept WHERE entity IS NULL)
                 + (SELECT count(DISTINCT forecast_id) FROM forecasts ANTI JOIN question USING (question_id))"""
        ).collect()
        steps = ("shards", "entities", "scores", "leaderboards", "owners", "categories", "references", "questions")
        files = [json.dumps(file) for file in self.plan["files"]]
        for step in steps:
            rows = self.spark.sql(f"SELECT content FROM {step}_published WHERE what = 'file'")
            files += [content for [content] in rows.toLocalIterator()]
        words = ["stage", "commit", "--release", str(self.plan["release"]), "--tally", tally, "--forecasts", str(forecasts)]
        return run_fvs(self.options, *words, lines="".join(f"{file}\n" for file in files))


def current(name, present, columns):
    """Returns SQL of the current rows of a table, those recorded last."""
    compared = [column for column in present if column not in UNORDERED]
    compared.sort(key=lambda column: column != "recorded_at")
    order = ", ".join(f"{column} DESC NULLS LAST" for column in compared)
    return f"""SELECT {columns_in(columns)} FROM (
          SELECT *, row_number() OVER (PARTITION BY {SUBJECTS[name]} ORDER BY {order}) AS nth FROM {name})
        WHERE nth = 1"""


def columns_in(definition):
    return ", ".join(column.split()[0] for column in definition.split(","))


def named(columns, **values):
    return ", ".join(f"{values[column]} AS {column}" if column in values else column for column in columns)


def nulls(columns):
    return ", ".join(f"null AS {column}" for column in columns)


def find_pools(spark, written):
    """Divides the entities of each kind into pools (docs/methodology.md), from the view `met` of all pairs. It makes the
    view `label`, which has the least entity of its pool for each entity with a contested pair, and returns the number of
    rounds. `written` names a folder for the labels on the way.

    The hub of a question is the least entity of a kind with a contested pair on it, so that pairs become edges from
    entities to hubs, and equal ones are one. An entity's label is the least entity that it is known to be in one pool
    with. In a round each takes the least label at any of its hubs, as does the entity that its label has named, and then
    the label of the entity that this one names. So a chain takes as many rounds as the logarithm of its length. Labels
    only fall, and where none has fallen all labels of a pool are alike.
    """
    edge = spark.sql(
        """SELECT DISTINCT hub, entity
           FROM (SELECT entity, min(entity) OVER (PARTITION BY question, entity_type) AS hub FROM met WHERE contested)"""
    ).persist()
    # A named view, because Spark drops that of a parameter after each query, and what it keeps with it.
    edge.createOrReplaceTempView("edge")
    label = spark.sql("SELECT DISTINCT entity, entity AS label FROM edge")
    rounds, has_fallen = 0, True
    while has_fallen:
        rounds += 1
        near = spark.sql(
            """SELECT entity, min(label) AS label
               FROM (SELECT stack(2, entity, least, own, least) AS (entity, label)
                     FROM (SELECT edge.entity, label AS own, min(label) OVER (PARTITION BY hub) AS least
                           FROM edge JOIN {label} AS known ON edge.entity = known.entity))
               GROUP BY entity""",
            label=label,
        )
        further = spark.sql(
            "SELECT near.entity, further.label FROM {near} AS near JOIN {near} AS further ON near.label = further.entity",
            near=near,
        )
        before, label = label, written_down(spark, further, f"{written}/{rounds:03}")
        has_fallen = not spark.sql(
            "SELECT 1 FROM {label} AS now JOIN {before} AS before USING (entity) WHERE now.label < before.label",
            label=label,
            before=before,
        ).isEmpty()
    edge.unpersist()
    label.createOrReplaceTempView("label")
    return rounds


def written_down(spark, frame, path):
    """Returns the rows from a folder, so that nothing depends on what they were made from."""
    frame.write.parquet(path)
    return spark.read.parquet(path)


if __name__ == "__main__":
    main()
