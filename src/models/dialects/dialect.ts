// What a dialect is: the wire format of a provider, with everything special about it in one file.
import type { Clock, ModelClient, Variables } from "../../core/index.ts";
import type { HabitRule } from "../habit-rule.ts";
import type { Dispatchers } from "../http.ts";
import type { CallSettings, ResolvedModel } from "../resolved.ts";

export type DialectDeps = {
  dispatchers: Dispatchers;
  clock: Clock;
  /** for credentials other than a key; everything else is in the resolved model */
  env: Variables;
  /** a setting is not sent, or not as it is written */
  onNote?: (text: string) => void;
  /** the run's name, for headers that tell it */
  run?: string;
  /** seconds that an answer may pause once it has begun */
  idleSeconds?: number;
};

export type Dialect = {
  name: string;
  /** how its models are told to think, before the rules by provider and name */
  habits?: HabitRule[];
  /** secrets in the environment besides the model's own key */
  secrets?(env: Variables): string[];
  /** A client for the model's first base URL: one call to one endpoint, without waits and retries. */
  createClient(model: ResolvedModel, settings: CallSettings, deps: DialectDeps): ModelClient;
};
