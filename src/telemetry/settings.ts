// Where spans go and what they hold, from the flags and the standard variables.
import { hideLogin, learnUrl, redactText, UsageError, type Variables } from "../core/index.ts";

export type TelemetryOptions = {
  /** where the standard variables (OTEL_…) are read from */
  env: Variables;
  /** true: send spans, to the collector on this machine unless a variable names another; a text: to this address */
  otel?: boolean | string;
  /** put messages, arguments and results into the spans */
  otelContent?: boolean;
  /** one line for people: the collector does not take spans */
  onNotice?: (message: string) => void;
};

export type TelemetrySettings = {
  url: string;
  /** as it may be shown */
  shownUrl: string;
  content: boolean;
  /** what the SDK reads: OTEL_… */
  variables: { [name: string]: string };
};

const HERE = "http://localhost:4318";

export function chooseSettings(options: TelemetryOptions): TelemetrySettings | undefined {
  const { env, otel, otelContent = false, onNotice = () => {} } = options;
  const variables = Object.fromEntries(
    Object.entries(env).flatMap(([name, value = ""]) =>
      /^OTEL_/.test(name) && value.trim() !== "" ? [[name, value]] : [],
    ),
  );
  const from = sourceOf(otel, variables);
  if (!from) {
    if (otelContent)
      throw new UsageError(
        "--otel-content puts messages into spans, but no spans are asked for: add --otel, or set OTEL_EXPORTER_OTLP_ENDPOINT",
      );
    return undefined;
  }
  const off = offSwitch(variables);
  if (off) {
    if (otel) onNotice(`${off} is set: no spans are sent`);
    return undefined;
  }
  const { name, text, isWhole } = from;
  const url = toUrl(text, isWhole);
  if (!url) {
    const problem = `${name} must be an address such as ${HERE}, not ${JSON.stringify(hideLogin(text))}`;
    if (otel) throw new UsageError(problem);
    onNotice(`${problem}: no spans are sent`);
    return undefined;
  }
  learnUrl({ text: url });
  const protocol = variables.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? variables.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol !== undefined && protocol !== "http/protobuf")
    onNotice(`OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}, but spans are sent as http/protobuf (usually to port 4318)`);
  return { url, shownUrl: redactText(hideLogin(url)), content: otelContent, variables };
}

type Source = { name: string; text: string /** the path is complete */; isWhole: boolean };

/** The flag wins; of the variables, the one for traces. */
function sourceOf(otel: boolean | string | undefined, variables: { [name: string]: string }): Source | undefined {
  if (typeof otel === "string") return { name: "--otel", text: otel, isWhole: /\/v1\/traces\/?$/.test(otel) };
  for (const [name, isWhole] of Object.entries(ENDPOINTS)) {
    const text = variables[name];
    if (text !== undefined) return { name, text, isWhole };
  }
  return otel ? { name: "--otel", text: HERE, isWhole: false } : undefined;
}

const ENDPOINTS = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: true, OTEL_EXPORTER_OTLP_ENDPOINT: false };

function offSwitch(variables: { [name: string]: string }): string | undefined {
  if (variables.OTEL_SDK_DISABLED?.toLowerCase() === "true") return "OTEL_SDK_DISABLED=true";
  return variables.OTEL_TRACES_EXPORTER === "none" ? "OTEL_TRACES_EXPORTER=none" : undefined;
}

function toUrl(text: string, isWhole: boolean): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (!isWhole) url.pathname = `${url.pathname.replace(/\/+$/, "")}/v1/traces`;
  return url.href;
}
