// From a run on this machine to what is sent of it. Nothing is expanded: `${NAME}` goes as it is written, and each worker
// fills it from its own environment.
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { ResolvedRun } from "../../config/index.ts";
import {
  createRedactor,
  findKeyKind,
  isKeyLike,
  isSecretName,
  isWorthHiding,
  type Json,
  readVariable,
  UsageError,
  type Variables,
} from "../../core/index.ts";
import { BUNDLED_PATH } from "../../domains/index.ts";
import { fileName } from "../../files/index.ts";
import { BUNDLED, type BundleFile, type PackedRun, RUN } from "./bundle.ts";
import { CodeFiles, isCode } from "./code-files.ts";
import { addDataset } from "./dataset-files.ts";
import { FileSet, isWithin, settlePath } from "./file-set.ts";
import { createSecretSearch, hashFile, readPieces } from "./hash-files.ts";
import { nameVariables } from "./name-variables.ts";
import { replacePaths } from "./run-paths.ts";
import { listParties, sentConfig, sentDataset, sentRegistry } from "./sent-settings.ts";
import { findLaunch, type SentLaunch } from "./server-files.ts";

/** Throws a UsageError for what cannot be sent: a secret that is written out, a link that leads elsewhere, `record`. */
export async function packRun(run: ResolvedRun, env: Variables): Promise<PackedRun> {
  const parties = listParties(run);
  const config = sentConfig(run.config);
  const registry = sentRegistry(run.registry, parties);
  const variables = nameVariables({ ...run, registry }, parties, env);
  const notes = new Set<string>();
  const base = process.cwd();
  const files = new FileSet(listOwn(run));
  const code = new CodeFiles(files);
  const datasets = run.datasets.map((spec) => replacePaths(sentDataset(spec), settlePath));
  const launches = datasets.map(({ mcpServers = {} }) => {
    const options = { files, code, base, note: (text: string) => void notes.add(text) };
    return Object.entries(mcpServers).map(([name, server]) => [name, findLaunch(name, server, options)] as const);
  });
  const named = namedQueries(run).map(settlePath);
  for (const spec of datasets) addDataset(spec, named, { files, code, base });
  if (config.replay !== undefined) addCassettes(config.replay, run, files);

  const pathOf = createPaths([...files.files.keys()]);
  const reference = (path: string) => ({ $file: pathOf(path) });
  const spec = {
    config: { ...config, ...(config.replay !== undefined && { replay: reference(config.replay) }) },
    lasting: run.lasting,
    folder: basename(resolve(run.folder)),
    python: config.python && /[/\\]/.test(config.python) ? resolve(config.python) : undefined,
    datasets: datasets.map((dataset, index) => ({
      ...replacePaths(dataset, reference),
      ...(dataset.mcpServers && { mcpServers: withLaunches(dataset.mcpServers, launches[index] ?? [], pathOf) }),
    })),
    registry,
    judge: run.judge,
    summary: run.summary,
  };
  const secrets = listSecrets(env, variables.secret);
  const text = JSON.stringify(spec);
  const told = secrets.find(([, value]) => createRedactor([value])(text) !== text);
  if (told)
    throw new UsageError(
      `The value of ${told[0]} is written out in the run's settings or prompts, and secrets are not sent to workers: write \${${told[0]}} there`,
    );
  const { list, sources } = await hashAll(files, pathOf, secrets);
  return {
    name: basename(resolve(run.folder)),
    spec: JSON.parse(text) as Json,
    files: list,
    needs: [...variables.needs].sort(),
    notes: [...notes, ...variables.notes],
    read: (hash) => readChecked(sources.get(hash), hash),
  };
}

/** Never sent by the way: outputs, and files of settings, in which keys may stand. */
function listOwn({ folder, datasets, config, sources = [] }: ResolvedRun): string[] {
  const outputs = datasets.flatMap(({ output }) => output ?? []);
  const { checkpoint_dir, log_file } = config;
  return [folder, ...outputs, ...sources, ...[checkpoint_dir, log_file].filter((path) => path !== undefined)];
}

