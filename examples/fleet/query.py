"""Asks the tables a question of queries/, with DuckDB or with Spark. The SQL is the same for both.

    python3 query.py --tables tables new_since_release --release 2.0
    python3 query.py --tables tables --engine spark growth --limit 20
"""

import argparse
import glob
import os

TABLES = ["dump", "class", "path", "suspect", "waste"]
QUERIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "queries")


def statement(name):
    """The SQL of a query."""
    with open(os.path.join(QUERIES, f"{name}.sql"), encoding="utf8") as file:
        return file.read().strip().rstrip(";")


def parameters(since, release):
    """The SQL of the view with the parameters, for both engines."""
    since, release = (str(value).replace("'", "''") for value in (since, release))
    return f"CREATE OR REPLACE TEMPORARY VIEW parameter AS SELECT DATE '{since}' AS since, '{release}' AS release"


def duckdb_connection(tables):
    """A connection that has a view of each table."""
    import duckdb

    connection = duckdb.connect()
    for table in TABLES:
        files = f"{tables}/{table}/*/*/*.parquet".replace("'", "''")
        types = "hive_types = {'date': DATE, 'module': VARCHAR}"
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{files}', hive_partitioning = true, {types})")
    return connection


def spark_session(spark, tables):
    """The same for a session of Spark."""
    for table in TABLES:
        spark.read.parquet(f"{tables}/{table}").createOrReplaceTempView(table)
    return spark


def main():
    names = sorted(os.path.basename(file)[: -len(".sql")] for file in glob.glob(f"{QUERIES}/*.sql"))
    parser = argparse.ArgumentParser(description="Questions about many heap dumps.")
    parser.add_argument("query", choices=names)
    parser.add_argument("--tables", required=True, help="the folder of the tables")
    parser.add_argument("--engine", choices=["duckdb", "spark"], default="duckdb")
    parser.add_argument("--since", default="1970-01-01", help="a day, for new_since_date")
    parser.add_argument("--release", default="", help="for new_since_release")
    parser.add_argument("--limit", type=int, default=20)
    options = parser.parse_args()
    view, sql = parameters(options.since, options.release), statement(options.query)
    if options.engine == "duckdb":
        connection = duckdb_connection(options.tables)
        connection.execute(view)
        connection.sql(sql).limit(options.limit).show(max_width=200)
    else:
        from pyspark.sql import SparkSession

        spark = spark_session(SparkSession.builder.appName("heap dumps").getOrCreate(), options.tables)
        spark.sql(view)
        spark.sql(sql).show(options.limit, truncate=60)


if __name__ == "__main__":
    main()
