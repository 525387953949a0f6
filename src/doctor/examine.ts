// Whether a run can work here: the machine, the scripted models through the real loop, and each named model. Keys
// are shown by NAME only.
import { accessSync, constants, existsSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type ResolvedRun, resolveConfig } from "../config/index.ts";
import { type ModelParty, messageOf, type Party, systemClock, UsageError, type Variables } from "../core/index.ts";
import { makeTempFolder } from "../files/index.ts";
import {
  type Finding,
  listProviders,
  type PartyModel,
  probeModel,
  type Registry,
  resolveModel,
} from "../models/index.ts";
import { makeRollouts } from "../runner/index.ts";
import { findPython, pythonEnvironment } from "../tools/index.ts";

export type DoctorOptions = {
  /** models by the role that they are to play */
  models: { agent?: string; user?: string };
  /** whose models and settings are examined too */
  run?: ResolvedRun;
  registry: Registry;
  env: Variables;
  /** the folder that runs go into */
  outputs: string;
  nodeVersion: string;
  python?: string;
  signal: AbortSignal;
};

export type Section = { title: string; kind: "machine" | "model"; findings: Finding[] };

/** Yields each section as soon as it is known. */
export async function* examineAll(options: DoctorOptions): AsyncGenerator<Section, void, void> {
  yield { title: "This machine", kind: "machine", findings: await examineMachine(options) };
  yield { title: "Scripted models", kind: "machine", findings: [await examineScripted(options)] };
  for (const { role, party } of listParties(options)) yield* examineNamed(role, party, options);
}

type Role = ModelParty;
type Examined = { role: Role; party: PartyModel };

/** Those named by flags replace those of the config; what several datasets have alike is examined once. */
function listParties({ models, run }: DoctorOptions): Examined[] {
  const named = (["agent", "user"] as const).flatMap((role): Examined[] => {
    const model = models[role];
    return model === undefined ? [] : [{ role, party: { model, settings: {} } }];
  });
  const written = (run?.datasets ?? []).flatMap(({ agent, user, maxTurns }): Examined[] => [
    { role: "agent", party: agent },
    ...(maxTurns > 1 ? [{ role: "user" as const, party: user }] : []),
  ]);
  const helpers = (["judge", "summary"] as const).flatMap((role): Examined[] => {
    const party = run?.[role];
    return party ? [{ role, party }] : [];
  });
  const parties = written.filter(({ role }) => models[role as Party] === undefined);
  const rest = [...parties, ...helpers];
  const all = [...named, ...rest].sort((a, b) => ROLES.indexOf(a.role) - ROLES.indexOf(b.role));
  return [...new Map(all.map((each) => [keyOf(each), each])).values()];
}

const ROLES: Role[] = ["agent", "user", "judge", "summary"];

function keyOf({ role, party: { model, settings, apiBase, api } }: Examined): string {
  return JSON.stringify([role, model, settings, apiBase, api]);
}

const MIN_NODE = [20, 19] as const;
const MIN_BYTES = 1e9;

async function examineMachine(options: DoctorOptions): Promise<Finding[]> {
  return [
    nodeFinding(options.nodeVersion),
    folderFinding("run folders", options.outputs),
    folderFinding("temporary files", tmpdir()),
    diskFinding(options.outputs),
    await pythonFinding(options),
    keysFinding(options),
  ];
}

function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  const recent = major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]);
  if (!recent) return { level: "bad", text: `Node ${version} is too old: ${MIN_NODE.join(".")} or newer is needed` };
  const advice = major < 24 ? "; Node 24 takes about a third less CPU for each model call" : "";
  return { level: "ok", text: `Node ${version}${advice}` };
}

function folderFinding(what: string, folder: string): Finding {
  const existing = nearestFolder(folder);
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
    return { level: "ok", text: `${what} can be written (${folder})` };
  } catch (error) {
    return { level: "bad", text: `${what} cannot be written: ${messageOf(error)}; choose another with --output-dir` };
  }
}

function diskFinding(folder: string): Finding {
  const { bavail, bsize } = statfsSync(nearestFolder(folder));
  const free = bavail * bsize;
  const text = `${(free / 1e9).toFixed(1)} GB are free for run folders`;
  return free < MIN_BYTES
    ? { level: "odd", text: `only ${text}: 100,000 rollouts take several` }
    : { level: "ok", text };
}

async function pythonFinding({ python, env }: DoctorOptions): Promise<Finding> {
  try {
    return { level: "ok", text: `Python for dropped-in servers: ${await findPython(python, pythonEnvironment(env))}` };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { level: "odd", text: `no Python: ${error.message} Bundled domains and MCP servers need none.` };
  }
}

function keysFinding({ env }: DoctorOptions): Finding {
  const known = listProviders().flatMap(({ keys }) => keys);
  const set = [...new Set(known)].filter((name) => env[name]).sort();
  return { level: "ok", text: set.length === 0 ? "no provider's key is set" : `keys that are set: ${set.join(", ")}` };
}

function nearestFolder(path: string): string {
  const absolute = resolve(path);
  return existsSync(absolute) || dirname(absolute) === absolute ? absolute : nearestFolder(dirname(absolute));
}

/** One rollout of a bundled domain, from plan to record. */
async function examineScripted({ env }: DoctorOptions): Promise<Finding> {
  const temporary = makeTempFolder("doctor");
  const folder = join(temporary, "run");
  try {
    const config = { datasets: ["StudentAcademicPortal"], limit: 1, bundled: true };
    const { finished } = await makeRollouts(resolveConfig(config, { folder }), { env });
    return finished === 1
      ? { level: "ok", text: "a bundled dialogue plays to its end, without key or network" }
      : { level: "bad", text: "a bundled dialogue does not play to its end: the installation is broken" };
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function* examineNamed(
  role: Role,
  party: PartyModel,
  { registry, env, signal }: DoctorOptions,
): AsyncGenerator<Section, void, void> {
  const { model: name } = party;
  const model = resolveModel(name, { registry, env, overrides: party });
  if (model.dialect === "scripted") {
    yield {
      title: `${name} as the ${role}`,
      kind: "machine",
      findings: [{ level: "ok", text: "is scripted: see above" }],
    };
    return;
  }
  const key = model.keyName === undefined ? "no key" : `key ${model.keyName}`;
  for (const { endpoint, findings } of await probeModel(model, role, { env, signal, clock: systemClock, party }))
    yield {
      title: `${name} as the ${role}, at ${endpoint} (${model.dialect} dialect, ${key})`,
      kind: "model",
      findings,
    };
}
