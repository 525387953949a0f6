// Writes configs/rollout.schema.json, which gives editors completion: npx tsx scripts/make-schema.ts
import { writeFileSync } from "node:fs";
import { configJsonSchema } from "../src/config/index.ts";

const file = new URL("../configs/rollout.schema.json", import.meta.url);
writeFileSync(file, `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
