"""Runs statements of standard input, a JSON list, with DuckDB in a folder of tables, and prints their rows: statements.py <tables>."""

import json
import os
import sys

import duckdb

os.chdir(sys.argv[1])
connection = duckdb.connect()


def rows(statement):
    # As JSON: Python needs a library for times with a zone.
    answer = connection.execute(f"SELECT to_json(answer) FROM (\n{statement}\n) AS answer")
    return [json.loads(row) for (row,) in answer.fetchall()]


print(json.dumps([rows(statement) for statement in json.load(sys.stdin)]))
