/** The secrets of clearance cookies: decoded, compared, and read from JSON. */
import { randomBytes } from 'node:crypto';
import { isObject } from '../../base/text/json-object.ts';
import type { Clearance, PreviousManifestSecret } from '../../engine/plan/manifest.ts';
import type { Secrets } from '../answers/challenge/keys.ts';
import { MAX_PREVIOUS_SECRETS, SECRET_OCTETS } from './limits.ts';

/** Decoded secrets by their source object, so that keys are derived from them only once. */
const decoded = new WeakMap<Clearance, Secrets>();

/** The decoded secrets; the same result object for the same argument. */
export function secretsOf(clearance: Clearance): Secrets {
  let secrets = decoded.get(clearance);
  if (secrets === undefined) {
    const octets = (text: string): Buffer => Buffer.from(text, 'base64');
    const previous = clearance.previous.map(({ secret, until }) => ({ secret: octets(secret), until }));
    secrets = { current: octets(clearance.current), previous };
    decoded.set(clearance, secrets);
  }
  return secrets;
}

/** A random secret, for a node that has received none from a control plane. */
export function randomClearance(): Clearance {
  return { current: randomBytes(SECRET_OCTETS).toString('base64'), previous: [] };
}

/** Whether two clearances sign and accept the same cookies from `now` (milliseconds since the epoch) on. */
export function isSameClearance(a: Clearance | null, b: Clearance | null, now: number): boolean {
  if (a === null || b === null) return a === b;
  return textOf(a, now) === textOf(b, now);
}

function textOf({ current, previous }: Clearance, now: number): string {
  const accepted = previous.filter(({ until }) => now < until);
  return JSON.stringify([current, ...accepted.map(({ secret, until }) => [secret, until])]);
}

/** Checks a parsed JSON value; `null`: it is no clearance, or has more than `MAX_PREVIOUS_SECRETS` old secrets. */
export function readClearance(value: unknown): Clearance | null {
  if (!isObject(value) || !isSecret(value['current']) || !Array.isArray(value['previous'])) return null;
  const { current, previous } = value as unknown as Clearance;
  if (previous.length > MAX_PREVIOUS_SECRETS || !previous.every(isPrevious)) return null;
  return { current, previous: previous.map(({ secret, until }) => ({ secret, until })) };
}

function isPrevious(value: PreviousManifestSecret): boolean {
  return isObject(value) && isSecret(value.secret) && Number.isSafeInteger(value.until);
}

function isSecret(value: unknown): boolean {
  return typeof value === 'string' && Buffer.from(value, 'base64').length === SECRET_OCTETS;
}
