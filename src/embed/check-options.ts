/** Checks the options of `createEdge`, which plain JavaScript may pass in any form, before anything is opened. */
import { describeKind } from '../base/diagnostic.ts';

interface Kind {
  /** Completes the sentence `must be …`. */
  readonly what: string;
  readonly is: (value: unknown) => boolean;
  /** Of lists: the kind of their entries. */
  readonly of?: Kind;
}

export const TEXT: Kind = { what: 'a string', is: (value) => typeof value === 'string' };
export const TEXTS: Kind = { what: 'a list of strings', is: Array.isArray, of: TEXT };
/** Not by `instanceof`, which fails for arrays of another realm. */
export const OCTETS: Kind = {
  what: 'a Uint8Array',
  is: (value) => Object.prototype.toString.call(value) === '[object Uint8Array]',
};
export const PLANS: Kind = {
  what: 'a list of sealed plans, each a Uint8Array',
  is: Array.isArray,
  of: OCTETS,
};
export const SIGNATURES: Kind = {
  what: 'a sealed signature program, a Uint8Array, or `null`',
  is: (value) => value === null || OCTETS.is(value),
};
export const SECRET: Kind = {
  what: 'a string or a Uint8Array',
  is: (value) => TEXT.is(value) || OCTETS.is(value),
};
export const FLAG: Kind = { what: '`true` or `false`', is: (value) => typeof value === 'boolean' };
export const FUNCTION: Kind = { what: 'a function', is: (value) => typeof value === 'function' };
export const COUNT: Kind = {
  what: 'a whole number above 0',
  is: (value) => Number.isSafeInteger(value) && Number(value) > 0,
};

const NEEDED_OF_CONTROL = ['url', 'token', 'folder'];
/** Fields that are `undefined` count as absent, as options do. */
export const CONTROL: Kind = {
  what: `an object of ${NEEDED_OF_CONTROL.join(', ')} and perhaps trust, each a string`,
  is(value) {
    if (typeof value !== 'object' || value === null) return false;
    const given = Object.entries(value).filter(([, field]) => field !== undefined);
    const names = given.map(([name]) => name);
    const known = names.every((name) => name === 'trust' || NEEDED_OF_CONTROL.includes(name));
    const whole = NEEDED_OF_CONTROL.every((name) => names.includes(name));
    return known && whole && given.every(([, field]) => TEXT.is(field));
  },
};

/** The kind of each option. */
export type OptionKinds<Options> = Readonly<Record<keyof Options, Kind>>;

/** The listeners of both kinds of edge. */
export const LISTENERS = { onDecision: FUNCTION, onRefusal: FUNCTION, onFault: FUNCTION } as const;

/**
 * Refuses options of a wrong kind and unknown names; `undefined` counts as absent.
 * @throws TypeError naming the option
 */
export function checkOptions<Options extends object>(options: Options, kinds: OptionKinds<Options>): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`createEdge takes an object of options, found ${describeKind(options)}`);
  }
  const known: Readonly<Record<string, Kind>> = kinds;
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(known, name)) {
      throw new TypeError(`createEdge has no option \`${name}\`; it has ${Object.keys(known).join(', ')}`);
    }
    if (value === undefined) continue;
    const wrong = whatIsWrong(value, known[name]!);
    if (wrong !== null) throw new TypeError(`\`${name}\` must be ${known[name]!.what}, found ${wrong}`);
  }
}

function whatIsWrong(value: unknown, { is, of }: Kind): string | null {
  if (!is(value)) return describeKind(value);
  const entries: readonly unknown[] = of !== undefined && Array.isArray(value) ? value : [];
  const at = entries.findIndex((entry) => of?.is(entry) === false);
  return at < 0 ? null : `${describeKind(entries[at])} in it`;
}

/** @throws TypeError when the plan is no Uint8Array */
export function checkOctets(plan: unknown): void {
  if (!OCTETS.is(plan)) throw new TypeError(`a sealed plan is ${OCTETS.what}, found ${describeKind(plan)}`);
}
