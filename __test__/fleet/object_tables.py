"""Publishes tables to an object storage and counts their rows there: object_tables.py <tables> <uri> <endpoint>."""

import json
import os
import sys

import chdb
from pyarrow import dataset
from pyarrow.fs import FileSystem

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/fleet"))

import storage  # noqa: E402

tables, uri, endpoint = sys.argv[1:]
for parent, _, names in os.walk(tables):
    for name in names:
        file = os.path.join(parent, name)
        storage.publish(file, uri, os.path.relpath(file, tables))

file_system, path = FileSystem.from_uri(uri.replace("s3a://", "s3://"))
counts = {}
for table in sorted(os.listdir(tables)):
    url = f"{endpoint}/{path}/{table}/*/*/*.parquet"
    rows = str(chdb.query(f"SELECT count() FROM s3('{url}', 'test', 'test', 'Parquet')", "TSV"))
    read = dataset.dataset(f"{path}/{table}", filesystem=file_system, format="parquet", partitioning="hive")
    counts[table] = {"clickhouse": int(rows), "pyarrow": read.count_rows()}
print(json.dumps(counts))
