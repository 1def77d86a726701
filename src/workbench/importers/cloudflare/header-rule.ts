/** Translates transform rules of Cloudflare that change headers. */
import type { HeaderOp, HeaderSide } from '../../../base/vocabulary/vocabulary.ts';
import { addRule, markDifference } from '../draft.ts';
import { type ImportedFilter, ruleFields } from '../filter.ts';
import { headerFields, type ImportedChange, literalValue } from '../header-changes.ts';
import { objectAt, textAt } from '../json-source.ts';
import { noteRewrites } from './firewall-rule.ts';
import { type CloudflareValue, parseValueExpression } from './parse-expression.ts';
import type { CloudflareImport, CloudflareRule } from './zone.ts';

/** Operations of Cloudflare. */
const OPERATIONS: readonly HeaderOp[] = ['set', 'add', 'remove'];

/** Adds the rule of one alternative; a text is the reason why it cannot. */
export function emitHeaders(
  { draft, rewrites }: CloudflareImport,
  { rule, entry, phase }: CloudflareRule,
  filter: ImportedFilter,
): string | null {
  const side: HeaderSide = phase === 'http_response_headers_transform' ? 'response' : 'request';
  const written = objectAt(objectAt(rule, 'action_parameters'), 'headers');
  const changes: ImportedChange[] = [];
  const lost: string[] = [];
  for (const name of Object.keys(written)) {
    const header = objectAt(written, name);
    const op = OPERATIONS.find((one) => one === textAt(header, 'operation'));
    const value = op === 'remove' ? '' : readValue(textAt(header, 'value'), textAt(header, 'expression'));
    if (op === undefined) lost.push(`the operation of \`${name}\` has no equivalent`);
    else if (value === null) lost.push(`\`${name}\` is not carried over: its value has no equivalent`);
    else changes.push({ side, op, name, value });
  }
  const { fields, refused } = headerFields(changes);
  const reasons = [...lost, ...refused];
  if (fields === null) return reasons[0] ?? 'it changes no header';
  if (!addRule(draft, entry, 'headers', { ...ruleFields(filter), ...fields })) return null;
  for (const reason of reasons) markDifference(entry, reason);
  if (changes.some(({ value }) => value.includes('${client_country}')))
    markDifference(entry, 'the header is left out where the country is unknown; Cloudflare writes `XX`');
  if (side === 'response') markDifference(entry, 'answers of the edge itself have the change too');
  noteRewrites(entry, filter, rewrites);
  return null;
}

/** Fields of Cloudflare that are variables of rules. */
const VARIABLES: Readonly<Record<string, string>> = {
  'ip.src': '${client_ip}',
  'ip.src.country': '${client_country}',
  'ip.geoip.country': '${client_country}',
  'http.host': '${host}',
  'http.request.method': '${method}',
  'cf.bot_management.ja4': '${ja4}',
};

/** A static value, or an expression of literal texts and variables; `null`: it has other parts. */
function readValue(text: string, expression: string): string | null {
  if (expression === '') return literalValue(text);
  const parsed = parseValueExpression(expression);
  return parsed.ok ? templateOf(parsed.value) : null;
}

function templateOf(value: CloudflareValue): string | null {
  if (value.kind === 'text') return literalValue(value.text);
  if (value.kind === 'field') return Object.hasOwn(VARIABLES, value.name) ? VARIABLES[value.name]! : null;
  if (value.kind !== 'call' || !['concat', 'to_string'].includes(value.name)) return null;
  const parts = value.args.map(templateOf);
  return parts.includes(null) ? null : parts.join('');
}
