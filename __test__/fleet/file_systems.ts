/** File systems that are not local paths: an object storage as a process, and one of Hadoop's. */
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { freePort, PYTHON } from "./cluster.ts";

/** A server that speaks the protocol of S3, with one bucket. */
export interface ObjectStorage {
  url: string;
  bucket: string;
  /** How clients find it. */
  environment: Record<string, string>;
  put(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  stop(): void;
}

/** Starts the server of `moto`. */
export async function startObjectStorage(): Promise<ObjectStorage> {
  const port = `${await freePort()}`;
  const program = join(dirname(PYTHON), "moto_server");
  const server = spawn(program, ["-H", "127.0.0.1", "-p", port], { stdio: "ignore" });
  const [url, bucket] = [`http://127.0.0.1:${port}`, "heaps"];
  const put = async (path: string, body?: Uint8Array<ArrayBuffer>) => {
    const { ok, status } = await fetch(`${url}/${path}`, { method: "PUT", body });
    if (!ok) throw new Error(`PUT ${path}: ${status}`);
  };
  for (let tries = 0; ; tries++) {
    try {
      await put(bucket);
      break;
    } catch (error) {
      if (tries === 300) throw error;
      await setTimeout(100);
    }
  }
  const environment = {
    AWS_ENDPOINT_URL: url,
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_REGION: "us-east-1",
  };
  return {
    url,
    bucket,
    environment,
    put: (key, bytes) => put(`${bucket}/${key}`, bytes),
    stop: () => void server.kill("SIGKILL"),
  };
}

/**
 * A file system `viewfs://cluster/data` that shows a folder, and the command `hadoop` from the libraries of Spark:
 * pyarrow does not know it here, and Spark does. Returns what programs need in their environment.
 */
export function hadoopFileSystem(at: string, shown: string): Record<string, string> {
  mkdirSync(join(at, "conf"), { recursive: true });
  mkdirSync(join(at, "bin"), { recursive: true });
  mkdirSync(shown, { recursive: true });
  const property = (name: string, value: string) =>
    `<property><name>${name}</name><value>${value}</value></property>`;
  const link = property("fs.viewfs.mounttable.cluster.link./data", `file://${shown}`);
  writeFileSync(join(at, "conf/core-site.xml"), `<configuration>${link}</configuration>`);
  const command = join(at, "bin/hadoop");
  const shell = '"$SPARK_HOME/bin/spark-class" org.apache.hadoop.fs.FsShell';
  writeFileSync(command, `#!/bin/sh\nshift\nexec ${shell} "$@"\n`);
  chmodSync(command, 0o755);
  return { HADOOP_CONF_DIR: join(at, "conf"), PATH: `${join(at, "bin")}:${process.env.PATH}` };
}
