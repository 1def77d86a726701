/**
 * Checks the arguments of the package's functions, which plain JavaScript may pass in any form. A wrong one is a mistake
 * of the program, so it is thrown, with the argument's name and what was expected.
 */
import { describeKind } from './diagnostic.ts';

/** What values an option accepts. */
export interface OptionKind {
  /** Completes the sentence `must be …`. */
  readonly what: string;
  readonly is: (value: unknown) => boolean;
  /** Of lists: the kind of their entries. */
  readonly of?: OptionKind;
  /** Of objects: what is wrong with a field, as a whole sentence; `null`: nothing. */
  readonly fault?: (value: unknown) => string | null;
}

/** The kind of each option. */
export type OptionKinds<Options> = Readonly<Record<keyof Options, OptionKind>>;

/** A Uint8Array. Not by `instanceof`, which fails for arrays of another realm. */
export const OCTETS: OptionKind = { what: 'a Uint8Array', is: (value) => tagOf(value) === 'Uint8Array' };
/** A boolean. */
export const FLAG: OptionKind = { what: '`true` or `false`', is: (value) => typeof value === 'boolean' };
/** A function. */
export const FUNCTION: OptionKind = { what: 'a function', is: (value) => typeof value === 'function' };

/** Whether a value is an object, and each of `names` one of its functions. */
export function hasFunctions(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Readonly<Record<string, unknown>>;
  return names.every((name) => typeof fields[name] === 'function');
}

/**
 * Refuses options of a wrong kind and unknown names; `undefined` counts as absent.
 * @param taker the function that takes the options
 * @throws TypeError naming the option
 */
export function checkOptions<Options extends object>(
  taker: string,
  options: Options,
  kinds: OptionKinds<Options>,
): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`${taker} takes an object of options, found ${describeArgument(options)}`);
  }
  const known: Readonly<Record<string, OptionKind>> = kinds;
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(known, name)) {
      throw new TypeError(`${taker} has no option \`${name}\`; it has ${Object.keys(known).join(', ')}`);
    }
    if (value === undefined) continue;
    const fault = optionFault(name, value, known[name]!);
    if (fault !== null) throw new TypeError(fault);
  }
}

function optionFault(name: string, value: unknown, { what, is, of, fault }: OptionKind): string | null {
  if (!is(value)) return `\`${name}\` must be ${what}, found ${describeArgument(value)}`;
  const entries: readonly unknown[] = of !== undefined && Array.isArray(value) ? value : [];
  const at = entries.findIndex((entry) => of?.is(entry) === false);
  if (at >= 0) return `\`${name}\` must be ${what}, found ${describeArgument(entries[at])} in it`;
  return fault?.(value) ?? null;
}

/** Names of built-in classes that are often passed by mistake. */
const NAMED = ['Uint8Array', 'ArrayBuffer', 'DataView', 'Promise', 'Map', 'Set'];

/** The kind of an argument: as `describeKind`, with the name of some built-in classes. */
export function describeArgument(value: unknown): string {
  const tag = tagOf(value);
  if (!NAMED.includes(tag)) return describeKind(value);
  return `${/^[AU]r/.test(tag) ? 'an' : 'a'} ${tag}`;
}

function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

/**
 * A binary argument as a Uint8Array; an ArrayBuffer is viewed, not copied.
 * @param wanted names the argument and what was expected, up to `, found …` @param remedy how to make it
 * @throws TypeError when it is neither
 */
export function octetsOf(value: unknown, wanted: string, remedy: string): Uint8Array {
  if (OCTETS.is(value)) return value as Uint8Array;
  if (tagOf(value) === 'ArrayBuffer') return new Uint8Array(value as ArrayBuffer);
  throw new TypeError(`${wanted}, found ${describeArgument(value)}; ${remedy}`);
}
