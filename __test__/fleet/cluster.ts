/** Apache Spark as separate processes on this machine: a master, workers, and jobs. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";

const ROOT = resolve(import.meta.dirname, "../..");
export const EXAMPLE = join(ROOT, "examples/fleet");
const VENV = join(ROOT, "build/fleet/venv");
export const PYTHON = join(VENV, "bin/python");
/** What the example needs, and what else reads its tables in tests. */
const REQUIREMENTS = [EXAMPLE, import.meta.dirname].flatMap((folder) => [
  "-r",
  join(folder, "requirements.txt"),
]);

/** Installs the engines from the registry, unless they are there. */
export function installEngines(): void {
  if (!existsSync(PYTHON)) execFileSync("python3", ["-m", "venv", VENV]);
  execFileSync(PYTHON, ["-m", "pip", "install", "--quiet", ...REQUIREMENTS], { stdio: "inherit" });
}

/** What Spark's programs need to know. */
export function sparkEnvironment(): NodeJS.ProcessEnv {
  const code = "import pyspark; print(pyspark.__path__[0])";
  const home = execFileSync(PYTHON, ["-c", code], { encoding: "utf8" }).trim();
  return {
    ...process.env,
    SPARK_HOME: home,
    SPARK_LOCAL_IP: "127.0.0.1",
    PYSPARK_PYTHON: PYTHON,
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

export class Cluster {
  readonly #folder: string;
  readonly #environment: NodeJS.ProcessEnv;
  #url = "";
  #processes: ChildProcess[] = [];
  #workers: ChildProcess[] = [];

  /** `environment` is what its programs find in their environment besides. */
  constructor(folder: string, environment: NodeJS.ProcessEnv = {}) {
    this.#folder = folder;
    this.#environment = { ...sparkEnvironment(), ...environment };
    mkdirSync(folder, { recursive: true });
  }

  /** Starts a process with a group of its own, so that its children end with it. */
  #start(name: string, program: string, args: string[]): ChildProcess {
    const log = openSync(join(this.#folder, `${name}.log`), "w");
    const started = spawn(join(this.#environment.SPARK_HOME as string, "bin", program), args, {
      env: this.#environment,
      stdio: ["ignore", log, log],
      detached: true,
    });
    this.#processes.push(started);
    return started;
  }

  async start(workers: number): Promise<void> {
    const [port, pages] = [await freePort(), await freePort()];
    this.#url = `spark://127.0.0.1:${port}`;
    const address = ["--host", "127.0.0.1", "--port", `${port}`, "--webui-port", `${pages}`];
    this.#start("master", "spark-class", ["org.apache.spark.deploy.master.Master", ...address]);
    await this.#logged("master", "I have been elected leader");
    for (let nth = 0; nth < workers; nth++) {
      const limits = ["--cores", "1", "--memory", "1g", "--webui-port", `${await freePort()}`];
      const folder = ["--work-dir", join(this.#folder, `worker-${nth}`), "--host", "127.0.0.1"];
      const worker = ["org.apache.spark.deploy.worker.Worker", ...limits, ...folder, this.#url];
      this.#workers.push(this.#start(`worker-${nth}`, "spark-class", worker));
      await this.#logged(`worker-${nth}`, "Successfully registered with master");
    }
  }

  /** Runs the job, and returns the report that it prints at its end, if it prints one. */
  async run(...args: string[]): Promise<{ status: number; report: Report | undefined }> {
    const settings = [
      "spark.ui.enabled=false",
      "spark.executor.memory=512m",
      "spark.driver.host=127.0.0.1",
      "spark.sql.shuffle.partitions=4",
    ];
    const job = this.#start("job", "spark-submit", [
      "--master",
      this.#url,
      ...settings.flatMap((setting) => ["--conf", setting]),
      "--py-files",
      join(EXAMPLE, "storage.py"),
      join(EXAMPLE, "fleet.py"),
      ...args,
    ]);
    const status = await new Promise<number>((done) =>
      job.once("exit", (code) => done(code ?? -1)),
    );
    const lines = this.#log("job").split("\n");
    const report = lines.findLast((line) => line.startsWith('{"listed"'));
    return { status, report: report === undefined ? undefined : JSON.parse(report) };
  }

  /** Kills a worker and all that it runs. */
  killWorker(nth: number): void {
    kill(this.#workers[nth] as ChildProcess);
  }

  /** Whether the master has noticed that it lost a worker. */
  hasLostWorker(): boolean {
    return /Removing worker|Got disassociated|disassociated, removing it/.test(this.#log("master"));
  }

  #log(name: string): string {
    return readFileSync(join(this.#folder, `${name}.log`), "utf8");
  }

  async #logged(name: string, text: string): Promise<void> {
    for (let tries = 0; tries < 600; tries++) {
      if (this.#log(name).includes(text)) return;
      await setTimeout(100);
    }
    throw new Error(`${name} did not start:\n${this.#log(name).slice(-3000)}`);
  }

  stop(): void {
    for (const started of this.#processes) kill(started);
  }
}

export interface Report {
  listed: number;
  analyzed: number;
  failed: { dump: string; problem: string }[];
}

function kill({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid as number), "SIGKILL");
  } catch {
    // It has ended.
  }
}
