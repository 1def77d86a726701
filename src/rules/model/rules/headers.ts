/** The form of `headers` rules, which change the header fields that the origin or the visitor gets (semantics §14). */
import { z } from 'zod';
import {
  MAX_HEADER_NAMES,
  MAX_HEADER_VALUE_CHARACTERS,
  MAX_HEADERS_CHARACTERS,
} from '../../../base/vocabulary/limits.ts';
import {
  HEADER_OPS,
  HEADER_SIDES,
  type HeaderOp,
  type HeaderSide,
} from '../../../base/vocabulary/vocabulary.ts';
import { pathRule, type RuleOf } from '../common.ts';
import { checked, list, shownAs, text } from '../fields.ts';
import { type CrossCheck, crossCheck, type FormScope, type Stored } from '../form.ts';
import { judgeHeaderName, judgeHeaderValue } from '../header-values.ts';

/** Values by name. Names are checked across the fields (`names`), where it is known which message they are of. */
function values(): z.ZodType<Record<string, string>> {
  const read = z.record(z.string(), checked(text(MAX_HEADER_VALUE_CHARACTERS), judgeHeaderValue));
  return shownAs(read, () =>
    z
      .record(z.string().describe('name of the header'), text(MAX_HEADER_VALUE_CHARACTERS))
      .meta({ maxProperties: MAX_HEADER_NAMES }),
  );
}

const VALUES =
  'values by name. `${client_ip}`, `${client_country}`, `${host}`, `${scheme}`, `${method}`, `${request_id}`, `${ja4}`, `${bot_kind}` and `${tag(<rule>)}` insert facts of the request, `$$` is a literal `$`';

/** The fields of one message. */
export const CHANGES = {
  set: values()
    .optional()
    .describe(
      `fields that replace those of the same name: ${VALUES}; a value with an unknown fact removes the field`,
    )
    .meta({ examples: [{ 'Strict-Transport-Security': 'max-age=31536000' }] }),
  add: values()
    .optional()
    .describe(
      'fields that are added to those of the same name: values as of `set`; one with an unknown fact adds nothing',
    )
    .meta({ examples: [{ Link: '</style.css>; rel=preload; as=style' }] }),
  remove: list(text(), MAX_HEADER_NAMES)
    .optional()
    .describe('names of fields to remove')
    .meta({ examples: [['X-Powered-By']] }),
};

/** What a rule does to the fields of a message, as it is stored; absent parts do nothing. */
export type MessageChanges = Stored<typeof CHANGES>;

/** The fields that only this type has. */
const FIELDS = {
  request: z
    .strictObject(CHANGES)
    .optional()
    .describe('changes of the request that the origin gets; the key of the cache stays the same')
    .meta({ examples: [{ set: { 'X-Client-IP': '${client_ip}' }, remove: ['Cookie'] }] }),
  response: z
    .strictObject(CHANGES)
    .optional()
    .describe(
      'changes of the response that the visitor gets, from the origin, the cache or the edge itself; caches of the edge store the response without them',
    )
    .meta({ examples: [{ set: { 'Strict-Transport-Security': 'max-age=31536000' } }] }),
};

/** The own fields as the checks read them. */
interface OwnValues {
  readonly request?: MessageChanges | undefined;
  readonly response?: MessageChanges | undefined;
}

/** One name of a rule: what is done with it, its place in the rule, and the value. */
export interface HeaderEntry {
  readonly side: HeaderSide;
  readonly op: HeaderOp;
  readonly name: string;
  /** `null` under `remove`. */
  readonly value: string | null;
  /** Its path below the rule. */
  readonly path: readonly (string | number)[];
}

/** All names of a rule, those of the request first, in the order in which the rule acts. */
export function headerEntries(rule: OwnValues): readonly HeaderEntry[] {
  return HEADER_SIDES.flatMap((side) => HEADER_OPS.flatMap((op) => entriesOf(rule, side, op)));
}

