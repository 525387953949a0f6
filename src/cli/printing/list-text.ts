// Domains and combinations of a folder, as a list for people.
import { type DomainFiles, openQueryFiles, readToolList } from "../../domains/index.ts";
import { printableName, type Terminal, table } from "./terminal.ts";

export function domainLines(
  terminal: Terminal,
  domains: DomainFiles[],
  options: { verbose: boolean; path: string },
): string[] {
  if (domains.length === 0) return [`Nothing to run in ${options.path}`];
  const rows = domains.map((files) => [
    files.name,
    String(openQueryFiles(files.queryFiles).size),
    String(toolNames(files).length),
    files.policyFile ? "yes" : "no",
    files.missing.join(", ") || "–",
  ]);
  const [header = "", ...lines] = table([["name", "queries", "tools", "policy", "missing"], ...rows], {
    right: [1, 2],
  });
  if (!options.verbose) return [terminal.paint("bold", header), ...lines];
  return [
    `From ${options.path}`,
    terminal.paint("bold", header),
    ...lines,
    ...domains.flatMap((files) => [
      "",
      terminal.paint("bold", printableName(files.name)),
      ...details(files).map(printableName),
    ]),
  ];
}

function details(files: DomainFiles): string[] {
  return [
    `  policy   ${files.policyFile ?? "(none)"}`,
    ...files.queryFiles.map((file) => `  queries  ${file}`),
    ...files.servers.map((server) => `  server   ${files.serverFiles[server] ?? `(none for ${server})`}`),
    ...toolNames(files).map((tool) => `  tool     ${tool}`),
  ];
}

function toolNames(files: DomainFiles): string[] {
  const several = files.servers.length > 1;
  return files.servers.flatMap((server) =>
    files.toolListFiles[server]
      ? readToolList(server, files).map((tool) => (several ? `${server}.${tool.name}` : tool.name))
      : [],
  );
}
