"""Makes tables of many heap dumps on Apache Spark, and keeps them small.

    spark-submit --py-files storage.py fleet.py analyze --tables s3a://heaps/tables --list s3a://heaps/dumps.jsonl
    spark-submit --py-files storage.py fleet.py analyze --tables s3a://heaps/tables \\
        --folder s3a://heaps/dumps --module 's3a://builds/{service}/{release}.wasm'
    spark-submit fleet.py compact --tables s3a://heaps/tables --output s3a://heaps/compact

Each worker needs Python 3, Node and the analyzer (--analyzer). A task copies a dump to the local disk of its worker, runs
the analyzer on it, and writes the tables. The bytes of a dump never pass through the JVM.

Nothing is counted twice. A dump is known by the SHA-256 of its contents: files are named by it, so a task that runs again
replaces its own files with equal ones. The table `dump` is written last, and a dump that has a row there is not analyzed
again. A dump that cannot be read gets a row with its error code. A dump whose analysis dies is tried again, and reported if
it dies every time.
"""

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

from pyspark import TaskContext
from pyspark.sql import SparkSession, functions, types

import storage

TABLES = ["class", "path", "suspect", "waste", "dump"]
DUMPS = types.StructType(
    [
        types.StructField("dump", types.StringType(), False),
        # Null for a heap snapshot of V8, which has no module.
        types.StructField("wasm", types.StringType()),
        types.StructField("capturedAt", types.StringType(), False),
        types.StructField("labels", types.MapType(types.StringType(), types.StringType())),
    ]
)


def main():
    options = arguments()
    spark = SparkSession.builder.appName("heap dumps").getOrCreate()
    sys.exit(options.run(spark, options))


def arguments():
    parser = argparse.ArgumentParser(description="Tables of many heap dumps.")
    commands = parser.add_subparsers(required=True)

    analyze = commands.add_parser("analyze", help="analyze dumps and write their tables")
    analyze.set_defaults(run=run_analyze)
    analyze.add_argument("--tables", required=True, help="the folder of the tables")
    source = analyze.add_mutually_exclusive_group(required=True)
    source.add_argument("--list", help='a file with a line of JSON for each dump: {"dump": …, "wasm": …, "capturedAt": …, "labels": {…}}, without "wasm" for a heap snapshot of V8')
    source.add_argument("--folder", help="a folder of *.dump; folders such as service=shop are labels, and the time of a file is that of its dump")
    analyze.add_argument("--module", help="with --folder: where the module of a dump is, with labels in braces")
    analyze.add_argument("--analyzer", default="npx --no warpo-heap-analyzer", help="the command line of the analyzer on the workers")
    analyze.add_argument("--arguments", default="", help="more arguments for its command export, such as --hash-names")
    analyze.add_argument("--trust-paths", action="store_true", help="do not read dumps again whose path is in the tables")
    analyze.add_argument("--dumps-per-task", type=int, default=8)

    compact = commands.add_parser("compact", help="write the small files of each day and module as one")
    compact.set_defaults(run=run_compact)
    compact.add_argument("--tables", required=True)
    compact.add_argument("--output", required=True, help="the folder of the compact tables")
    compact.add_argument("--date", help="only this day")

    options = parser.parse_args()
    if getattr(options, "folder", None) and not options.module:
        parser.error("--folder needs --module")
    return options


def run_analyze(spark, options):
    done = known_dumps(spark, options.tables)
    dumps = listed(spark, options)
    if options.trust_paths and done is not None:
        dumps = dumps.join(done.select(functions.col("source").alias("dump")), "dump", "left_anti")
    dumps = spread(dumps, options.dumps_per_task)
    hashed = spark.createDataFrame(
        dumps.rdd.mapPartitions(hash_dumps),
        types.StructType(DUMPS.fields + [types.StructField("dumpId", types.StringType()), types.StructField("problem", types.StringType())]),
    ).cache()
    # Of equal dumps the first counts, whichever task sees it first.
    first = functions.min(functions.struct("capturedAt", "dump", "wasm", "labels_json"))
    new = (
        hashed.filter("dumpId IS NOT NULL")
        .withColumn("labels_json", functions.to_json("labels"))
        .groupBy("dumpId")
        .agg(first.alias("first"))
        .select("dumpId", "first.*")
    )
    if done is not None:
        new = new.join(done.select(functions.col("dump_id").alias("dumpId")), "dumpId", "left_anti")
    new = spread(new, options.dumps_per_task).cache()

    attempts = int(spark.conf.get("spark.task.maxFailures", "4"))
    work = {
        "tables": options.tables,
        "analyzer": options.analyzer.split(),
        "arguments": options.arguments.split(),
        "attempts": attempts,
    }
    results = new.rdd.mapPartitions(lambda rows: analyze_dumps(rows, work)).collect()

    missing = [(row.dump, row.problem) for row in hashed.filter("dumpId IS NULL").select("dump", "problem").collect()]
    failed = missing + [(dump, problem) for dump, problem in results if problem is not None]
    print(
        json.dumps(
            {
                "listed": hashed.count(),
                "analyzed": sum(problem is None for _, problem in results),
                "failed": [{"dump": dump, "problem": problem} for dump, problem in sorted(failed)],
            }
        )
    )
    return 1 if failed else 0


