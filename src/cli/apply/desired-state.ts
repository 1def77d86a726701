/** Reads the desired state of a domain from an edge file, in the form in which the server stores it. */
import { quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { canonicalData } from '../../control/dns/zone-file/rdata.ts';
import type { EdgeSources } from '../../rules/files/edge-file.ts';
import { readYamlBytes } from '../../rules/files/yaml.ts';
import { SETTING_NAMES } from '../../rules/model/domain.ts';
import type { DnsRecord, Rule } from '../../rules/model/types.ts';
import { inputFault } from '../exit.ts';
import { compileInput, readEdge } from '../input/open-subject.ts';
import { refuseApplicationRecords } from '../input/refuse-application.ts';
import { type ColourChoice, note } from '../output.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The desired state. */
export interface DesiredState {
  readonly domain: string;
  /** The settings that the file has, by the API's field names. */
  readonly settings: Fields;
  /** In the order of the file, with canonical data. Ids are the file's own. */
  readonly records: readonly DnsRecord[];
  readonly rules: readonly Rule[];
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
