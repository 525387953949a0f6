// Runs before each test file: what an earlier one taught this process about its secrets is forgotten.
import { forgetSecrets } from "../../src/core/secrets.ts";

forgetSecrets();
