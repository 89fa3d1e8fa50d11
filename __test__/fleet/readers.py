"""Reads every table with one engine, and prints the types and a fact of each column: readers.py <duckdb|clickhouse> <tables>.

The fact of a column is a number: the sum of numbers, of the lengths of texts, lists and maps, the number of true values, the
first time in milliseconds. A second engine must find the same.
"""

import json
import os
import sys


def duckdb_engine(tables):
    import duckdb

    connection = duckdb.connect()
    facts = {
        "BOOLEAN": "count_if({})",
        "VARCHAR": "sum(strlen({}))",
        "LIST": "sum(len({}))",
        "MAP": "sum(cardinality({}))",
        "TIMESTAMP": "epoch_ms(min({}))",
        "NUMBER": "sum({})",
    }

    def kind(name):
        if name.endswith("[]"):
            return "LIST"
        return next((known for known in ("BOOLEAN", "VARCHAR", "MAP", "TIMESTAMP") if name.startswith(known)), "NUMBER")

    def source(table):
        return f"read_parquet('{tables}/{table}/*/*/*.parquet', hive_partitioning = false)"

    for table in sorted(os.listdir(tables)):
        types = {row[0]: row[1] for row in connection.execute(f"DESCRIBE SELECT * FROM {source(table)}").fetchall()}
        columns = ", ".join(facts[kind(name)].format(f'"{column}"') for column, name in types.items())
        yield table, types, connection.execute(f"SELECT count(*), {columns} FROM {source(table)}").fetchone()


def clickhouse_engine(tables):
    import chdb

    facts = {
        "Bool": "sum({})",
        "String": "sum(length({}))",
        "Array": "sum(length({}))",
        "Map": "sum(length({}))",
        "DateTime": "toUnixTimestamp64Milli(min({}))",
        "Number": "sum({})",
    }

    def kind(name):
        return next((known for known in ("Bool", "String", "Array", "Map", "DateTime") if name.startswith(known)), "Number")

    def rows(sql):
        answer = chdb.query(f"{sql} SETTINGS use_hive_partitioning = 0, output_format_json_quote_64bit_integers = 0", "JSONCompact")
        return json.loads(str(answer))["data"]

    def plain(name):
        for wrapper in ("LowCardinality(", "Nullable("):
            while name.startswith(wrapper):
                name = name[len(wrapper) : -1]
        return name.replace("Nullable(String)", "String")

    for table in sorted(os.listdir(tables)):
        source = f"file('{tables}/{table}/*/*/*.parquet', 'Parquet')"
        types = {row[0]: plain(row[1]) for row in rows(f"DESCRIBE TABLE {source}")}
        columns = ", ".join(facts[kind(name)].format(f"`{column}`") for column, name in types.items())
        yield table, types, rows(f"SELECT count(*), {columns} FROM {source}")[0]


engine, tables = sys.argv[1:]
found = {"duckdb": duckdb_engine, "clickhouse": clickhouse_engine}[engine](tables)
answer = {}
for table, types, (count, *values) in found:
    facts = [round(float(value or 0), 6) for value in values]
    answer[table] = {"rows": int(count), "types": types, "facts": dict(zip(types, facts))}
print(json.dumps(answer))
