/**
 * The form of DNS records (API document, "DNS record"): fields, defaults, and the checks of the destination by type.
 */
import { parseIp, parseIpv4, parseIpv6 } from '../../base/addresses/ip.ts';
import {
  MAX_COMMENT_CHARACTERS,
  MAX_DESTINATION_CHARACTERS,
  MAX_MX_PRIORITY,
  MAX_RECORD_TIMEOUT_SEC,
} from '../../base/vocabulary/limits.ts';
import {
  PROXIABLE_TYPES,
  RECORD_TYPES,
  type RecordType,
  recordKind,
} from '../../base/vocabulary/record-types.ts';
import { RECORD_SCHEMES } from '../../base/vocabulary/vocabulary.ts';
import { anyCase, checked, filledText, flag, id, integer, port, text } from './fields.ts';
import { crossCheck, type FormValues, form, type Stored } from './form.ts';
import type { Problem } from './report.ts';
import { judgeAddress, judgeHostHeader } from './text-checks.ts';

/** The fields of a record, by their names in the API. */
const FIELDS = {
  id: id()
    .describe('id of the record')
    .meta({ examples: [3] }),
  name: filledText()
    .describe('host name, relative to the domain or absolute; `@` is the apex')
    .meta({ examples: ['shop'] }),
  type: anyCase(RECORD_TYPES)
    .describe(
      `type of the record; only ${PROXIABLE_TYPES.join(', ').replace(/, (?=[^,]*$)/, ' and ')} can be proxied`,
    )
    .meta({ examples: ['A'] }),
  destination: filledText(MAX_DESTINATION_CHARACTERS)
    .describe(
      "data of the record: an address, a host name or text, as the type says; of a proxied record the edge's origin",
    )
    .meta({ examples: ['198.51.100.20'] }),
  mx_priority: integer(0, MAX_MX_PRIORITY)
    .nullable()
    .default(null)
    .describe('preference of an MX record: lower first; null for other types')
    .meta({ examples: [10] }),
  proxied: flag(false)
    .describe('whether requests for the name go through the edge')
    .meta({ examples: [true] }),
  captcha: flag(false)
    .describe('challenges every visitor of the name, whatever the rules say')
    .meta({ examples: [true] }),
  scheme: anyCase(RECORD_SCHEMES)
    .default('Default')
    .describe(
      "protocol towards the origin of a proxied record: `Default` follows the request's, `Auto` finds out, `Http`, `Https`",
    )
    .meta({ examples: ['Https'] }),
  port: port()
    .nullable()
    .default(null)
    .describe('port of the origin; null follows the scheme')
    .meta({ examples: [8443] }),
  host_header: checked(text(), judgeHostHeader)
    .default('')
    .describe("Host header and TLS server name that the origin gets; empty: the request's own host")
    .meta({ examples: ['shop.internal.example'] }),
  monitor: flag(false)
    .describe('counts requests of the name for the uptime of the domain')
    .meta({ examples: [true] }),
  timeout: integer(1, MAX_RECORD_TIMEOUT_SEC)
    .nullable()
    .default(null)
    .describe(
      'seconds that the edge waits for the origin before it answers 504; null: the default of the node',
    )
    .meta({ examples: [30] }),
  comment: text(MAX_COMMENT_CHARACTERS)
    .default('')
    .describe('note without effect')
    .meta({ examples: ['moved in May'] }),
};

/** One DNS record as it is stored: all defaults set; `timeout` in seconds. */
export type DnsRecord = Stored<typeof FIELDS>;
/** The values of a record after its defaults. */
type FieldValues = FormValues<typeof FIELDS>;

/** Checks the destination of a record that the edge may connect to. */
const destination = crossCheck<Pick<FieldValues, 'type' | 'destination'>>(
  ['type', 'destination'],
  (values, scope) => {
    const problem = judgeDestination(values.type, values.destination);
    if (problem !== null) scope.error(['destination'], problem);
  },
);

/** A name, or a URL of a server on this machine, is what people write instead. */
const REMEDY_FOR_A =
  'a name needs the type `CNAME`; scheme and port have fields of their own: `scheme`, `port`';

/**
 * The problem of the data of an A, AAAA, CNAME or ALIAS record, or `null`. The edge never connects to the data of other
 * types.
 */
function judgeDestination(type: RecordType, value: string): Problem | null {
  const code = 'invalid_destination';
  const found = `\`${value.slice(0, 80)}\``;
  if (type === 'A' && parseIpv4(value) < 0)
    return { code, message: 'must be an IPv4 address for type `A`', found, remedy: REMEDY_FOR_A };
  if (type === 'AAAA' && !parseIpv6(value, new Uint32Array(4))) {
    return { code, message: 'must be an IPv6 address for type `AAAA`', found };
  }
  if (type !== 'CNAME' && type !== 'ALIAS') return null;
  if (judgeAddress(value) === null && !/^[0-9.]+$|:/.test(value)) return null;
  return { code, message: `must be a host name for type \`${type}\``, found };
}

/** Refuses an address where the type requires a host name; a stored record gets a warning. */
const target = crossCheck<Pick<FieldValues, 'type' | 'destination'>>(
  ['type', 'destination'],
  ({ type, destination: data }, scope) => {
    const source = recordKind(type).hostSource;
    const host = data.trim().split(/\s+/).at(-1)!.replace(/\.$/, '');
    if (source === undefined || !isAddress(host)) return;
    scope.refuse(['destination'], {
      code: 'invalid_destination',
      message: `must name a host for type \`${type}\`, never an address (${source})`,
      remedy: 'give the address a name with a record of type `A` or `AAAA`, and write that name',
    });
  },
);

/**
 * Whether a text is an address in any spelling, bracketed IPv6 included: no host name ends in a label of only digits.
 */
function isAddress(host: string): boolean {
  return /^[0-9.]*[0-9]$/.test(host) || parseIp(host.replace(/^\[|\]$/g, ''), new Uint32Array(4)) !== 0;
}

/** Refuses `proxied` for a type outside `PROXIABLE_TYPES`. */
const proxying = crossCheck<Pick<FieldValues, 'type' | 'proxied'>>(
  ['type', 'proxied'],
  ({ type, proxied }, scope) => {
    if (!proxied || recordKind(type).proxiable === true) return;
    const message = `must be \`false\` for type \`${type}\`; only ${PROXIABLE_TYPES.join(', ')} can be proxied`;
    scope.error(['proxied'], { code: 'not_proxiable', message });
  },
);

/** The form of a record. Its name is checked apart, since that needs the domain (`record-name.ts`). */
export const recordForm = form({
  fields: FIELDS,
  ignored: ['domain_id', 'created_at', 'updated_at'],
  checks: [destination, target, proxying],
  finish: (values): DnsRecord => values,
});
