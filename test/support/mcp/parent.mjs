// Opens an environment on the server given as its arguments, prints the server's folder, and waits to be killed.
import { McpHub } from "../../../src/tools/mcp/hub.ts";

const [command, ...args] = process.argv.slice(2);
const hub = new McpHub({ servers: { it: { command, args } }, variables: process.env, baseFolder: process.cwd() });
const environment = await hub.open();
const folder = await environment.call({ id: "1", name: "folder", arguments: "{}" }, new AbortController().signal);
process.stdout.write(`${folder.content}\n`);
setInterval(() => {}, 1000);