def known_dumps(spark, tables):
    """The dumps that have a row in the table `dump`; None if there is no such table."""
    try:
        return spark.read.parquet(f"{tables}/dump").select("dump_id", "source").cache()
    except Exception as error:  # Spark has no narrower class that all its versions share.
        if "PATH_NOT_FOUND" in str(error) or "UNABLE_TO_INFER_SCHEMA" in str(error):
            return None
        raise


def listed(spark, options):
    """What there is to analyze. Reads no dump."""
    if options.list:
        return spark.read.schema(DUMPS).json(options.list)
    files = (
        spark.read.format("binaryFile")
        .option("recursiveFileLookup", "true")
        .option("pathGlobFilter", "*.dump")
        .load(options.folder)
        .select("path", "modificationTime")
    )
    module = options.module

    def described(row):
        labels = dict(part.split("=", 1) for part in row.path.split("/")[:-1] if "=" in part)
        time = row.modificationTime.astimezone().isoformat(timespec="milliseconds")
        return row.path, module.format(**labels), time, labels

    return spark.createDataFrame(files.rdd.map(described), DUMPS)


def spread(rows, per_task):
    """The same rows in small tasks, so that a worker that dies loses little."""
    rows = rows.cache()
    return rows.repartition(max(1, -(-rows.count() // per_task)))


def hash_dumps(rows):
    for row in rows:
        try:
            yield (*row, storage.fetch(row.dump), None)
        except OSError as error:
            yield (*row, None, str(error))


def analyze_dumps(rows, work):
    """Runs on a worker."""
    with tempfile.TemporaryDirectory(prefix="heap-fleet-") as folder:
        modules = {}
        for row in rows:
            try:
                analyze_dump(row, work, folder, modules)
                yield row.dump, None
            except (OSError, RuntimeError) as error:
                # Spark runs the task again, perhaps elsewhere. In the last attempt the others of the task still count.
                if TaskContext.get().attemptNumber() + 1 < work["attempts"]:
                    raise
                yield row.dump, str(error)


def analyze_dump(row, work, folder, modules):
    if row.wasm is not None and row.wasm not in modules:
        path = os.path.join(folder, f"{len(modules)}.wasm")
        storage.fetch(row.wasm, path)
        modules[row.wasm] = path
    dump = os.path.join(folder, "heap.dump")
    found = storage.fetch(row.dump, dump)
    if found != row.dumpId:
        raise RuntimeError(f"{row.dump} was changed while it was analyzed")
    tables = os.path.join(folder, "tables")
    labels = [f"{key}={value}" for key, value in sorted(json.loads(row.labels_json or "{}").items())]
    command = [*work["analyzer"], "export", dump, "--to", "parquet", "--output", tables]
    if row.wasm is not None:
        command += ["--wasm", modules[row.wasm]]
    command += ["--captured-at", row.capturedAt, "--source", row.dump, "--keep-unreadable", *work["arguments"]]
    for label in labels:
        command += ["--label", label]
    # A task has one core.
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
    run = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(f"the analyzer ended with {run.returncode}: {run.stderr.strip()[-2000:]}")
    files = glob.glob("**/*.parquet", root_dir=tables, recursive=True)
    # `dump` last: it says that the others are complete.
    for file in sorted(files, key=lambda file: (file.startswith(f"dump{os.sep}"), file)):
        storage.publish(os.path.join(tables, file), work["tables"], file.replace(os.sep, "/"))
    shutil.rmtree(tables)
    os.remove(dump)


def run_compact(spark, options):
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    for table in TABLES:
        rows = spark.read.parquet(f"{options.tables}/{table}")
        if options.date:
            rows = rows.filter(functions.col("date") == options.date)
        # Spark has no unsigned types. No size reaches 2^63.
        for name, kind in rows.dtypes:
            if kind == "decimal(20,0)":
                rows = rows.withColumn(name, functions.col(name).cast("bigint"))
        # A folder is replaced as a whole, so a second run changes nothing.
        rows = rows.repartition("date", "module").sortWithinPartitions("dump_id")
        rows.write.mode("overwrite").partitionBy("date", "module").parquet(f"{options.output}/{table}")
    return 0


if __name__ == "__main__":
    main()
