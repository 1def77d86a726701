/**
 * The form of an invariant: what no request of a kind may get. Its `when` is read as the filters of a `drop` rule, so hosts,
 * paths, addresses, countries and conditions mean what they mean in rules. In: any value. Out: an invariant, or all mistakes.
 */
import { type FieldPath, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { isObject } from '../../base/text/json-object.ts';
import { MAX_INVARIANTS, MAX_LIST_ENTRIES } from '../../base/vocabulary/limits.ts';
import { ACTIONS, type Action, BOT_KINDS } from '../../base/vocabulary/vocabulary.ts';
import type { StoredRule } from './common.ts';
import { plainCopy } from './form.ts';
import {
  asTexts,
  type ConditionWords,
  conditionsOf,
  LIST_WORDS,
  placeInWords,
  type ReadFilter,
  VALUE_WORDS,
} from './invariant-conditions.ts';
import { IDENTITY_WORDS, type IdentityWords, readIdentityWords } from './invariant-identity.ts';
import { nearest } from './nearest.ts';
import { type Parsed, parseRule } from './parse.ts';
import { createReport, type Problem, type Report, unknownField } from './report.ts';
import type { DropRule } from './types.ts';

/** Visitors by what kind of bot they are. */
export interface BotEntry {
  /** `null`: no bot; `*`: any. */
  readonly kind: string | null;
  /** `null`: verified or not. */
  readonly verified: boolean | null;
}

/** What no request of a kind may get. */
export interface Invariant {
  readonly name: string;
  /** `never forward`, `always block or challenge`. */
  readonly claim: string;
  /** The outcomes that break it. */
  readonly never: readonly Action[];
  /** The requests that are meant, as the filters of a rule. */
  readonly when: StoredRule<DropRule>;
  /** The bots that are meant; `null`: any visitor. */
  readonly bots: { readonly listed: readonly BotEntry[]; readonly excludes: boolean } | null;
  /** The credentials that are meant; `null`: any, and none. */
  readonly identity: IdentityWords | null;
}

/** Fields of an invariant. */
export const INVARIANT_FIELDS = ['name', 'when', 'never', 'always'] as const;
/** Fields of `when`. */
export const WHEN_FIELDS = [
  ...(['host', 'path', 'ip', 'country', 'bot'] as const),
  ...LIST_WORDS,
  ...VALUE_WORDS,
  ...IDENTITY_WORDS,
] as const;
/** Fields of a filter that is a mapping. */
export const FILTER_FIELDS = ['in', 'not'] as const;

/** Fields of the rule that the filters are read as, by the fields of `when`. */
const LISTS: Readonly<Record<string, readonly [string, string]>> = {
  host_includes: ['host', 'in'],
  host_excludes: ['host', 'not'],
  path_includes: ['path', 'in'],
  path_excludes: ['path', 'not'],
};

/** Reads a list of invariants, whose names must differ. */
export function parseInvariants(input: unknown): Parsed<'invariants', readonly Invariant[]> {
  const report = createReport();
  const plain = plainCopy(input);
  const list = plain?.value;
  if (!Array.isArray(list)) {
    report.add('error', [], { code: 'invalid_type', message: 'must be a list', found: quoteValue(list) });
    return { ok: false, diagnostics: report.diagnostics() };
  }
  if (list.length > MAX_INVARIANTS) {
    const message = `must have at most ${MAX_INVARIANTS} entries`;
    report.add('error', [], { code: 'too_many', message, found: String(list.length) });
    return { ok: false, diagnostics: report.diagnostics() };
  }
  const names = new Set<string>();
  const invariants = list.flatMap((entry: unknown, index) => {
    const invariant = readInvariant(entry, [index], report);
    if (invariant === null) return [];
    if (names.has(invariant.name)) {
      const problem = { message: 'is the name of an earlier invariant', found: quoteValue(invariant.name) };
      report.add('error', [index, 'name'], { code: 'duplicate_name', ...problem });
    }
    names.add(invariant.name);
    return [invariant];
  });
  const diagnostics = report.diagnostics();
  return report.errors() > 0 ? { ok: false, diagnostics } : { ok: true, invariants, diagnostics };
}

function readInvariant(input: unknown, path: FieldPath, report: Report): Invariant | null {
  if (!isObject(input)) {
    const message = 'must be a mapping with `name`, `when`, and `never` or `always`';
    report.add('error', path, { code: 'invalid_type', message, found: quoteValue(input) });
    return null;
  }
  const errors = report.errors();
  refuseUnknown(input, INVARIANT_FIELDS, path, report);
  const name = readName(input['name'], path, report);
  const claim = readClaim(input, path, report);
  const when = readWhen(input['when'] ?? {}, [...path, 'when'], report);
  if (name === null || claim === null || when === null || report.errors() > errors) return null;
  return { name, ...claim, ...when };
}

function refuseUnknown(
  input: Readonly<Record<string, unknown>>,
  known: readonly string[],
  path: FieldPath,
  report: Report,
): void {
  for (const [name, value] of Object.entries(input)) {
    if (!known.includes(name))
      report.add('error', [...path, name], unknownField({ name, value, known }).problem);
  }
}

/** The longest name. */
const MAX_NAME = 200;

function readName(input: unknown, path: FieldPath, report: Report): string | null {
  if (typeof input === 'string' && input.trim() !== '' && input.length <= MAX_NAME) return input;
  const problem: Problem =
    input === undefined
      ? { code: 'missing_field', message: 'is missing', remedy: 'describe what must hold' }
      : {
          code: 'invalid_text',
          message: `must be a text of 1 to ${MAX_NAME} characters`,
          found: quoteValue(input),
        };
  report.add('error', [...path, 'name'], problem);
  return null;
}

/** Reads `never` or `always`: one outcome or several. */
function readClaim(
  input: Readonly<Record<string, unknown>>,
  path: FieldPath,
  report: Report,
): Pick<Invariant, 'claim' | 'never'> | null {
  const [never, always] = [input['never'], input['always']];
  if ((never === undefined) === (always === undefined)) {
    const isMissing = never === undefined;
    const message = `must have \`never\` or \`always\`${isMissing ? '' : ', not both'}`;
    const remedy = 'write for example `never: forward`, or `always: [block, challenge]`';
    report.add('error', path, { code: isMissing ? 'missing_field' : 'invalid_value', message, remedy });
    return null;
  }
  const field = never === undefined ? 'always' : 'never';
  const given = never ?? always;
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const actions: Action[] = [];
  list.forEach((one, index) => {
    const action = ACTIONS.find((known) => known === one);
    const at = [...path, field, ...(Array.isArray(given) ? [index] : [])];
    if (action !== undefined) actions.push(action);
    else report.add('error', at, notAmong(one, ACTIONS));
  });
  if (list.length === 0) report.add('error', [...path, field], notAmong(undefined, ACTIONS));
  const listed = ACTIONS.filter((action) => actions.includes(action));
  const others = ACTIONS.filter((action) => !actions.includes(action));
  if (listed.length !== actions.length || listed.length === 0) return null;
  return { claim: `${field} ${listed.join(' or ')}`, never: field === 'never' ? listed : others };
}

function notAmong(value: unknown, known: readonly string[]): Problem {
  const message = `must be one of ${known.map((one) => `\`${one}\``).join(', ')}`;
  const meant = typeof value === 'string' ? nearest(value, known) : null;
  return {
    code: value === undefined ? 'missing_field' : 'invalid_value',
    message,
    found: value === undefined ? null : quoteValue(value),
    ...(meant === null ? {} : { remedy: `did you mean \`${meant}\`?` }),
  };
}