function namedQueries({ config: { datasets } }: ResolvedRun): string[] {
  if (!datasets || Array.isArray(datasets)) return [];
  return Object.values(datasets).flatMap((dataset) => dataset?.path ?? []);
}

function addCassettes(folder: string, { datasets }: ResolvedRun, files: FileSet): void {
  files.allow(folder);
  for (const { name } of datasets) files.add(join(folder, `${fileName(name)}.jsonl`));
}

/** Files keep their places to each other; the last folder that all are in keeps its name, too. */
function createPaths(paths: readonly string[]): (path: string) => string {
  const own = paths.filter((path) => !isWithin(path, BUNDLED_PATH));
  let shared = dirname(own[0] ?? "/");
  while (!own.every((path) => isWithin(path, shared))) shared = dirname(shared);
  const from = dirname(shared);
  return (path) => {
    const absolute = resolve(path);
    const isOurs = isWithin(absolute, BUNDLED_PATH);
    const way = relative(isOurs ? BUNDLED_PATH : from, absolute);
    return [isOurs ? BUNDLED : RUN, ...way.split(sep)].filter((part) => part !== "").join("/");
  };
}

type Launches = readonly (readonly [name: string, launch: SentLaunch | undefined])[];

function withLaunches(servers: object, launches: Launches, pathOf: (path: string) => string): object {
  const found = new Map(launches);
  const place = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(place);
    if (typeof value !== "object" || value === null) return value;
    if ("$file" in value) return { ...value, $file: pathOf(String(value.$file)) };
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, place(member)]));
  };
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]: [string, object]) => {
      const launch = found.get(name);
      return [name, launch ? { ...server, here: place(launch) } : server];
    }),
  );
}

type Secret = [name: string, value: string];

/** What this machine knows as secret: no setting and no file that is sent may hold it. */
function listSecrets(env: Variables, used: ReadonlySet<string>): Secret[] {
  return Object.keys(env).flatMap((name): Secret[] => {
    const value = readVariable(name, env) ?? "";
    const isSecret = isKeyLike(value) ? isSecretName(name) || used.has(name) : used.has(name) && value.length >= 8;
    return isSecret && isWorthHiding(value) ? [[name, value]] : [];
  });
}

type Hashed = { list: BundleFile[]; sources: Map<string, string> };

async function hashAll(files: FileSet, pathOf: (path: string) => string, secrets: Secret[]): Promise<Hashed> {
  const redact = createRedactor(secrets.map(([, value]) => value));
  const list: BundleFile[] = [];
  const sources = new Map<string, string>();
  for (const [path, { source, isSwept }] of [...files.files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const finder = createSecretSearch(redact);
    const { mode, size } = await stat(source);
    let kind: string | undefined;
    const hash = await hashFile(source, (piece) => {
      finder.search(piece);
      if (isSwept || isCode(path)) kind ??= findKeyKind(piece.toString("latin1"));
    });
    if (kind)
      throw new UsageError(
        `holds what looks like ${kind}, and secrets are not sent to workers: put it into a variable, or take the file out of what the run uses`,
        { file: path },
      );
    if (finder.isFound())
      throw new UsageError("holds the value of a variable that is secret, and secrets are not sent to workers", {
        file: path,
      });
    list.push({ path: pathOf(path), hash, mode: mode & 0o111 ? 0o555 : 0o444, size });
    sources.set(hash, source);
  }
  return { list, sources };
}

async function* readChecked(file: string | undefined, hash: string): AsyncGenerator<Uint8Array> {
  if (file === undefined) throw new Error(`no file of this run has the hash ${hash}`);
  const read = createHash("sha256");
  for await (const piece of readPieces(file)) {
    read.update(piece);
    yield piece;
  }
  if (read.digest("hex") !== hash)
    throw new UsageError("was changed while it was being sent: give the command again", { file });
}
