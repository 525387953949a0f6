// From a party's model name to something that answers requests in a given rollout.
import { extend, type ModelClient, type ReasoningSpan } from "../core/index.ts";
import type { PartyModel, ResolvedModel } from "./resolved.ts";
import { createScriptedClient } from "./scripted/clients.ts";
import { parseScriptedName, type Script } from "./scripted/script.ts";
import type { ToolFormat } from "./tool-format/formats.ts";
import { withToolFormat } from "./tool-format/with-tool-format.ts";

/** A model as one dataset uses it. Scripted models get each rollout's script; real ones are shared by all rollouts. */
export type ClientSource = {
  id: string;
  scripted: boolean;
  /** how long its reasoning stays in its own context */
  reasoningSpan: ReasoningSpan;
  /** how its tools, calls and results go over the wire */
  toolFormat: ToolFormat;
  facts: ModelFacts;
  open(script: Script | undefined): ModelClient;
};

/** What is known about a model besides how to call it: for estimates, warnings and spans. */
type ModelFacts = Partial<Pick<ResolvedModel, "prices" | "contextLength" | "unlisted">> & {
  endpoint?: Pick<ResolvedModel, "provider" | "model" | "baseUrls">;
};

export type NetworkClient = ModelClient & {
  reasoningSpan?: ReasoningSpan;
  /** where the party says nothing */
  toolFormat?: ToolFormat;
  facts?: ModelFacts;
};

export type CreateNetworkClient = (party: PartyModel) => NetworkClient;

const NO_CHARGE: ModelFacts = { prices: { input: 0, output: 0 } };

export function createClientSource(party: PartyModel, createNetworkClient: CreateNetworkClient): ClientSource {
  if (party.model.startsWith("scripted/")) {
    parseScriptedName(party.model); // a wrong name or knob is found before anything runs
    const { model: id, toolFormat = "native" } = party;
    const open = (script: Script | undefined) =>
      withToolFormat(
        createScriptedClient(id, () => script),
        toolFormat,
      );
    return { id, scripted: true, reasoningSpan: "turn", toolFormat, facts: NO_CHARGE, open };
  }
  const client = createNetworkClient(party);
  const { id, reasoningSpan = "turn", facts = {} } = client;
  const toolFormat = party.toolFormat ?? client.toolFormat ?? "native";
  const named = withToolFormat(withNamedCost(client), toolFormat);
  return { id, scripted: false, reasoningSpan, toolFormat, facts, open: () => named };
}

/** A cost that is not known says whose it is. */
function withNamedCost(client: ModelClient): ModelClient {
  return {
    id: client.id,
    async complete(request, signal) {
      const reply = await client.complete(request, signal);
      if (reply.usage.costUsd !== null || reply.usage.costUnknownOf) return reply;
      return { ...reply, usage: extend(reply.usage, { costUnknownOf: [client.id] }) };
    },
  };
}
