"""Runs statements of standard input, a JSON list, with DuckDB in a folder of tables, and prints their rows: statements.py <tables>."""

import datetime
import json
import os
import sys

import duckdb

os.chdir(sys.argv[1])
connection = duckdb.connect()


def plain(value):
    return value.isoformat() if isinstance(value, datetime.date) else value


def rows(statement):
    result = connection.execute(statement)
    columns = [column[0] for column in result.description]
    return [{column: plain(value) for column, value in zip(columns, row)} for row in result.fetchall()]


print(json.dumps([rows(statement) for statement in json.load(sys.stdin)]))
