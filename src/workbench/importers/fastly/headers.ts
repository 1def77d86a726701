/** Header objects of a Fastly service, as rules of type headers. */
import type { HeaderOp, HeaderSide } from '../../../base/vocabulary/vocabulary.ts';
import { addRule, type DraftEntry, type ImportDraft, markDifference } from '../draft.ts';
import { type ImportedFact, valueFact } from '../facts.ts';
import { bothFilters, EVERY_REQUEST, type ImportedFilter, ruleFields } from '../filter.ts';
import { headerFields, literalValue } from '../header-changes.ts';
import { numberAt, objectsAt, type SourceFields, textAt } from '../json-source.ts';

/** Operations by action. */
const OPERATIONS: ReadonlyMap<string, HeaderOp> = new Map([
  ['set', 'set'],
  ['append', 'add'],
  ['delete', 'remove'],
]);

/** The field of the condition of an object. */
export function headerCondition(one: SourceFields): string {
  return textAt(one, 'type') === 'response' ? 'response_condition' : 'request_condition';
}

/** Adds the rule of an object for the requests of a filter; a text is the reason why it cannot. */
export function addHeader(
  draft: ImportDraft,
  { one, entry }: { readonly one: SourceFields; readonly entry: DraftEntry },
  filter: ImportedFilter,
): string | null {
  const type = textAt(one, 'type');
  if (type !== 'request' && type !== 'response')
    return `a change of type \`${type}\` is one of the stored response, which no rule changes`;
  const side: HeaderSide = type;
  const action = textAt(one, 'action');
  const op = OPERATIONS.get(action);
  if (op === undefined) return `the action \`${action}\` has no equivalent`;
  const [, name] = /^http\.([\w-]+)$/.exec(textAt(one, 'dst')) ?? [];
  if (name === undefined) return `\`${textAt(one, 'dst')}\` is no header`;
  const value = op === 'remove' ? '' : templateOf(textAt(one, 'src'));
  if (value === null) return `the value \`${textAt(one, 'src')}\` has no equivalent`;
  const isUnlessSet = op === 'set' && numberAt(one, 'ignore_if_set') === 1;
  if (isUnlessSet && side === 'response')
    return 'no rule sets a header only where the response has none of it';
  const absent: readonly ImportedFact[] = isUnlessSet ? [valueFact('headers', name, { op: 'absent' })] : [];
  const own = bothFilters(filter, { ...EVERY_REQUEST, facts: absent });
  if (own === null || typeof own === 'string') return own ?? 'no request meets its condition';
  const { fields, refused } = headerFields([{ side, op, name, value }]);
  if (fields === null) return refused[0]!;
  if (!addRule(draft, entry, 'headers', { ...ruleFields(own), ...fields })) return null;
  if (action === 'append')
    markDifference(entry, 'the edge adds a field of the name; Fastly appends to the value of the first');
  if (value.includes('${client_country}'))
    markDifference(entry, 'the header is left out where the country is unknown');
  return null;
}

/** Variables of VCL that are variables of rules, in lower case. */
const VARIABLES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'client.ip': '${client_ip}',
    'req.http.fastly-client-ip': '${client_ip}',
    'client.geo.country_code': '${client_country}',
    'req.http.host': '${host}',
    'req.request': '${method}',
    'req.method': '${method}',
    'req.protocol': '${scheme}',
    'tls.client.ja4': '${ja4}',
  }),
);

/** Literal texts and variables side by side; `null`: the source has other parts, or escapes. */
function templateOf(source: string): string | null {
  const parts: string[] = [];
  const piece = /\s*(?:"([^"%]*)"|\{"([^"]*)"\}|([A-Za-z][\w.-]*))\s*/y;
  while (piece.lastIndex < source.length) {
    const match = piece.exec(source);
    if (match === null) return null;
    const text = match[1] ?? match[2];
    const part = text === undefined ? VARIABLES.get(match[3]!.toLowerCase()) : literalValue(text);
    if (part === undefined) return null;
    parts.push(part);
  }
  return parts.length === 0 ? null : parts.join('');
}

/** Names of headers, in lower case, that header objects or VCL change before the origin gets the request. */
export function changedHeaders(version: SourceFields, vcl: string): ReadonlySet<string> {
  const written = [...vcl.matchAll(/\b(?:set|add|unset|remove)\s+req\.http\.([\w-]+)/gi)].map(
    ([, name]) => name!,
  );
  const objects = objectsAt(version, 'headers').flatMap((one) =>
    textAt(one, 'type') === 'request' ? [textAt(one, 'dst').replace(/^http\./, '')] : [],
  );
  return new Set([...written, ...objects].map((name) => name.toLowerCase()));
}
