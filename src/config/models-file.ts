// The user's models.yml: the named file, else the one in its usual place.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../core/index.ts";
import { type Registry, registryFileSchema } from "../models/index.ts";
import { readYaml } from "./read-yaml.ts";

const USUAL_FILE = join("configs", "models.yml");

/** The file that is read if none is named, where it exists. */
export function usualModelsFile(): string | undefined {
  return existsSync(USUAL_FILE) ? USUAL_FILE : undefined;
}

export function readModelsFile(file: string | undefined): Registry {
  if (file !== undefined) return readYaml(file, registryFileSchema).models;
  const usual = usualModelsFile();
  try {
    return usual ? readYaml(usual, registryFileSchema).models : {};
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(
      `${error.reason}\n${USUAL_FILE} is read because no other models file is named (--models-config, models_config_file)`,
      error.location,
    );
  }
}