function readWhen(
  input: unknown,
  path: FieldPath,
  report: Report,
): Pick<Invariant, 'when' | 'bots' | 'identity'> | null {
  if (!isObject(input)) {
    const message = `must be a mapping with ${WHEN_FIELDS.map((name) => `\`${name}\``).join(', ')}`;
    report.add('error', path, { code: 'invalid_type', message, found: quoteValue(input) });
    return null;
  }
  refuseUnknown(input, WHEN_FIELDS, path, report);
  const read = (name: (typeof WHEN_FIELDS)[number]): ReadFilter | null =>
    Object.hasOwn(input, name)
      ? readFilter(name === 'asn' ? asTexts(input[name]) : input[name], [...path, name], report)
      : null;
  const filters = { host: read('host'), path: read('path'), ip: read('ip'), country: read('country') };
  const bots = readBots(read('bot'), report);
  const identity = readIdentityWords({ consumer: read('consumer'), scope: read('scope') }, report);
  const words: ConditionWords = {
    ...{ method: read('method'), scheme: read('scheme'), asn: read('asn'), user_agent: read('user_agent') },
    ...{ header: input['header'], query: input['query'], cookie: input['cookie'] },
  };
  const parsed = parseRule('drop', { ...ruleFields(filters, report), conditions: conditionsOf(words) });
  for (const { severity, path: field, ...problem } of parsed.diagnostics) {
    const [first, ...rest] = field;
    const at =
      first === 'conditions' ? [...path, ...placeInWords(rest, words)] : placeOf(field, filters, path);
    report.add(severity, at, problem);
  }
  if (!parsed.ok) return null;
  return { when: parsed.fields as StoredRule<DropRule>, bots, identity };
}

type Filters = Readonly<Record<'host' | 'path' | 'ip' | 'country', ReadFilter | null>>;

/** The fields of a rule whose filters are those of `when`. It is in dry run, so that it may be without any filter. */
function ruleFields({ host, path, ip, country }: Filters, report: Report): object {
  for (const filter of [ip, country]) refuseBoth(filter, report);
  const hosts = { host_includes: host?.wanted ?? [], host_excludes: host?.unwanted ?? [] };
  const includes = path?.wanted ?? null;
  return {
    action_mode: 'dry_run',
    ...hosts,
    ...(host === null ? {} : { host_match_type: 'wildcard' }),
    ...(includes === null ? {} : { path_includes: includes }),
    path_excludes: path?.unwanted ?? [],
    ...listFields('ip_match_type', 'ips', ip),
    ...listFields('country_match_type', 'countries', country),
  };
}

function listFields(matchType: string, name: string, filter: ReadFilter | null): object {
  if (filter === null) return {};
  const isExclude = filter.unwanted !== null;
  return { [matchType]: isExclude ? 'exclude' : 'include', [name]: filter.unwanted ?? filter.wanted };
}

function refuseBoth(filter: ReadFilter | null, report: Report): void {
  if (filter === null || filter.wanted === null || filter.unwanted === null) return;
  const message = 'must have `in` or `not`, not both';
  report.add('error', filter.path, { code: 'invalid_value', message, remedy: 'write two invariants' });
}

/** The place in `when` of a field of the rule. */
function placeOf([field, ...rest]: FieldPath, filters: Filters, path: FieldPath): FieldPath {
  const [name, list] =
    field === 'ips'
      ? ['ip', null]
      : field === 'countries'
        ? ['country', null]
        : (LISTS[String(field)] ?? [null, null]);
  const filter = name === null ? null : filters[name as keyof Filters];
  if (filter === null) return name === null ? path : [...path, name];
  const key = list ?? (filter.unwanted === null ? 'in' : 'not');
  const { given } = filter;
  const entries = isObject(given) ? given[key] : given;
  return [...filter.path, ...(isObject(given) ? [key] : []), ...(Array.isArray(entries) ? rest : [])];
}

/** Reads a text, a list of texts, or `{ in, not }`. */
function readFilter(input: unknown, path: FieldPath, report: Report): ReadFilter | null {
  if (!isObject(input)) {
    const wanted = readTexts(input, path, report);
    return wanted === null ? null : { path, wanted, unwanted: null, given: input };
  }
  refuseUnknown(input, FILTER_FIELDS, path, report);
  const [wanted, unwanted] = FILTER_FIELDS.map((name) =>
    Object.hasOwn(input, name) ? readTexts(input[name], [...path, name], report) : null,
  );
  if (wanted === null && unwanted === null) {
    const remedy = 'write a text, a list of texts, or `{ not: … }`';
    report.add('error', path, { code: 'empty_value', message: 'must list something', remedy });
    return null;
  }
  return { path, wanted: wanted!, unwanted: unwanted!, given: input };
}

function readTexts(input: unknown, path: FieldPath, report: Report): readonly string[] | null {
  const list: readonly unknown[] = Array.isArray(input) ? input : [input];
  const wrong = list.find((one) => typeof one !== 'string');
  if (list.length > 0 && wrong === undefined && list.length <= MAX_LIST_ENTRIES)
    return list as readonly string[];
  const message = `must be a text or a list of 1 to ${MAX_LIST_ENTRIES} texts`;
  report.add('error', path, { code: 'invalid_type', message, found: quoteValue(input) });
  return null;
}

/** What `bot` may name beside kinds. */
const NO_BOT = 'none';
const ANY_BOT = '*';

function readBots(filter: ReadFilter | null, report: Report): Invariant['bots'] {
  if (filter === null) return null;
  refuseBoth(filter, report);
  const listed: BotEntry[] = [];
  for (const entry of filter.unwanted ?? filter.wanted ?? []) {
    const [kind = '', state] = entry.split(':', 2);
    const isKnown = kind === ANY_BOT || BOT_KINDS.some((known) => known === kind);
    const isState = state === undefined || state === 'verified' || state === 'unverified';
    if (entry === NO_BOT) listed.push({ kind: null, verified: null });
    else if (isKnown && isState)
      listed.push({ kind, verified: state === undefined ? null : state === 'verified' });
    else report.add('error', filter.path, unknownBot(entry, kind));
  }
  return { listed, excludes: filter.unwanted !== null };
}

function unknownBot(entry: string, kind: string): Problem {
  const known = [NO_BOT, ANY_BOT, ...BOT_KINDS];
  const meant = nearest(kind, known);
  return {
    code: 'unknown_bot',
    message: 'must be a kind of bot, alone or with `:verified` or `:unverified`, `*` for any, or `none`',
    found: quoteValue(entry),
    remedy:
      meant === null || meant === kind ? 'write for example `googlebot:verified`' : `write \`${meant}\``,
  };
}
