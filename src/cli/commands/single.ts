import { configureFor } from "./batch.ts";

export const configure = configureFor("single");
