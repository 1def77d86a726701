/** Reads a domain of a server over the API. */
import { type Diagnostic, describeDiagnostic } from '../../base/diagnostics/diagnostic.ts';
import { MAX_NAMED_ENTRIES, MAX_RULES } from '../../base/vocabulary/limits.ts';
import { type ListKind, RULE_TYPES, typePath } from '../../base/vocabulary/vocabulary.ts';
import { SETTING_NAMES } from '../../rules/model/domain.ts';
import { readEntries } from '../../rules/model/lists.ts';
import { parseRecord, parseRule } from '../../rules/model/parse.ts';
import type { DnsRecord, EntryList, Rule } from '../../rules/model/types.ts';
import { CommandFault, EXIT } from '../exit.ts';
import {
  type ApiRequest,
  type ApiResponse,
  callApi,
  callPages,
  type ServerAccess,
  ServerRefusal,
} from './call-api.ts';
import { type RemoteRegistry, readRemoteRegistry } from './remote-registry.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A domain as the server stores it. */
export interface RemoteDomain {
  readonly name: string;
  /** When it was made, RFC 3339; `null`: the server does not answer it. */
  readonly createdAt: string | null;
  /** The settings of the domain, by the API's field names. */
  readonly settings: Fields;
  /** The state of the domain that affects its plan. */
  readonly state: {
    readonly status: string;
    readonly suspended: boolean;
    readonly developer_mode_until: string | null;
  };
  readonly records: readonly DnsRecord[];
  /** Rules of all types; error pages include their HTML. */
  readonly rules: readonly Rule[];
  /** The domain's own lists; empty: a server of an earlier release has none. */
  readonly lists: readonly RemoteList[];
  /** Consumers, usage plans and token issuers. */
  readonly registry: RemoteRegistry;
}

/** A list as the server stores it. */
export interface RemoteList extends EntryList {
  /** Whether its entries are those of a feed. */
  readonly isFed: boolean;
  /** The ETag of the list; `null`: the server sent none. */
  readonly tag: string | null;
}

/** The path of a domain, or of something below it. */
export function domainPath(domain: string, below = ''): string {
  return `/domains/${encodeURIComponent(domain)}${below}`;
}

/** The path of the records of a domain, or of one of them. */
export function recordPath(domain: string, id?: number): string {
  return domainPath(domain, `/records/${id ?? ''}`);
}

/** The path of the lists of a domain, or of one of them. */
export function listPath(domain: string, name = ''): string {
  return domainPath(domain, `/lists/${name}`);
}

/** The path of the rules of a type, or of one of them. */
export function rulePath(domain: string, type: Rule['type'], id?: number): string {
  return domainPath(domain, `/${typePath(type)}/${id ?? ''}`);
}

/**
 * Reads a domain with its records and rules. @throws CommandFault, with exit code 4 when the key has access to no
 * such domain
 */
export async function readRemote(domain: string, options: ServerAccess): Promise<RemoteDomain> {
  const get = async (path: string): Promise<unknown> =>
    (await callApi(options, { method: 'GET', path })).body;
  const detail = (await getDomain(domain, options)) as Fields;
  const records = (await get(recordPath(domain))) as readonly unknown[];
  // One list of all types: a list of each would take a request a type of the key's budget.
  const pages = { path: domainPath(domain, `/rules/?limit=${RULES_PAGE}`), most: MAX_RULES };
  const listed = (await callPages(options, pages)).entries as readonly Fields[];
  const rules: Rule[] = [];
  for (const type of RULE_TYPES) {
    for (const shown of listed.filter((one) => one['type'] === type)) {
      const id = Number(shown['id']);
      const whole = type === 'error_page' ? ((await get(rulePath(domain, type, id))) as Fields) : shown;
      rules.push(readRule(type, whole));
    }
  }
  const until = detail['developer_mode_until'];
  return {
    name: String(detail['name']),
    createdAt: typeof detail['created_at'] === 'string' ? detail['created_at'] : null,
    settings: Object.fromEntries(SETTING_NAMES.map((name) => [name, detail[name]])),
    state: {
      status: String(detail['status']),
      suspended: detail['suspended'] === true,
      developer_mode_until: typeof until === 'string' ? until : null,
    },
    records: records.map((record) => readRecord(record, domain)),
    rules,
    lists: await readLists(listPath(domain), options),
    registry: await readRemoteRegistry(domainPath(domain), options),
  };
}

