"""What a fleet costs: seconds and bytes for a dump, and the queries of examples/fleet over many simulated dumps.

    npm run bench -- fleet                    # 10,000 dumps, as large files
    npm run bench -- fleet --dumps 1000 --files
    npm run bench -- fleet --large         # a dump of 4 GiB through the job; needs 13 GB of disk

`npm run bench -- fleet` installs the engines into build/fleet/venv. The real dumps are those of the shop (benches/shop). The
simulated ones have as many rows as a service with 300 classes: 1,500 paths, 10 suspects and 60 groups of waste for each
dump; 10 services, of each 2 builds and 40 machines, a dump a day. Their names are as long as those of real programs.
"""

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.insert(0, os.path.join(ROOT, "examples/fleet"))

import duckdb  # noqa: E402
import pyarrow.parquet  # noqa: E402
import pyspark  # noqa: E402

import query  # noqa: E402
import storage  # noqa: E402

CLI = ["node", os.path.join(ROOT, "dist/heap_analyzer/cli.js")]
WORK = os.path.join(ROOT, "build/fleet/bench")
CLASSES, PATHS, SUSPECTS, WASTE = 300, 1500, 10, 60
SERVICES, MACHINES = 10, 40
# In 10,000 simulated dumps, the first day of the second build.
SINCE = "2026-11-14"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dumps", type=int, default=10_000)
    parser.add_argument("--objects", default="10000,100000,1000000", help="the sizes of the real dumps")
    parser.add_argument("--files", action="store_true", help="query one file for each dump and table as well")
    parser.add_argument("--large", action="store_true", help="only run the job on a dump of 4 GiB")
    options = parser.parse_args()
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    if options.large:
        large()
        return
    real(options.objects.split(","))
    simulated(options)


def real(sizes):
    """Exports real dumps, one core for each."""
    script = os.path.join(ROOT, "build/bench/shop.js")
    subprocess.run(["node", script, WORK, *sizes], check=True)
    print(f"{'objects':>10} {'dump':>10} {'tables':>10} {'seconds':>8} {'CPU s':>8} {'peak':>10}  one core, files in the page cache")
    for size in sizes:
        dump = os.path.join(WORK, f"{size}-after.dump")
        for tables in (["plain"], ["with-objects", "--objects", "--edges"]):
            output = os.path.join(WORK, f"real-{size}-{tables[0]}")
            command = [*CLI, "export", dump, "--wasm", os.path.join(WORK, "program.wasm"), "--to", "parquet", "--output", output]
            command += ["--captured-at", "2026-11-22", *tables[1:]]
            environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
            seconds, processor = [], []
            for _ in range(3):
                started = time.monotonic()
                process = subprocess.Popen(command, env=environment)
                _, status, usage = os.wait4(process.pid, 0)
                seconds.append(time.monotonic() - started)
                processor.append(usage.ru_utime + usage.ru_stime)
                if status != 0:
                    raise SystemExit("the export failed")
            peak = f"{usage.ru_maxrss / 1024:.0f} MiB"
            note = "" if tables[0] == "plain" else "  with --objects --edges"
            print(f"{int(size):>10,} {size_text(os.path.getsize(dump)):>10} {size_text(disk(output)):>10} {sorted(seconds)[1]:>8.2f} {sorted(processor)[1]:>8.2f} {peak:>10}{note}")
    started = time.process_time()
    copy = os.path.join(WORK, "copy")
    for target in (None, copy):
        storage.fetch(dump, target)
    print(f"the job hashes the last dump, then copies it: {time.process_time() - started:.2f} CPU s")


