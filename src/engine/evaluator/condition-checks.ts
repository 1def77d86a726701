/**
 * The checks of a rule's conditions in a trace (semantics §12): one for each term, with what the request has and what the rule
 * lists. Values of headers and cookies are not repeated: they may be credentials, and traces are shown and stored.
 */
import { formatIp } from '../../base/addresses/ip.ts';
import {
  CONDITION_MEMBERS,
  type ConditionMember,
  NONE,
  PATTERN,
  PLACE_BITS,
  TERM,
  type TEST_COMPARISONS,
} from '../plan/layout.ts';
import { addressTexts } from './addresses.ts';
import { type JudgedCheck, judged, listText } from './checks.ts';
import { testEntry, testHolds } from './conditions.ts';
import { type Facts, ipOf } from './facts.ts';
import { refOfSlot, refText } from './identity.ts';
import { type LoadedPlan, textOf } from './loaded.ts';
import type { LoadedConditions, LoadedTest } from './loaded-conditions.ts';
import type { Context } from './run.ts';
import type { CheckName } from './trace.ts';
import { readSource } from './values.ts';

/** The check of each member, and the word for what it reads. */
const MEMBERS: { readonly [M in ConditionMember]: { readonly check: CheckName; readonly word: string } } = {
  methods: { check: 'method', word: 'method' },
  schemes: { check: 'scheme', word: 'scheme' },
  ips: { check: 'ip', word: 'address' },
  countries: { check: 'country', word: 'country' },
  asns: { check: 'asn', word: 'autonomous system' },
  bot_kinds: { check: 'kind', word: 'bot' },
  verified_bot: { check: 'verified', word: 'verified bot' },
  ja4: { check: 'ja4', word: 'JA4' },
  user_agents: { check: 'user_agent', word: 'User-Agent' },
  tags: { check: 'tag', word: 'tag' },
  headers: { check: 'header', word: 'header' },
  query: { check: 'query', word: 'query parameter' },
  cookies: { check: 'cookie', word: 'cookie' },
  except_methods: { check: 'method', word: 'method' },
};

/** One term of a rule. */
interface Stated {
  readonly loaded: LoadedPlan;
  readonly conditions: LoadedConditions;
  readonly facts: Facts;
  readonly member: ConditionMember;
  /** The place in a list of conditions, or 0 for `includes` and 1 for `excludes`. */
  readonly at: number;
  /** Number of the test. */
  readonly number: number;
  readonly negated: boolean;
}

/** The checks of the conditions of the rule in a slot; none if it has no conditions. */
export function conditionChecks({ loaded, facts }: Context, slot: number): readonly JudgedCheck[] {
  const { conditions, plan } = loaded;
  const offset = plan.conditions[slot] ?? NONE;
  if (conditions === null || offset === NONE) return [];
  return Array.from({ length: plan.words[offset]! }, (_, term) => {
    const row = offset + 1 + term * TERM.size;
    const place = plan.words[row + TERM.place]!;
    return checkOf({
      ...{ loaded, conditions, facts },
      member: CONDITION_MEMBERS[place & ((1 << PLACE_BITS) - 1)]!,
      at: place >>> PLACE_BITS,
      number: plan.words[row + TERM.test]!,
      negated: plan.words[row + TERM.negated] === 1,
    });
  });
}

function checkOf(stated: Stated): JudgedCheck {
  const { loaded, conditions, facts, member, number, negated } = stated;
  const holds = testHolds(loaded, conditions, number, facts);
  const pass = holds !== negated;
  const { check } = MEMBERS[member];
  const entry = holds ? entryOf(stated) : 0;
  const field = fieldOf(stated, holds ? entry : null);
  const isUnknown = !holds && isSingleFact(member) && factOf(stated) === null;
  if (isUnknown && !negated) {
    const text = `${unknownText(member)}, so it is in no ${field.list}`;
    return judged(check, null, text, 'condition_unknown', field.entry);
  }
  return judged(
    check,
    pass,
    textOfCheck(stated, { holds, entry, list: field.list }),
    'condition_not_met',
    field.entry,
  );
}

/** The place of the entry that holds. Of kinds of bots with a `*`, that of the kind if it is listed too. */
function entryOf(stated: Stated): number {
  const { loaded, conditions, facts, member, number } = stated;
  if (member !== 'bot_kinds' || conditions.tests[number]!.comparison !== 'any')
    return testEntry(loaded, conditions, number, facts);
  const listed = listedTexts(loaded, conditions.tests[number]!);
  const own = listed.indexOf(factOf(stated) ?? '*');
  return own < 0 ? listed.indexOf('*') : own;
}

/**
 * The list of a term, and the entry that decides, as field paths. `entry`: the place of the one that holds; `null`: none does, and
 * then none of `excludes` decides, the first of others stands for all, and a condition for its values.
 */