function entriesOf(rule: OwnValues, side: HeaderSide, op: HeaderOp): readonly HeaderEntry[] {
  const changes = rule[side];
  if (op === 'remove') {
    return (changes?.remove ?? []).map((name, index) => ({
      side,
      op,
      name,
      value: null,
      path: [side, op, index],
    }));
  }
  return Object.entries(changes?.[op] ?? {}).map(([name, value]) => ({
    ...{ side, op, name, value },
    path: [side, op, name],
  }));
}

/** Checks each name, and that none is named twice for one message. */
const names: CrossCheck = {
  // As written: a record leaves out the name `__proto__`.
  asWritten: true,
  ...crossCheck<OwnValues>(['request', 'response'], (own, scope) => {
    const entries = headerEntries(own);
    if (entries.length > MAX_HEADER_NAMES) {
      const message = `must name at most ${MAX_HEADER_NAMES} headers in \`request\` and \`response\` together`;
      scope.error([], { code: 'too_many', message, found: String(entries.length), remedy: SPLIT });
    } else checkChanges(entries, scope);
  }),
};

/** Checks each name of a rule, that none is named twice for one message, and the size of all. */
export function checkChanges(entries: readonly HeaderEntry[], scope: FormScope): void {
  const seen = new Set<string>();
  for (const entry of entries) checkName(entry, seen, scope);
  checkSize(entries, scope);
}

const SPLIT = 'divide the rule into several, which all apply';

function checkName({ side, op, name, path }: HeaderEntry, seen: Set<string>, scope: FormScope): void {
  const problem = judgeHeaderName(name, { side, op });
  if (problem !== null) scope.error(path, problem);
  const place = `${side} ${name.toLowerCase()}`;
  if (seen.has(place)) {
    const message = `is named twice in \`${side}\``;
    const remedy = 'name it once in `set`, `add` or `remove`';
    scope.error(path, { code: 'doubled_header', message, found: `\`${name}\``, remedy });
  }
  seen.add(place);
}

function checkSize(entries: readonly HeaderEntry[], scope: FormScope): void {
  const size = entries.reduce((sum, { name, value }) => sum + name.length + (value?.length ?? 0), 0);
  if (size <= MAX_HEADERS_CHARACTERS) return;
  const message = `must have at most ${MAX_HEADERS_CHARACTERS} characters of names and values`;
  scope.error([], { code: 'too_long', message, found: `${size} characters`, remedy: SPLIT });
}

/** Refuses a rule that changes nothing. */
const effect: CrossCheck = {
  ofAbsence: true,
  ...crossCheck<OwnValues>(['request', 'response'], (own, scope) => {
    if (headerEntries(own).length > 0) return;
    const message = 'this rule changes nothing: neither `request` nor `response` names a header';
    const remedy = 'name one in `set`, `add` or `remove` of `request` or `response`';
    scope.refuse([], { code: 'changes_nothing', message, remedy });
  }),
};

const PARTS = Object.keys(CHANGES);

/** The form of the type. */
export const headersForm = pathRule({
  type: 'headers',
  summary: 'Change headers towards the origin and the visitor',
  example: {
    request: { set: { 'X-Client-Country': '${client_country}' } },
    response: { set: { 'Strict-Transport-Security': 'max-age=31536000' }, remove: ['X-Powered-By'] },
  },
  fields: FIELDS,
  nested: { request: PARTS, response: PARTS },
  checks: [names, effect],
  unused: ({ request, response }) => ({ request: filledOf(request), response: filledOf(response) }),
});

/** The parts that name a header; `undefined` without any. */
function filledOf<Changes extends OwnValues['request']>(changes: Changes): Changes | undefined {
  const filled = Object.entries(changes ?? {}).filter(
    ([, part]) => part !== undefined && Object.keys(part).length > 0,
  );
  return filled.length === 0 ? undefined : (Object.fromEntries(filled) as Changes);
}

/** A stored rule of the type. */
export type HeadersRule = RuleOf<typeof headersForm>;
