/** A domain as a server has it, read over the API. */

import { RULE_SLUGS } from '../../api/rules/slugs.ts';
import { type Diagnostic, describeDiagnostic } from '../../base/diagnostic.ts';
import { RULE_TYPES } from '../../base/vocabulary.ts';
import { parseRecord, parseRule } from '../../model/parse.ts';
import type { DnsRecord, Rule } from '../../model/types.ts';
import { SETTING_NAMES } from '../apply/settings.ts';
import { CommandFault, EXIT } from '../exit.ts';
import { type ApiRequest, type ApiResponse, callApi, type ServerAccess, ServerRefusal } from './call-api.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface RemoteDomain {
  readonly name: string;
  /** What a customer sets on the domain itself, by the API's field names. */
  readonly settings: Fields;
  /** What else of the domain shapes its plan. */
  readonly state: {
    readonly status: string;
    readonly suspended: boolean;
    readonly developer_mode_until: string | null;
  };
  readonly records: readonly DnsRecord[];
  /** Of all types, error pages with their HTML. */
  readonly rules: readonly Rule[];
}

/** The path of a domain, or of something below it. */
export function domainPath(domain: string, below = ''): string {
  return `/domains/${encodeURIComponent(domain)}${below}`;
}

/** The path of the records of a domain, or of one of them. */
export function recordPath(domain: string, id?: number): string {
  return domainPath(domain, `/records/${id ?? ''}`);
}

/** The path of the rules of a type, or of one of them. */
export function rulePath(domain: string, type: Rule['type'], id?: number): string {
  return domainPath(domain, `/rules/${RULE_SLUGS[type]}/${id ?? ''}`);
}

/** Reads everything about a domain. Throws the fault; one of its own where the server has no such domain. */
export async function readRemote(domain: string, options: ServerAccess): Promise<RemoteDomain> {
  const get = async (path: string): Promise<unknown> =>
    (await callApi(options, { method: 'GET', path })).body;
  const detail = (await getDomain(domain, options)) as Fields;
  const records = (await get(recordPath(domain))) as readonly unknown[];
  const rules: Rule[] = [];
  for (const type of RULE_TYPES) {
    for (const listed of (await get(rulePath(domain, type))) as readonly Fields[]) {
      const id = Number(listed['id']);
      const whole = type === 'error_page' ? ((await get(rulePath(domain, type, id))) as Fields) : listed;
      rules.push(readRule(type, whole));
    }
  }
  const until = detail['developer_mode_until'];
  return {
    name: String(detail['name']),
    settings: Object.fromEntries(SETTING_NAMES.map((name) => [name, detail[name]])),
    state: {
      status: String(detail['status']),
      suspended: detail['suspended'] === true,
      developer_mode_until: typeof until === 'string' ? until : null,
    },
    records: records.map((record) => readRecord(record, domain)),
    rules,
  };
}

/** A domain as the API shows it; throws as `readRemote` does. */
export async function getDomain(domain: string, options: ServerAccess): Promise<unknown> {
  try {
    return (await callApi(options, { method: 'GET', path: domainPath(domain) })).body;
  } catch (error) {
    if (!(error instanceof ServerRefusal) || error.status !== 404) throw error;
    throw new CommandFault(EXIT.no, `the key sees no domain \`${domain}\` on \`${options.server}\``, {
      remedy: '--server and --key say whom to ask; POST /domains/ makes a domain',
      cause: error,
    });
  }
}

/** Asks for something below a domain; a key that does not see the domain is told so. */
export async function callDomainApi(
  domain: string,
  options: ServerAccess,
  question: ApiRequest,
): Promise<ApiResponse> {
  try {
    return await callApi(options, question);
  } catch (error) {
    if (error instanceof ServerRefusal && error.status === 404) await getDomain(domain, options);
    throw error;
  }
}

/** A record as the server shows it. */
export function readRecord(shown: unknown, domain: string): DnsRecord {
  const parsed = parseRecord(shown, domain, { stored: true });
  if (parsed.ok) return parsed.record;
  throw unreadable('a record', parsed.diagnostics);
}

/** A rule as the server shows it, error pages as they are shown alone. */
export function readRule(type: Rule['type'], shown: Fields): Rule {
  const parsed = parseRule(type, shown, { stored: true });
  if (!parsed.ok) throw unreadable(`a rule of type \`${type}\``, parsed.diagnostics);
  return { id: Number(shown['id']), type, ...parsed.fields } as Rule;
}

function unreadable(what: string, diagnostics: readonly Diagnostic[]): CommandFault {
  const [first] = diagnostics;
  const why = first === undefined ? '' : `: ${describeDiagnostic(first)}`;
  return new CommandFault(EXIT.server, `the server holds ${what} that this version cannot read${why}`, {
    remedy: 'use the version of edgeplan that the server runs',
  });
}
