/** What an edge file asks of a domain, in the form the server keeps it. */
import { quoteValue } from '../../base/diagnostic.ts';
import { canonicalData } from '../../dns/zone-file/rdata.ts';
import type { EdgeSources } from '../../files/edge-file.ts';
import { readYamlBytes } from '../../files/yaml.ts';
import type { DnsRecord, Rule } from '../../model/types.ts';
import { inputFault } from '../exit.ts';
import { compileOctets, readEdgeOctets } from '../input/open-subject.ts';
import { type ColourChoice, note } from '../output.ts';
import { SETTING_NAMES } from './settings.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface DesiredState {
  readonly domain: string;
  /** Those the file names. */
  readonly settings: Fields;
  /** In the order of the file, data in its canonical form. Ids are the file's own. */
  readonly records: readonly DnsRecord[];
  readonly rules: readonly Rule[];
  readonly sources: EdgeSources;
}

/** Fields of a domain that a file may hold and that are no setting. */
const STATE = ['status', 'suspended', 'developer_mode_until', 'dns_mode'] as const;

/** Reads an edge file that compiles. Its errors are printed on stderr. @throws CommandFault */
export async function readDesiredState(file: string, colour: ColourChoice): Promise<DesiredState> {
  const octets = await readEdgeOctets(file);
  const name = file === '-' ? 'stdin' : file;
  const { ruleSet, sources } = compileOctets(octets, name, colour);
  const domain = domainFields(octets, name);
  const odd = STATE.filter((field) => Object.hasOwn(domain, field));
  if (odd.length > 0)
    note(
      `edgeplan: ${odd.map((field) => `\`${field}\``).join(', ')} of the domain is the server's own: not applied`,
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

/** The file's `domain`, with the fields that say nothing about a plan. */
function domainFields(octets: Uint8Array, name: string): Fields {
  const { domain } = readYamlBytes(octets, name).value as { readonly domain: unknown };
  return typeof domain === 'object' && domain !== null ? (domain as Fields) : {};
}

/** The record as the server stores it, so that what was applied compares as equal. */
function canonical(record: DnsRecord, sources: EdgeSources): DnsRecord {
  const { type, destination, mx_priority } = record;
  if (type === 'ALIAS') return record;
  const data = canonicalData(type, { destination, mx_priority });
  if ('destination' in data)
    return { ...record, ...data, mx_priority: type === 'MX' ? data.mx_priority : mx_priority };
  const source = sources.records.get(record.id);
  const place = source === undefined ? '' : `${sources.file}:${source.line}: `;
  throw inputFault(`${place}destination: ${data.message}, found ${data.found ?? quoteValue(destination)}`);
}