def large():
    """Runs the job on a dump of 4 GiB, with an executor of 512 MiB, and prints the peak memory of its processes."""
    subprocess.run(["node", os.path.join(ROOT, "build/bench/shop.js"), WORK, "1000000:65536"], check=True)
    dump = os.path.join(WORK, "1000000:65536.dump")
    line = {"dump": dump, "wasm": os.path.join(WORK, "program.wasm"), "capturedAt": "2026-11-22T00:00:00Z", "labels": {}}
    with open(os.path.join(WORK, "list.jsonl"), "w", encoding="utf8") as file:
        file.write(json.dumps(line))
    home = os.path.dirname(pyspark.__file__)
    example = os.path.join(ROOT, "examples/fleet")
    command = [os.path.join(home, "bin/spark-submit"), "--master", "local-cluster[1,1,1024]"]
    for setting in ("spark.executor.memory=512m", "spark.driver.host=127.0.0.1", "spark.ui.enabled=false"):
        command += ["--conf", setting]
    command += ["--py-files", os.path.join(example, "storage.py"), os.path.join(example, "fleet.py"), "analyze"]
    command += ["--tables", os.path.join(WORK, "tables"), "--list", os.path.join(WORK, "list.jsonl"), "--analyzer", " ".join(CLI)]
    environment = {**os.environ, "SPARK_HOME": home, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    started = time.monotonic()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        peaks = {}
        while process.poll() is None:
            for pid, (kind, size) in descendants(process.pid).items():
                peaks[pid] = (kind, max(size, peaks.get(pid, (kind, 0))[1]))
            time.sleep(0.2)
        print(process.stdout.read().decode().strip())
    print(f"{size_text(os.path.getsize(dump))} through the job in {time.monotonic() - started:.0f} s; the largest process of each kind:")
    for kind in sorted({kind for kind, _ in peaks.values()}):
        print(f"  {kind:<24} {max(peak for of, peak in peaks.values() if of == kind):>8,} MiB")


def descendants(root):
    """What each process below this one is, and its memory in MiB, without files that it maps."""
    found, parents = {}, {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/status", encoding="utf8") as status:
                fields = dict(line.split(":", 1) for line in status if ":" in line)
            with open(f"/proc/{entry}/cmdline", encoding="utf8") as text:
                arguments = text.read()
        except (OSError, UnicodeDecodeError):
            continue
        # A process that has ended has none.
        if arguments == "":
            continue
        parents[int(entry)] = int(fields["PPid"])
        kind = "Spark's executor" if "CoarseGrainedExecutorBackend" in arguments else fields["Name"].strip()
        kind = "Spark's driver" if "SparkSubmit" in arguments else kind
        found[int(entry)] = (kind, int(fields.get("RssAnon", "0").split()[0]) // 1024)
    below = {root}
    while True:
        more = {pid for pid, parent in parents.items() if parent in below} - below
        if not more:
            return {pid: found[pid] for pid in below if pid in found}
        below |= more


def simulated(options):
    template = os.path.join(WORK, f"real-{options.objects.split(',')[0]}-plain")
    started = time.monotonic()
    large = os.path.join(WORK, "large-files")
    simulate(template, large, options.dumps)
    print(f"\n{options.dumps:,} simulated dumps, made in {time.monotonic() - started:.0f} s: {CLASSES} classes, {PATHS:,} paths each")
    layouts = [("a file for each day and build", large)]
    if options.files:
        small = os.path.join(WORK, "small-files")
        split(large, small)
        layouts.append(("a file for each dump", small))
    for name, tables in layouts:
        files = {table: glob.glob(f"{tables}/{table}/**/*.parquet", recursive=True) for table in query.TABLES}
        total = disk(tables)
        each = ", ".join(f"{table} {size_text(sum(map(os.path.getsize, of)) // options.dumps)}" for table, of in files.items())
        count = sum(map(len, files.values()))
        print(f"\n{name}: {count:,} files, {size_text(total)}, {size_text(total // options.dumps)} a dump ({each})")
        answers = [
            ask(f"DuckDB {duckdb.__version__}", lambda: with_duckdb(tables)),
            ask(f"Spark {pyspark.__version__}", lambda: with_spark(tables)),
        ]
        if answers[0] != answers[1]:
            raise SystemExit("the answers of DuckDB and of Spark are not the same")


def simulate(template, folder, dumps):
    connection = duckdb.connect()
    os.makedirs(folder)
    days = -(-dumps // (SERVICES * MACHINES))
    connection.execute(f"""
        CREATE TABLE dumps AS SELECT
          sha256('dump' || nth) AS dump_id,
          'service-' || nth % {SERVICES} AS service,
          'm' || (nth // {SERVICES}) % {MACHINES} AS machine,
          nth // {SERVICES * MACHINES} AS day,
          (nth // {SERVICES * MACHINES}) * 2 // {days} + 1 AS build,
          1 + abs(hash(nth) % 1000) / 1000.0 AS scale
        FROM range({dumps}) AS numbers(nth)""")
    connection.execute("""
        ALTER TABLE dumps ADD COLUMN module_id VARCHAR;
        UPDATE dumps SET module_id = sha256(service || build)""")
    # Long names, as those of generic containers are.
    connection.execute(f"""
        CREATE TABLE names AS SELECT nth, CASE nth % 3
          WHEN 0 THEN 'assembly/' || chr(CAST(97 + nth % 26 AS INTEGER)) || 'module' || nth % 40 || '/Class' || nth
          WHEN 1 THEN '~lib/array/Array<assembly/' || chr(CAST(97 + nth % 26 AS INTEGER)) || 'module' || nth % 40 || '/Class' || nth || '>'
          ELSE '~lib/map/Map<~lib/string/String,assembly/module' || nth % 40 || '/Class' || nth || '>' END AS name
        FROM range({CLASSES}) AS numbers(nth);
        CREATE TABLE paths AS
        SELECT nth, substr(sha256('v1' || p.nth || s.service), 1, 12) AS fingerprint, s.service,
          ['global assembly/' || s.service || '/global' || nth % 50]
            || list_transform(range(2 + nth % 7), lambda step: n.names[1 + (p.nth * 7 + step * 31) % {CLASSES}] || '.field' || step) AS path,
          n.names[1 + p.nth % {CLASSES}] AS class
        FROM range({PATHS}) AS p(nth), (SELECT DISTINCT service FROM dumps) AS s,
          (SELECT list(name ORDER BY nth) AS names FROM names) AS n""")
    size = "CAST(d.scale * 100000000 / (1 + {0}) AS UBIGINT)"
    grown = "CAST(d.scale * 10000000 / (1 + p.nth) * (1 + CASE WHEN p.nth % 100 = 7 THEN d.day ELSE 0 END) AS UBIGINT)"
    rows = {
        "dump": f"""SELECT dump_id, module_id,
            CAST('2026-11-01T00:00:00Z' AS TIMESTAMPTZ) + to_days(CAST(day AS INTEGER)) AS captured_at,
            MAP {{'service': service, 'release': build || '.0', 'machine': machine}} AS labels,
            's3://heaps/dumps/service=' || service || '/' || machine || '/' || day || '.dump' AS source,
            CAST(268435456 AS UBIGINT) AS dump_size, CAST(1 AS UINTEGER) AS schema_version, '0.1.0' AS tool_version, false AS partial,
            {size.format(0)} AS live_size, CAST(268400000 AS UBIGINT) AS heap_size, CAST(0 AS UINTEGER) AS warning_count,
            CAST([] AS VARCHAR[]) AS warning_codes, CAST([] AS VARCHAR[]) AS warning_messages FROM dumps d""",
        "class": f"""SELECT dump_id, name AS class, true AS stable, CAST(d.scale * 100000 / (1 + nth) AS UBIGINT) AS count,
            {size.format("nth")} AS shallow_size, {size.format("nth")} * 2 AS retained_set_size FROM dumps d, names""",
        # A path in a hundred grows, and one in fifty is new in the second build.
        "path": f"""SELECT dump_id, fingerprint, true AS stable, 'global' AS root_kind, substr(path[1], 8) AS root_name, path, class,
            {grown} // 64 AS count, {grown} AS shallow_size FROM dumps d JOIN paths p USING (service) WHERE build > 1 OR p.nth % 50 > 0""",
        "suspect": f"""SELECT dump_id, CAST(p.nth + 1 AS UINTEGER) AS rank, 'object' AS kind, class, CAST(1 AS UBIGINT) AS count,
            {size.format("p.nth")} AS retained_size, 0.5 / (1 + p.nth) AS share, path[2] AS owner,
            [{{'class': class, 'count': CAST(1000 AS UBIGINT), 'retained_size': {size.format("p.nth")}}}] AS accumulated,
            fingerprint, true AS stable, path, path[2] AS cut, {size.format("p.nth")} AS freed_by_cutting
            FROM dumps d JOIN paths p USING (service) WHERE p.nth < {SUSPECTS}""",
        "waste": f"""SELECT dump_id, ['duplicate-strings', 'array-capacity', 'entries', 'padding'][1 + nth % 4] AS kind, name AS class,
            false AS rest, CAST(d.scale * 1000 AS UBIGINT) AS count, {size.format("nth")} // 100 AS savings,
            [{{'holder': name || '.field', 'count': CAST(1000 AS UBIGINT), 'savings': {size.format("nth")} // 100}}] AS holders
            FROM dumps d, names WHERE nth < {WASTE}""",
    }
    for table, sql in rows.items():
        empty = f"SELECT * EXCLUDE (date, module) FROM read_parquet('{template}/{table}/*/*/*.parquet', hive_partitioning = true) LIMIT 0"
        connection.execute(f"""
            COPY (
              SELECT r.*, DATE '2026-11-01' + CAST(d.day AS INTEGER) AS date, 'sha256-' || substr(d.module_id, 1, 12) AS module
              FROM (({empty}) UNION ALL BY NAME ({sql})) r JOIN dumps d USING (dump_id) ORDER BY date, module, dump_id
            ) TO '{folder}/{table}' (FORMAT parquet, PARTITION_BY (date, module))""")


def split(large, small):
    """One file for each dump and table, as the analyzer writes them."""
    for table in query.TABLES:
        for file in glob.glob(f"{large}/{table}/*/*/*.parquet"):
            rows = pyarrow.parquet.ParquetFile(file).read()
            folder = os.path.dirname(file).replace(large, small, 1)
            os.makedirs(folder, exist_ok=True)
            ids = rows.column("dump_id").to_pylist()
            start = 0
            while start < len(ids):
                end = start
                while end < len(ids) and ids[end] == ids[start]:
                    end += 1
                name = os.path.join(folder, f"{ids[start]}.parquet")
                pyarrow.parquet.write_table(rows.slice(start, end - start), name, store_schema=False)
                start = end


def with_duckdb(tables):
    connection = query.duckdb_connection(tables)
    connection.execute(query.parameters(SINCE, "2.0"))
    return lambda sql: connection.execute(sql).fetchall()


def with_spark(tables):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false").config("spark.driver.memory", "4g")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    session = builder.config("spark.sql.shuffle.partitions", "8").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    query.spark_session(session, tables).sql(query.parameters(SINCE, "2.0"))
    return lambda sql: session.sql(sql).collect()


def ask(engine, connect):
    started = time.monotonic()
    run = connect()
    print(f"  {engine}: {time.monotonic() - started:.1f} s to find the files", flush=True)
    answers = {}
    for name in sorted(name[: -len(".sql")] for name in os.listdir(query.QUERIES)):
        started = time.monotonic()
        rows = run(query.statement(name))
        print(f"    {name:<18} {time.monotonic() - started:>7.2f} s {len(rows):>8,} rows", flush=True)
        answers[name] = sorted(str(list(row)) for row in rows)
    return answers


def disk(folder):
    return sum(os.path.getsize(file) for file in glob.glob(f"{folder}/**/*", recursive=True) if os.path.isfile(file))


def size_text(size):
    for unit in ("B", "KB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.2f} GB"


if __name__ == "__main__":
    main()
