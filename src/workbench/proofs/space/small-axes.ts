/** The axes over small sets: countries, bots, fingerprints, statuses of responses. */
import { COUNTRIES as ASSIGNED } from '../../../base/addresses/countries.ts';
import { BOT_KINDS, SEARCH_CRAWLERS } from '../../../base/vocabulary/vocabulary.ts';
import { type LoadedPlan, textsAt } from '../../../engine/evaluator/loaded.ts';
import { isCountryListed } from '../../../engine/evaluator/predicates.ts';
import { COUNTRIES, FLAG, NONE, PAGE_FIELDS, SLOT, typeIndex } from '../../../engine/plan/layout.ts';
import { type AtomSet, atomSet, subtract } from './int-set.ts';

/** An axis whose atoms are few. */
export interface SmallAxis<Sample> {
  readonly all: AtomSet;
  /** The atoms that a slot's filter accepts; `null`: it has no filter on this axis. */
  setOf(loaded: LoadedPlan, slot: number): AtomSet | null;
  sample(atom: number): Sample;
}

const row = (slot: number): number => slot * SLOT.size;
const flagsOf = ({ plan }: LoadedPlan, slot: number): number => plan.slots[row(slot) + SLOT.flags]!;
const typeOf = (loaded: LoadedPlan, slot: number): number => flagsOf(loaded, slot) & FLAG.type;

/** `XX`, which means unknown. */
const UNKNOWN_CODE = 23 * 26 + 23;

/** Countries: one atom a code, the last for an unknown country. */
export function countryAxis(): SmallAxis<string | null> & { numberOf(code: string): number } {
  const all = subtract(Int32Array.of(0, COUNTRIES + 1), Int32Array.of(UNKNOWN_CODE, UNKNOWN_CODE + 1));
  const codeOf = (atom: number): string => String.fromCharCode(65 + Math.floor(atom / 26), 65 + (atom % 26));
  return {
    all,
    setOf(loaded, slot) {
      const at = loaded.plan.slots[row(slot) + SLOT.countries]!;
      if (at === NONE) return null;
      const listed = atomSet(
        [...Array(COUNTRIES).keys()].filter((code) => isCountryListed(loaded, at, code)),
      );
      const excludes = (flagsOf(loaded, slot) & FLAG.excludeCountries) !== 0;
      return excludes ? subtract(all, listed) : listed;
    },
    sample: (atom) => (atom === COUNTRIES ? null : codeOf(atom)),
    numberOf: (code) => (code.charCodeAt(0) - 65) * 26 + code.charCodeAt(1) - 65,
  };
}

/** Whether a country code is assigned; witnesses prefer those. */
export function isAssigned(code: string | null): boolean {
  return code !== null && ASSIGNED.has(code);
}

/** A bot as the evaluator takes it. */
export interface BotSample {
  readonly kind: string;
  readonly verified: boolean;
}

const BOT_ROUTE = typeIndex('bot_route');
const FINGERPRINT = typeIndex('fingerprint');
const ERROR_PAGE = typeIndex('error_page');

/** Bots: atom 0 for no bot, then each kind unverified and verified. Kinds beyond the named ones are one. */
export function botAxis(): SmallAxis<BotSample | null> & {
  readonly crawlers: AtomSet;
  kindSet(kind: string): AtomSet;
} {
  const kinds: readonly string[] = [...BOT_KINDS, 'other-bot'];
  const all = Int32Array.of(0, 1 + kinds.length * 2);
  const crawlers = atomSet(SEARCH_CRAWLERS.map((kind) => 2 + kinds.indexOf(kind) * 2));
  return {
    all,
    crawlers,
    kindSet: (kind) => {
      const place = kinds.indexOf(kind);
      return kind === '*' ? Int32Array.of(1, all[1]!) : Int32Array.of(1 + place * 2, 3 + place * 2);
    },
    setOf(loaded, slot) {
      const at = loaded.plan.slots[row(slot) + SLOT.kinds]!;
      if (at === NONE || typeOf(loaded, slot) !== BOT_ROUTE) return null;
      const mask = loaded.plan.words[at]!;
      const verifiedOnly = (flagsOf(loaded, slot) & FLAG.requireVerified) !== 0;
      const any = (mask & (1 << BOT_KINDS.length)) !== 0;
      return atomSet(
        kinds.flatMap((_, kind) => {
          if (!any && (mask & (1 << kind)) === 0) return [];
          return verifiedOnly ? [2 + kind * 2] : [1 + kind * 2, 2 + kind * 2];
        }),
      );
    },
    sample: (atom) => (atom === 0 ? null : { kind: kinds[(atom - 1) >> 1]!, verified: (atom - 1) % 2 === 1 }),
  };
}

