// From a party's model name to something that answers requests in a given rollout.
import type { ModelClient } from "../core/index.ts";
import { createScriptedClient, parseScriptedName, type Script } from "../models/index.ts";
import type { PartySpec } from "./spec.ts";

/** A model as one dataset uses it. Scripted models get each rollout's script; real ones are shared by all rollouts. */
export type ClientSource = { id: string; scripted: boolean; open(script: Script | undefined): ModelClient };

export type CreateNetworkClient = (party: PartySpec) => ModelClient;

export function createClientSource(party: PartySpec, createNetworkClient: CreateNetworkClient): ClientSource {
  if (party.model.startsWith("scripted/")) {
    parseScriptedName(party.model); // a wrong name or knob is found before anything runs
    return { id: party.model, scripted: true, open: (script) => createScriptedClient(party.model, () => script) };
  }
  const client = createNetworkClient(party);
  return { id: client.id, scripted: false, open: () => client };
}