function fieldOf(
  { loaded, conditions, member, at, number, negated }: Stated,
  entry: number | null,
): { readonly list: string; readonly entry: string | undefined } {
  switch (member) {
    case 'methods':
    case 'schemes':
    case 'except_methods': {
      const list = `conditions.${member}`;
      return { list, entry: entry === null && negated ? undefined : `${list}[${entry ?? 0}]` };
    }
    case 'verified_bot':
      return { list: 'conditions.verified_bot', entry: 'conditions.verified_bot' };
    case 'headers':
    case 'query':
    case 'cookies': {
      const list = `conditions.${member}[${at}]`;
      const test = conditions.tests[number]!;
      const isOne = entry !== null && test.comparison !== 'any' && listedTexts(loaded, test).length > 1;
      return { list, entry: isOne ? `${list}.values[${entry}]` : list };
    }
    default: {
      const list = `conditions.${member}.${negated ? 'excludes' : 'includes'}`;
      return { list, entry: entry === null && negated ? undefined : `${list}[${entry ?? 0}]` };
    }
  }
}

/** What a request lacks whose fact is unknown. */
function unknownText(member: ConditionMember): string {
  return member === 'bot_kinds' ? 'the visitor is no classified bot' : `${MEMBERS[member].word} is unknown`;
}

/** Members of which a request has one value, or an unknown one. */
function isSingleFact(member: ConditionMember): boolean {
  return !['user_agents', 'tags', 'headers', 'query', 'cookies', 'verified_bot'].includes(member);
}

/** The fact that a test reads, as text; `null`: unknown. */
function factOf({ conditions, facts, number }: Stated): string | null {
  const { source } = conditions.tests[number]!;
  if (source.kind === 'ip') {
    const family = ipOf(facts);
    return family === 0 ? null : formatIp(family as 4 | 6, facts.ipWords);
  }
  readSource(source, facts);
  return source.count === 0 ? null : source.texts[0]!;
}

/** The entries of a test as the customer wrote them. */
function listedTexts(loaded: LoadedPlan, { comparison, data }: LoadedTest): readonly string[] {
  const { words, patterns } = loaded.plan;
  if (comparison === 'addresses') return addressTexts(loaded, data);
  const entries = [...words.subarray(data + 1, data + 1 + words[data]!)];
  if (comparison === 'tagged') {
    return entries.map((slot, place) =>
      slot === NONE
        ? textOf(loaded, words[data + 1 + entries.length + place]!)
        : refText(refOfSlot(loaded, slot)),
    );
  }
  if (comparison === 'any') return entries.map((text) => textOf(loaded, text));
  return entries.map((pattern) => textOf(loaded, patterns[pattern * PATTERN.size + PATTERN.source]!));
}

/** What a check found, in a sentence. */
function textOfCheck(
  stated: Stated,
  { holds, entry, list }: { readonly holds: boolean; readonly entry: number; readonly list: string },
): string {
  const { loaded, conditions, member, number, facts } = stated;
  const { word } = MEMBERS[member];
  const test = conditions.tests[number]!;
  const listed = listedTexts(loaded, test).map((text) => text || '""');
  switch (member) {
    case 'verified_bot':
      return holds ? 'the visitor is a verified bot' : 'the visitor is no verified bot';
    case 'tags':
      return holds
        ? `the request has the tag ${listed[entry]}`
        : `the request has no tag of ${list} ${listText(listed)}`;
    case 'user_agents':
      return holds
        ? `the User-Agent matches ${listed[entry]}`
        : `the User-Agent is not in ${list} ${listText(listed)}`;
    case 'headers':
    case 'query':
    case 'cookies': {
      const { name } = test.source;
      readSource(test.source, facts);
      if (test.comparison === 'any') return `${word} ${name} is ${holds ? 'present' : 'absent'}`;
      if (test.source.count === 0) return `${word} ${name} is absent`;
      const compared = `${COMPARED[test.comparison as keyof typeof COMPARED]}`;
      return holds
        ? `${word} ${name} ${compared} ${listText([listed[entry]!])}`
        : `${word} ${name} has no value that ${compared} ${listText(listed)}`;
    }
    default: {
      const fact = factOf(stated);
      if (fact === null) return `${unknownText(member)}, so it is not in ${list} ${listText(listed)}`;
      // A kind that has no name of its own.
      const named = fact === '' ? `${word} of another kind` : `${word} ${fact}`;
      return `${named} is ${holds ? `in ${list} [${listed[entry]}]` : `not in ${list} ${listText(listed)}`}`;
    }
  }
}

/** Comparisons as verbs. */
const COMPARED = {
  equals: 'equals',
  prefix: 'starts with',
  suffix: 'ends with',
  contains: 'contains',
  wildcard: 'matches',
  regex: 'matches the regex',
} as const satisfies {
  readonly [C in Exclude<(typeof TEST_COMPARISONS)[number], 'any' | 'addresses' | 'tagged'>]: string;
};
