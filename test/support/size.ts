/** Sizes of suites: `npm test` runs the usual one, `npm run test:full` the full one (`--mode full`). */

/** Whether this run is `npm run test:full`. */
export const FULL = process.env['EDGEPLAN_TESTS'] === 'full';

/** The size of a suite; the environment variable `name` overrides both. */
export function sizeOf(
  name: string,
  { usual, full }: { readonly usual: number; readonly full: number },
): number {
  const given = process.env[name];
  if (given === undefined) return FULL ? full : usual;
  const size = Number(given);
  if (!Number.isInteger(size) || size < 1) throw new Error(`${name}=${given}: must be a whole number from 1`);
  return size;
}
