"""Asks one engine all queries, and prints the answers as JSON: answers.py <duckdb|spark> <tables> <since> <release>."""

import datetime
import decimal
import json
import os
import sys

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/fleet")
sys.path.insert(0, EXAMPLE)

import query  # noqa: E402

NAMES = sorted(name[: -len(".sql")] for name in os.listdir(query.QUERIES) if name.endswith(".sql"))


def plain(value):
    if isinstance(value, decimal.Decimal):
        return int(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    return value


def duckdb(tables, view):
    connection = query.duckdb_connection(tables)
    connection.execute(view)
    for name in NAMES:
        result = connection.execute(query.statement(name))
        columns = [column[0] for column in result.description]
        yield name, [dict(zip(columns, row)) for row in result.fetchall()]


def spark(tables, view):
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "4").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    query.spark_session(session, tables)
    session.sql(view)
    for name in NAMES:
        yield name, [row.asDict() for row in session.sql(query.statement(name)).collect()]


engine, tables, since, release = sys.argv[1:]
answers = {"duckdb": duckdb, "spark": spark}[engine](tables, query.parameters(since, release))
print(json.dumps({name: [{key: plain(value) for key, value in row.items()} for row in rows] for name, rows in answers}))
