// Tools that the server runs only as tasks (protocol 2025-11-25): the call returns a task, whose result is then awaited
// under the same limits as any other call's.
import type { CallToolResult, Client, RequestOptions } from "@modelcontextprotocol/client";
import { z } from "zod";

const createdSchema = z.looseObject({ task: z.looseObject({ taskId: z.string() }) });
const resultSchema = z.looseObject({ content: z.array(z.looseObject({ type: z.string() })).default([]) });

export async function callAsTask(
  client: Client,
  params: { name: string; arguments: Record<string, unknown>; _meta?: Record<string, unknown> },
  options: RequestOptions,
): Promise<CallToolResult> {
  const created = await client.request(
    { method: "tools/call", params: { ...params, task: {} } },
    createdSchema,
    options,
  );
  const { taskId } = created.task;
  try {
    const result = await client.request({ method: "tasks/result", params: { taskId } }, resultSchema, options);
    return result as unknown as CallToolResult;
  } catch (error) {
    // the server need not finish a task that is no longer awaited; an error here adds nothing to the first
    await client
      .request({ method: "tasks/cancel", params: { taskId } }, z.looseObject({}), { timeout: 1000 })
      .catch(() => {});
    throw error;
  }
}
