// From a party's model name to something that answers requests in a given rollout.
import type { ModelClient } from "../core/index.ts";
import type { ReasoningSpan } from "../dialogue/index.ts";
import { createScriptedClient, parseScriptedName, type Script } from "../models/index.ts";
import type { PartySpec } from "./spec.ts";

/** A model as one dataset uses it. Scripted models get each rollout's script; real ones are shared by all rollouts. */
export type ClientSource = {
  id: string;
  scripted: boolean;
  /** how long its reasoning stays in its own context */
  reasoningSpan: ReasoningSpan;
  open(script: Script | undefined): ModelClient;
};

export type CreateNetworkClient = (party: PartySpec) => ModelClient & { reasoningSpan?: ReasoningSpan };

export function createClientSource(party: PartySpec, createNetworkClient: CreateNetworkClient): ClientSource {
  if (party.model.startsWith("scripted/")) {
    parseScriptedName(party.model); // a wrong name or knob is found before anything runs
    const open = (script: Script | undefined) => createScriptedClient(party.model, () => script);
    return { id: party.model, scripted: true, reasoningSpan: "turn", open };
  }
  const client = createNetworkClient(party);
  return { id: client.id, scripted: false, reasoningSpan: client.reasoningSpan ?? "turn", open: () => client };
}