/** The entries of one fingerprint list of a slot. */
function fingerprintEntries(loaded: LoadedPlan, slot: number, which: 'ja4' | 'ja4h'): readonly string[] {
  const at = loaded.plan.slots[row(slot) + SLOT.kinds]!;
  if (at === NONE || typeOf(loaded, slot) !== FINGERPRINT) return [];
  const second = at + 1 + loaded.plan.words[at]!;
  return textsAt(loaded, which === 'ja4' ? at : second);
}

/** A character that ends the sample of a prefix, so that it is no longer entry. */
const FILLER = '0';

/**
 * Fingerprints: atom 0 for none, 1 for one that no entry names, then one for each exact entry and one for the texts whose
 * longest listed prefix is a given one.
 */
export function fingerprintAxis(
  plans: readonly LoadedPlan[],
  which: 'ja4' | 'ja4h',
): SmallAxis<string | null> {
  const entries = new Set<string>();
  for (const loaded of plans) {
    for (let slot = 0; slot < loaded.plan.slots.length / SLOT.size; slot++) {
      for (const entry of fingerprintEntries(loaded, slot, which)) entries.add(entry);
    }
  }
  const exact = [...entries].filter((entry) => !entry.endsWith('*'));
  const prefixes = [...entries].filter((entry) => entry.endsWith('*')).map((entry) => entry.slice(0, -1));
  const samples: (string | null)[] = [null, unlisted('none', { exact, prefixes }, ''), ...exact];
  for (const prefix of prefixes) samples.push(unlisted(prefix, { exact, prefixes }, prefix));
  const matches = (entry: string, text: string): boolean =>
    entry.endsWith('*') ? text.startsWith(entry.slice(0, -1)) : text === entry;
  return {
    all: Int32Array.of(0, samples.length),
    setOf(loaded, slot) {
      const listed = fingerprintEntries(loaded, slot, which);
      if (listed.length === 0) return null;
      return atomSet(
        [...samples.keys()].filter((atom) => {
          const sample = samples[atom]!;
          return sample !== null && listed.some((entry) => matches(entry, sample));
        }),
      );
    },
    sample: (atom) => samples[atom]!,
  };
}

/** A text that starts with `start`, is no exact entry, and has no listed prefix longer than `prefix`. */
function unlisted(
  start: string,
  { exact, prefixes }: { readonly exact: readonly string[]; readonly prefixes: readonly string[] },
  prefix: string,
): string {
  const isFree = (text: string): boolean =>
    !exact.includes(text) &&
    !prefixes.some((other) => other.length > prefix.length && text.startsWith(other));
  let text = start;
  // Each listed entry excludes at most one of these texts, or all that follow it; another filler leaves those.
  for (let tried = 0; !isFree(text) && tried <= exact.length + prefixes.length; tried++) {
    text = `${start}${FILLER.repeat((tried % 4) + 1)}${tried}`;
  }
  return text;
}

/** Statuses of responses: those that an error_page rule of a plan lists, and one that none lists. */
export function statusAxis(plans: readonly LoadedPlan[]): SmallAxis<number> {
  const codesOf = (loaded: LoadedPlan, slot: number): Uint32Array => {
    const codes = loaded.plan.slots[row(slot) + SLOT.fields]! + PAGE_FIELDS.codes;
    return loaded.plan.words.subarray(codes, codes + loaded.plan.words[codes - 1]!);
  };
  const listed = new Set<number>();
  for (const loaded of plans) {
    for (let slot = 0; slot < loaded.plan.slots.length / SLOT.size; slot++) {
      if (typeOf(loaded, slot) === ERROR_PAGE) for (const code of codesOf(loaded, slot)) listed.add(code);
    }
  }
  const codes = [...listed].sort((a, b) => a - b);
  let other = 400;
  while (listed.has(other)) other++;
  const samples = [...codes, other];
  return {
    all: Int32Array.of(0, samples.length),
    setOf: (loaded, slot) =>
      typeOf(loaded, slot) === ERROR_PAGE
        ? atomSet([...codesOf(loaded, slot)].map((code) => samples.indexOf(code)))
        : null,
    sample: (atom) => samples[atom]!,
  };
}
