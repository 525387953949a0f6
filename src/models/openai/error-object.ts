// Errors inside an answer that calls itself a success.
import { isObject } from "../../core/index.ts";
import { type FailureContext, failureOfReply, failureOfStatus } from "../failure.ts";

export function failureOfError(context: FailureContext, error: Record<string, unknown>, text: string): Error {
  const status = Number(error.code ?? error.status);
  return status >= 400 && status < 600
    ? failureOfStatus(context, { status, text })
    : failureOfReply(context, "with an error", text);
}

export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
