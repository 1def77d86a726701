/** Translates rate limiting rules of Cloudflare. */
import { MAX_COUNT_STATUSES, MAX_RATE_PARTS } from '../../../base/vocabulary/limits.ts';
import { addRule, markDifference } from '../draft.ts';
import { type ImportedFilter, ruleFields } from '../filter.ts';
import { numberAt, objectAt, type SourceFields, textAt, textsAt } from '../json-source.ts';
import { literalOf } from '../text-test.ts';
import { numbersOf } from './compare-visitor.ts';
import { CHALLENGES, noteEarlier } from './firewall-rule.ts';
import { type CloudflareExpression, parseExpression } from './parse-expression.ts';
import { readCondition } from './read-condition.ts';
import { readField } from './read-field.ts';
import type { CloudflareImport, CloudflareRule } from './zone.ts';

/** Adds the rule of one alternative; a text is the reason why it cannot. */
export function emitRateLimit(
  state: CloudflareImport,
  { rule, entry }: CloudflareRule,
  filter: ImportedFilter,
): string | null {
  const limit = objectAt(rule, 'ratelimit');
  const key = readKey(textsAt(limit, 'characteristics'), filter);
  if (typeof key === 'string') return key;
  const counted = readCounting(state, { expression: textAt(rule, 'expression'), limit });
  if (typeof counted === 'string') return counted;
  const action = textAt(rule, 'action');
  if (action !== 'block' && !CHALLENGES.includes(action)) return `the action \`${action}\` has no equivalent`;
  const fields = {
    ...ruleFields(filter),
    limit: numberAt(limit, 'requests_per_period'),
    window_sec: numberAt(limit, 'period'),
    on_breach: action === 'block' ? 'drop' : 'captcha',
    ...key.fields,
    ...(counted.length === 0 ? {} : { count_statuses: counted }),
  };
  if (!addRule(state.draft, entry, 'rate_limit', fields)) return null;
  const timeout = numberAt(limit, 'mitigation_timeout') ?? 0;
  markDifference(
    entry,
    `Cloudflare acts for ${timeout} s once the count is above the limit; the rule acts while the requests of the window are above it`,
  );
  for (const difference of key.differences) markDifference(entry, difference);
  if (limit['requests_to_origin'] === true)
    markDifference(entry, 'requests that the cache answers count too');
  noteEarlier(entry, filter, state);
  return null;
}

/** What a count is for. */
interface RateKey {
  readonly fields: { readonly key_parts?: readonly string[] };
  readonly differences: readonly string[];
}

/** Parts by the name of a characteristic. */
const PARTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'ip.src': 'ip',
    'ip.src.country': 'country',
    'ip.geoip.country': 'country',
    'ip.src.asnum': 'asn',
    'ip.geoip.asnum': 'asn',
    'http.request.uri.path': 'path',
    'cf.bot_management.ja4': 'ja4',
  }),
);

/** Parts by the name of an array. */
const NAMED_PARTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'http.request.headers': 'header',
    'http.request.cookies': 'cookie',
    'http.request.uri.args': 'query',
  }),
);

/** Reads the characteristics; a text is the reason why a count for them has no equivalent. */
function readKey(characteristics: readonly string[], filter: ImportedFilter): RateKey | string {
  const parts: string[] = [];
  const differences: string[] = [];
  for (const text of characteristics) {
    if (text === 'cf.colo.id') {
      differences.push('Cloudflare counts in each of its data centres, the edge in each of its nodes');
      continue;
    }
    // One host needs no part.
    if (text === 'http.host' && isOneHost(filter)) continue;
    const field = readField({ kind: 'field', name: text });
    const source = field?.key == null || field.index !== null ? undefined : NAMED_PARTS.get(field.name);
    const part = source === undefined ? PARTS.get(text) : `${source}:${field!.key}`;
    if (part === undefined) return `no count of requests is for \`${text}\``;
    if (source !== undefined)
      differences.push(`requests without \`${field!.key}\` and with an empty one share a count`);
    parts.push(part);
  }
  if (parts.length === 0) return 'requests are counted for no characteristic';
  if (parts.length > MAX_RATE_PARTS)
    return `a count is for at most ${MAX_RATE_PARTS} characteristics together`;
  const isAddress = parts.length === 1 && parts[0] === 'ip';
  return { fields: isAddress ? {} : { key_parts: parts }, differences };
}

function isOneHost({ hostIncludes }: ImportedFilter): boolean {
  return hostIncludes?.length === 1 && literalOf(hostIncludes[0]!) !== null;
}

/** The statuses of responses that count, none of them: every request does. A text is the reason why it has no equivalent. */
function readCounting(
  { lists }: CloudflareImport,
  { expression, limit }: { readonly expression: string; readonly limit: SourceFields },
): readonly number[] | string {
  const counting = textAt(limit, 'counting_expression');
  if (counting === '' || counting === expression) return [];
  const parsed = parseExpression(counting);
  const matched = parseExpression(expression);
  if (!parsed.ok || !matched.ok) return 'its counting expression cannot be read';
  const members = parsed.value.kind === 'and' ? parsed.value.of : [parsed.value];
  const statuses = members.map(statusesOf);
  const [counted, ...more] = statuses.filter((one) => one !== null);
  const others = members.filter((_, index) => statuses[index] === null);
  const conditionText = (one: CloudflareExpression): string =>
    JSON.stringify(readCondition(one, { lists }).condition, (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
  const [first] = others;
  const rest: CloudflareExpression =
    first === undefined
      ? { kind: 'value', value: { kind: 'field', name: 'true' }, text: 'true' }
      : others.length === 1
        ? first
        : { kind: 'and', of: others, text: counting };
  if (conditionText(rest) !== conditionText(matched.value) || more.length > 0)
    return 'a counting expression for other requests than those of the rule has no equivalent';
  if (counted === undefined) return [];
  const isKnown =
    counted.length <= MAX_COUNT_STATUSES && counted.every((status) => status >= 400 && status <= 599);
  return isKnown ? counted : `at most ${MAX_COUNT_STATUSES} statuses from 400 to 599 can be counted`;
}

/** The statuses of `http.response.code eq 401` or `in {401 403}`; `null`: it is another expression. */
function statusesOf(expression: CloudflareExpression): readonly number[] | null {
  if (expression.kind !== 'compare' || expression.left.kind !== 'field') return null;
  const { left, operator, right } = expression;
  if (left.name !== 'http.response.code' || (operator !== 'eq' && operator !== 'in')) return null;
  return numbersOf(right);
}
