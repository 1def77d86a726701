/**
 * Reads the desired state of a domain from an edge file, in the form in which the server stores it, and checks a
 * fragment of one against the server.
 */
import { quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { canonicalData } from '../../control/dns/zone-file/rdata.ts';
import type { EdgeSources } from '../../rules/files/edge-file.ts';
import { readYamlBytes } from '../../rules/files/yaml.ts';
import { SETTING_NAMES } from '../../rules/model/domain.ts';
import { EMPTY_REGISTRY } from '../../rules/model/registry/registry.ts';
import type { DnsRecord, EntryList, Registry, Rule } from '../../rules/model/types.ts';
import { inputFault, usageFault } from '../exit.ts';
import { compileInput, readEdge, refuseApplicationRecords } from '../input/open-subject.ts';
import { type ColourChoice, note } from '../output.ts';
import type { RemoteDomain } from '../remote/remote-domain.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The desired state. */
export interface DesiredState {
  readonly domain: string;
  /** The settings that the file has, by the API's field names. */
  readonly settings: Fields;
  /** In the order of the file, with canonical data. Ids are the file's own. */
  readonly records: readonly DnsRecord[];
  readonly rules: readonly Rule[];
  readonly lists: readonly EntryList[];
  readonly registry: Registry;
  /** The places of records and rules. */
  readonly sources: EdgeSources;
}

/** Fields of a domain in a file that are state of the server, not settings. */
const STATE = ['status', 'suspended', 'developer_mode_until', 'dns_mode'] as const;

/** Reads and compiles an edge file; errors are printed on stderr. @throws CommandFault */
export async function readDesiredState(file: string, colour: ColourChoice): Promise<DesiredState> {
  const input = await readEdge(file);
  const { octets, name } = input;
  const { ruleSet, sources } = compileInput(input, colour);
  refuseApplicationRecords({ ruleSet, sources }, 'the DNS records of a server need one');
  const domain = domainFields(octets, name);
  const ignored = STATE.filter((field) => Object.hasOwn(domain, field));
  if (ignored.length > 0)
    note(
      `edgeplan: ${ignored.map((field) => `\`${field}\``).join(', ')} of the domain is the server's own: not applied`,
    );
  return {
    domain: ruleSet.domain.name,
    settings: Object.fromEntries(
      SETTING_NAMES.filter((field) => Object.hasOwn(domain, field)).map((field) => [field, domain[field]]),
    ),
    records: ruleSet.records.map((record) => canonical(record, sources)),
    rules: ruleSet.rules,
    // An edge file has the entries of its lists.
    lists: (ruleSet.lists ?? []).filter((list): list is EntryList => 'entries' in list),
    // An edge file has the objects of its registry.
    registry: { ...EMPTY_REGISTRY, ...(ruleSet.registry as Registry | undefined) },
    sources,
  };
}

/** The `domain` of the file as written, with the fields that do not affect the plan. */
function domainFields(octets: Uint8Array, name: string): Fields {
  const { domain } = readYamlBytes(octets, name).value as { readonly domain: unknown };
  return typeof domain === 'object' && domain !== null ? (domain as Fields) : {};
}

/** The record with canonical data, so that it equals the one on the server after it was applied. */
function canonical(record: DnsRecord, sources: EdgeSources): DnsRecord {
  const { type, destination, mx_priority } = record;
  if (type === 'ALIAS') return record;
  const data = canonicalData(type, { destination, mx_priority });
  if ('destination' in data)
    return { ...record, ...data, mx_priority: type === 'MX' ? data.mx_priority : mx_priority };
  const source = sources.records.get(record.id);
  const place = source === undefined ? '' : `${source.file}:${source.line}: `;
  throw inputFault(`${place}destination: ${data.message}, found ${data.found ?? quoteValue(destination)}`);
}

// Checks a fragment against a server: it has objects of the server by their ids, so that `apply` changes these alone, creates
// none and deletes none.

/** Absent objects that one message names. */
const MOST_NAMED = 10;

/** @throws CommandFault where the server has not every object of the fragment, or where the rest would be deleted */
export function checkFragment(
  { records, rules, sources }: DesiredState,
  remote: RemoteDomain,
  { prune }: { readonly prune: boolean },
): void {
  if (prune) {
    const message = `\`${sources.file}\` is a fragment, and --prune would delete the rest of the domain`;
    throw usageFault(message, 'apply the fragment without --prune');
  }
  const stored = new Set([
    ...remote.records.map(({ id }) => `record ${id}`),
    ...remote.rules.map(({ type, id }) => `rule ${type}/${id}`),
  ]);
  const wanted = [
    ...records.map(({ id }) => `record ${id}`),
    ...rules.map(({ type, id }) => `rule ${type}/${id}`),
  ];
  const absent = wanted.filter((title) => !stored.has(title));
  if (absent.length === 0) return;
  const more = absent.length > MOST_NAMED ? ` and ${absent.length - MOST_NAMED} more` : '';
  const named = absent.slice(0, MOST_NAMED).join(', ');
  throw inputFault(`the server has no ${named}${more}, which the fragment is to change`, {
    remedy: 'nothing was changed; print the fragment again',
  });
}