/** Rules in one answer. */
const RULES_PAGE = 1_000;

/** Entries of a list in one answer. */
const ENTRIES_PAGE = 1_000;

/**
 * Reads the lists below a path with their entries. @throws CommandFault
 */
export async function readLists(path: string, options: ServerAccess): Promise<readonly RemoteList[]> {
  const listed = await callApi(options, { method: 'GET', path }).catch((error: unknown) => {
    if (error instanceof ServerRefusal && error.status === 404) return { body: [] };
    throw error;
  });
  const lists: RemoteList[] = [];
  for (const { name } of listed.body as readonly Fields[])
    lists.push(await readList(path + String(name), options));
  return lists;
}

async function readList(path: string, options: ServerAccess): Promise<RemoteList> {
  const { body, headers } = await callApi(options, { method: 'GET', path });
  const { name, kind, feed } = body as Fields;
  const pages = { path: `${path}/entries?limit=${ENTRIES_PAGE}`, most: MAX_NAMED_ENTRIES };
  const { entries: shown } = await callPages(options, pages);
  const read = readEntries(kind as ListKind, shown);
  if (!read.ok) throw unreadable(`a list \`${String(name)}\``, read.diagnostics);
  const isFed = feed !== undefined && feed !== null;
  return {
    name: String(name),
    kind: kind as ListKind,
    entries: read.entries,
    isFed,
    tag: headers.get('etag'),
  };
}

/** Reads a domain without its records and rules. @throws CommandFault as `readRemote` */
export async function getDomain(domain: string, options: ServerAccess): Promise<unknown> {
  try {
    return (await callApi(options, { method: 'GET', path: domainPath(domain) })).body;
  } catch (error) {
    if (!(error instanceof ServerRefusal) || error.status !== 404) throw error;
    throw new CommandFault(
      EXIT.server,
      `the key has access to no domain \`${domain}\` on \`${options.server}\``,
      {
        remedy: 'check --server and --key; POST /domains/ creates a domain',
        cause: error,
      },
    );
  }
}

/**
 * Calls the API for something below a domain. For a 404 it checks whether the key has access to the domain, and
 * reports that instead.
 */
export async function callDomainApi(
  domain: string,
  options: ServerAccess,
  request: ApiRequest,
): Promise<ApiResponse> {
  try {
    return await callApi(options, request);
  } catch (error) {
    if (error instanceof ServerRefusal && error.status === 404) await getDomain(domain, options);
    throw error;
  }
}

/** Parses a record of the API. @throws CommandFault when this version cannot read it */
export function readRecord(shown: unknown, domain: string): DnsRecord {
  const parsed = parseRecord(shown, domain, { stored: true });
  if (parsed.ok) return parsed.record;
  throw unreadable('a record', parsed.diagnostics);
}

/**
 * Parses a rule of the API; an error page must include its HTML. @throws CommandFault when this version cannot read
 * it
 */
export function readRule(type: Rule['type'], shown: Fields): Rule {
  const parsed = parseRule(type, shown, { stored: true });
  if (!parsed.ok) throw unreadable(`a rule of type \`${type}\``, parsed.diagnostics);
  return { id: Number(shown['id']), type, ...parsed.fields } as Rule;
}

/** The fault for an object of a newer server. */
function unreadable(what: string, diagnostics: readonly Diagnostic[]): CommandFault {
  const [first] = diagnostics;
  const why = first === undefined ? '' : `: ${describeDiagnostic(first)}`;
  return new CommandFault(EXIT.server, `the server has ${what} that this version cannot read${why}`, {
    remedy: 'use the version of edgeplan that the server runs',
  });
}
