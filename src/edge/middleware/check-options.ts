/**
 * The options of `createEdge` on every platform: their kinds, which plain JavaScript may pass in any form, the check of
 * a plan, sealed signatures, and the secret of clearance cookies.
 */
import {
  describeArgument,
  FUNCTION,
  OCTETS,
  type OptionKind,
  octetsOf,
} from '../../base/diagnostics/options.ts';
import { createCounters, loadPlan, type WafProgram } from '../../engine/evaluator/index.ts';
import { selfTest } from '../../engine/evaluator/self-test.ts';
import { PlanFault } from '../../engine/plan/layout.ts';
import { openSignatures } from '../../engine/plan/open-signatures.ts';
import { loadSignatures as loadProgram } from '../../engine/waf/load/load.ts';
import type { Secrets } from '../answers/challenge/keys.ts';

export const TEXT: OptionKind = { what: 'a string', is: (value) => typeof value === 'string' };
export const TEXTS: OptionKind = { what: 'a list of strings', is: Array.isArray, of: TEXT };
export const PLANS: OptionKind = {
  what: 'a list of sealed plans, each a Uint8Array',
  is: Array.isArray,
  of: OCTETS,
};
export const SIGNATURES: OptionKind = {
  what: 'a sealed signature program, a Uint8Array, or `null`',
  is: (value) => value === null || OCTETS.is(value),
};
export const SECRET: OptionKind = {
  what: 'a string or a Uint8Array',
  is: (value) => TEXT.is(value) || OCTETS.is(value),
};
export const COUNT: OptionKind = {
  what: 'a whole number above 0',
  is: (value) => Number.isSafeInteger(value) && Number(value) > 0,
};

/** The fields of `control`, each with what it is or how to get one; `trust` may be absent. */
const CONTROL_FIELDS: Readonly<Record<string, string>> = {
  url: "give the server's address, http://host:port",
  token: '`edgeplan node-token create NAME` makes one for this process, often put in EDGEPLAN_NODE_TOKEN',
  folder: 'name a folder that only this process uses',
  trust: '`edgeplan node-token create` prints it',
};

/** Fields that are `undefined` count as absent, as options do. */
export const CONTROL: OptionKind = {
  what: 'an object of url, token, folder and perhaps trust, each a string',
  is: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  fault(value) {
    const given = value as Readonly<Record<string, unknown>>;
    const unknown = Object.keys(given).find((name) => !Object.hasOwn(CONTROL_FIELDS, name));
    if (unknown !== undefined) {
      return `\`control\` has no field \`${unknown}\`; it has ${Object.keys(CONTROL_FIELDS).join(', ')}`;
    }
    for (const [name, remedy] of Object.entries(CONTROL_FIELDS)) {
      const field = given[name];
      if (TEXT.is(field) && field !== '') continue;
      if (field === undefined && name === 'trust') continue;
      const found = field === '' ? 'an empty one' : describeArgument(field);
      return `\`control.${name}\` must be a string, found ${found}; ${remedy}`;
    }
    return null;
  },
};

/** The listeners of both kinds of edge. */
export const LISTENERS = { onDecision: FUNCTION, onRefusal: FUNCTION, onFault: FUNCTION } as const;

/** @throws TypeError when the plan is no Uint8Array */
export function checkOctets(plan: unknown): void {
  if (!OCTETS.is(plan))
    throw new TypeError(`a sealed plan is ${OCTETS.what}, found ${describeArgument(plan)}`);
}

/** The identity of a sealed plan. */
export interface InstalledPlan {
  readonly domain: string;
  readonly revision: number;
}

/** Size, in octets, of the rate counters used only to try a plan out; no request of a visitor is counted in them. */
const COUNTER_OCTETS = 65_536;

/**
 * Opens a sealed plan and tries it out on requests made of its own hosts and patterns.
 * @throws PlanFault when the bytes are no plan that this build reads, or one that cannot decide
 */
export function checkPlan(bytes: Uint8Array): InstalledPlan {
  const { domain, revision } = loadPlan(bytes, { counters: createCounters({ maxBytes: COUNTER_OCTETS }) });
  const wrong = selfTest(bytes, { domain, revision });
  if (wrong !== null) throw new PlanFault('layout', wrong);
  return { domain, revision };
}

/** Fewest octets of a secret: 128 bits cannot be guessed. */
const LEAST_OCTETS = 16;
const RANDOM_OCTETS = 32;

/**
 * Secrets for challenges: the given one, or a random one that is created at its first use.
 * @throws RangeError when the given one is shorter than 16 octets
 */
export function createSecrets(given: Uint8Array | string | undefined): () => Secrets {
  let secrets: Secrets | null = null;
  if (given !== undefined) {
    const current = typeof given === 'string' ? new TextEncoder().encode(given) : given.slice();
    if (current.length < LEAST_OCTETS) {
      throw new RangeError(
        `\`secret\` has ${current.length} octets; give at least ${LEAST_OCTETS} random ones`,
      );
    }
    secrets = { current, previous: [] };
  }
  return () => {
    secrets ??= { current: crypto.getRandomValues(new Uint8Array(RANDOM_OCTETS)), previous: [] };
    return secrets;
  };
}

/**
 * Opens a sealed signature program (`edgeplan/starter.bin`, `edgeplan waf compile -o`) for the option `waf` of `loadPlan`.
 * Each paranoia level is compiled at its first inspection. The octets must not change afterwards.
 * @throws PlanFault when the bytes are no signature program that this build reads; TypeError when they are no bytes
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { loadPlan } from 'edgeplan/evaluator';
 * import { loadSignatures } from 'edgeplan/fetch';
 *
 * const starter = new URL(import.meta.resolve('edgeplan/starter.bin'));
 * const waf = loadSignatures(await readFile(starter));
 * const evaluator = loadPlan(await readFile('edge.edgeplan'), { waf });
 * console.log(evaluator.domain);
 * ```
 */
export function loadSignatures(bytes: Uint8Array | ArrayBuffer): WafProgram {
  const wanted = 'loadSignatures takes a sealed signature program, a Uint8Array or an ArrayBuffer';
  const remedy = 'read `edgeplan/starter.bin`, or a file of `edgeplan waf compile -o`';
  return loadProgram(openSignatures(octetsOf(bytes, wanted, remedy)));
}
