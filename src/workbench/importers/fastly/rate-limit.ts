/** Rate limiters of a Fastly service. */
import { MAX_RATE_PARTS } from '../../../base/vocabulary/limits.ts';
import { addRule, type DraftEntry, markDifference } from '../draft.ts';
import type { ImportedFact } from '../facts.ts';
import { type ImportedFilter, ruleFields } from '../filter.ts';
import { numberAt, objectAt, type SourceFields, textAt, textsAt } from '../json-source.ts';
import { subjectOf } from './compare-value.ts';
import type { FastlyImport } from './refusals.ts';

/** Keys of clients that are a fact of the request. */
const KEYS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'client.ip': 'ip',
    'req.http.Fastly-Client-IP': 'ip',
    'client.as.number': 'asn',
    'client.geo.country_code': 'country',
    'tls.client.ja4': 'ja4',
    'req.url.path': 'path',
  }),
);

/** The parts of the key of a count; a text is the reason why it has no equivalent. */
function keyParts(keys: readonly string[], { changed }: FastlyImport): readonly string[] | string {
  const parts: string[] = [];
  for (const key of keys) {
    const subject = KEYS.has(key) ? null : subjectOf(key);
    const source = subject?.member === 'cookies' ? 'cookie' : 'header';
    const part = subject === null ? KEYS.get(key) : `${source}:${subject.name}`;
    if (part === undefined) return `no count of requests is for \`${key}\``;
    if (subject !== null && changed.has(source === 'cookie' ? 'cookie' : subject.name))
      return `the service changes \`${key}\` itself`;
    parts.push(part);
  }
  if (parts.length === 0) return 'requests are counted for no key';
  return parts.length > MAX_RATE_PARTS ? `a count is for at most ${MAX_RATE_PARTS} keys together` : parts;
}

/** The methods that a limiter counts; `null`: all of them. */
function countedMethods(one: SourceFields): readonly string[] | null {
  const written = textsAt(one, 'http_methods');
  const methods = written.length > 0 ? written : textAt(one, 'http_methods').split(/[\s,]+/);
  const named = methods.filter((method) => method !== '');
  return named.length === 0 ? null : named;
}

/** Adds the rule of a rate limiter for the requests of a filter; a text is the reason why it cannot. */
export function addLimit(
  state: FastlyImport,
  { one, entry }: { readonly one: SourceFields; readonly entry: DraftEntry },
  filter: ImportedFilter,
): string | null {
  const parts = keyParts(textsAt(one, 'client_key'), state);
  if (typeof parts === 'string') return parts;
  if (textAt(one, 'uri_dictionary_name') !== '') return 'the paths of a dictionary are not in the file';
  if (textAt(one, 'action') === 'log_only') return 'it only logs';
  const window = numberAt(one, 'window_size') ?? 1;
  const limit = (numberAt(one, 'rps_limit') ?? 0) * window;
  const methods = countedMethods(one);
  const facts: readonly ImportedFact[] =
    methods === null ? [] : [{ member: 'methods', values: methods, negated: false }];
  const key = parts.length === 1 && parts[0] === 'ip' ? {} : { key_parts: parts };
  const fields = { ...ruleFields({ ...filter, facts }), limit, window_sec: window, ...key };
  if (!addRule(state.draft, entry, 'rate_limit', fields)) return null;
  const minutes = numberAt(one, 'penalty_box_duration') ?? 0;
  markDifference(
    entry,
    `Fastly refuses a client for ${minutes} min once it is above the limit; the rule as long as the requests of ${window} s are`,
  );
  markDifference(entry, 'Fastly counts approximately');
  const status = numberAt(objectAt(one, 'response'), 'status') ?? 429;
  if (status !== 429) markDifference(entry, `the edge answers 429; Fastly answers ${status}`);
  return null;
}
