// Exported functions as tools: npx rollout multi … --tools examples/tools/units.ts

const METRES = { metre: 1, kilometre: 1000, mile: 1609.344, foot: 0.3048 };

/**
 * Converts a length from one unit to another.
 * @param value - how many of the first unit
 */
export function convertLength(
  value: number,
  from: "metre" | "kilometre" | "mile" | "foot",
  to: "metre" | "kilometre" | "mile" | "foot",
) {
  return { value: (value * METRES[from]) / METRES[to], unit: to };
}
