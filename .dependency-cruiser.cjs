// The arrows of the house: a room imports only rooms to its left, and only through their index.ts; tests may import any file.
const order = require("./scripts/rooms.json");

const arrows = order.flatMap((level, index) =>
  level.map((room) => ({
    name: `arrows-of-${room}`,
    comment: `${room} may import only itself and rooms to its left`,
    severity: "error",
    from: { path: `^src/${room}/`, pathNot: "\\.test\\.ts$" },
    to: {
      path: "^src/",
      pathNot: [
        `^src/${room}/`,
        ...order
          .slice(0, index)
          .flat()
          .map((left) => `^src/${left}/index\\.ts$`),
      ],
    },
  })),
);

module.exports = {
  forbidden: [
    ...arrows,
    {
      name: "no-circular",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "vendor-sdks",
      comment: "only models and tools meet vendor SDKs",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/(models|tools)/"] },
      to: { path: "node_modules/(undici|@ai-sdk|@modelcontextprotocol|openai|ajv)" },
    },
    {
      name: "opentelemetry",
      comment: "only telemetry meets OpenTelemetry's SDK",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/telemetry/"] },
      to: { path: "node_modules/@opentelemetry" },
    },
    {
      name: "database",
      comment: "only queue meets the database",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/queue/"] },
      to: { path: "node_modules/(pg|pg-boss)/" },
    },
    {
      name: "no-development-packages",
      severity: "error",
      from: { path: "^src/", pathNot: "\\.test\\.ts$" },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"] },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^src/domains/(bundled|starter)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      extensions: [".ts", ".js", ".json"],
      exportsFields: ["exports"],
      conditionNames: ["import", "default"],
    },
  },
};
