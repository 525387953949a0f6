export { openTelemetry, type Telemetry, type TelemetryOptions } from "./open-telemetry.ts";
