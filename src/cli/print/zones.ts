/** Prints zones: the version with its problems, and what secondaries answer. */
import { visible } from '../../workbench/simulation/render-text.ts';
import { tableText } from './table.ts';

/** A zone as the API answers it. */
export interface PrintedZone {
  readonly serial: number;
  readonly records: number;
  readonly primary: string;
  readonly updated_at: string;
  readonly changing: boolean;
  readonly problems: number;
  readonly problem_list: readonly {
    readonly name: string;
    readonly type: string;
    readonly message: string;
  }[];
  readonly secondaries: readonly { readonly address: string; readonly notifying: boolean }[];
}

/** A check as the API answers it. */
export interface PrintedCheck {
  readonly serial: number;
  readonly sets: number;
  readonly compared: number;
  readonly secondaries: readonly {
    readonly address: string;
    readonly state: string;
    readonly serial: number | null;
    readonly fault: string | null;
    readonly different: number;
    readonly differences: readonly PrintedDifference[];
  }[];
}

/** A record set that a secondary answers otherwise. */
interface PrintedDifference {
  readonly name: string;
  readonly type: string;
  readonly expected: readonly string[];
  readonly answered: readonly string[];
  readonly fault: string | null;
}

/** The DS records of a domain as the API answers them. */
export interface PrintedDnssec {
  readonly status: string;
  readonly ds: readonly { readonly record: string }[];
  readonly fault: string | null;
}

/** One zone. */
export function zoneText(domain: string, zone: PrintedZone, dnssec: PrintedDnssec): string {
  const rows = [
    ['zone', domain],
    ['serial', `${zone.serial}${zone.changing ? ', the next version is being made' : ''}`],
    ['made', zone.updated_at],
    ['records', String(zone.records)],
    ['primary', zone.primary],
    ...zone.secondaries.map(({ address, notifying }, index) => [
      index === 0 ? 'secondaries' : '',
      `${address}${notifying ? '  has not accepted this version yet' : ''}`,
    ]),
    ['dnssec', dnssec.fault === null ? dnssec.status : `${dnssec.status}: ${dnssec.fault}`],
    ...dnssec.ds.map(({ record }) => ['', record]),
  ];
  const lines = rows.map(([label = '', text = '']) => `${label.padEnd(LABEL)}${visible(text)}`);
  const problems = zone.problem_list.map(({ name, type, message }) => [name, type, message]);
  const more = zone.problems - problems.length;
  return [
    ...lines,
    ...(problems.length === 0 ? [] : ['', tableText(['not in the zone', 'type', 'why'], problems).trimEnd()]),
    ...(more > 0 ? [`and ${more} more`] : []),
    '',
  ].join('\n');
}

/** What the secondaries answer. */
export function zoneCheckText(domain: string, check: PrintedCheck): string {
  const { serial, sets, compared, secondaries } = check;
  const part = compared === sets ? '' : `, the first ${compared} compared`;
  const rows = secondaries.map((one) => [
    one.address,
    one.state,
    one.serial === null ? '' : String(one.serial),
    one.fault ?? (one.different === 0 ? '' : `${one.different} sets differ`),
  ]);
  return [
    `${domain}  serial ${serial}, ${sets} record sets${part}`,
    '',
    tableText(['secondary', 'state', 'serial', ''], rows),
    ...secondaries.flatMap(({ address, differences }) =>
      differences.flatMap((one) => differenceLines(address, one)),
    ),
  ].join('\n');
}

function differenceLines(address: string, difference: PrintedDifference): readonly string[] {
  const { name, type, expected, answered, fault } = difference;
  const list = (texts: readonly string[]): string => (texts.length === 0 ? 'nothing' : texts.join(' | '));
  return [
    visible(`${address}: ${name} ${type}`),
    visible(`  zone    ${list(expected)}`),
    visible(`  answer  ${fault ?? list(answered)}`),
    '',
  ];
}

/** Columns of the labels. */
const LABEL = 13;
