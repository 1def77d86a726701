/** DNS records. */
import { z } from 'zod';
import { parseIp, parseIpv4, parseIpv6 } from '../base/ip.ts';
import {
  MAX_COMMENT_CHARACTERS,
  MAX_DESTINATION_CHARACTERS,
  MAX_MX_PRIORITY,
  MAX_RECORD_TIMEOUT_SEC,
} from '../base/limits.ts';
import { PROXIABLE_TYPES, RECORD_SCHEMES, RECORD_TYPES, type RecordType } from '../base/vocabulary.ts';
import { checked, filledText, flag, id, integer, port, text } from './fields.ts';
import { crossCheck, type FormValues, form } from './form.ts';
import { judgeAddress, judgeHostHeader } from './location.ts';
import type { Problem } from './report.ts';
import type { DnsRecord } from './types.ts';

const FIELDS = {
  id: id(),
  name: filledText(),
  type: z.enum(RECORD_TYPES),
  destination: filledText(MAX_DESTINATION_CHARACTERS),
  mx_priority: integer(0, MAX_MX_PRIORITY).nullable().default(null),
  proxied: flag(false),
  captcha: flag(false),
  scheme: z.enum(RECORD_SCHEMES).default('Default'),
  port: port().nullable().default(null),
  host_header: checked(text(), judgeHostHeader).default(''),
  monitor: flag(false),
  timeout: integer(1, MAX_RECORD_TIMEOUT_SEC).nullable().default(null),
  comment: text(MAX_COMMENT_CHARACTERS).default(''),
};
type FieldValues = FormValues<typeof FIELDS>;

const destination = crossCheck<Pick<FieldValues, 'type' | 'destination'>>(
  ['type', 'destination'],
  (values, scope) => {
    const problem = judgeDestination(values.type, values.destination);
    if (problem !== null) scope.error(['destination'], problem);
  },
);

/** Only what the edge itself connects to is judged; other data is the zone's own affair. */
function judgeDestination(type: RecordType, value: string): Problem | null {
  const code = 'invalid_destination';
  const found = `\`${value.slice(0, 80)}\``;
  if (type === 'A' && parseIpv4(value) < 0)
    return { code, message: 'must be an IPv4 address for type `A`', found };
  if (type === 'AAAA' && !parseIpv6(value, new Uint32Array(4))) {
    return { code, message: 'must be an IPv6 address for type `AAAA`', found };
  }
  if (type !== 'CNAME' && type !== 'ALIAS') return null;
  if (judgeAddress(value) === null && !/^[0-9.]+$|:/.test(value)) return null;
  return { code, message: `must be a host name for type \`${type}\``, found };
}

/** Types whose data ends in the name of a host, and who says so. */
const NAMED_HOST: Partial<Readonly<Record<RecordType, string>>> = {
  MX: 'RFC 5321 §5.1',
  NS: 'RFC 1035 §3.3.11',
  SRV: 'RFC 2782',
};

const target = crossCheck<Pick<FieldValues, 'type' | 'destination'>>(
  ['type', 'destination'],
  ({ type, destination: data }, scope) => {
    const source = NAMED_HOST[type];
    const host = data.trim().split(/\s+/).at(-1)!.replace(/\.$/, '');
    if (source === undefined || !isAddress(host)) return;
    scope.refuse(['destination'], {
      code: 'invalid_destination',
      message: `must name a host for type \`${type}\`, never an address (${source})`,
      remedy: 'give the address a name with a record of type `A` or `AAAA`, and write that name',
    });
  },
);

/** An address in any spelling: no name ends in a label of digits alone. */
function isAddress(host: string): boolean {
  return /^[0-9.]*[0-9]$/.test(host) || parseIp(host.replace(/^\[|\]$/g, ''), new Uint32Array(4)) !== 0;
}

const proxying = crossCheck<Pick<FieldValues, 'type' | 'proxied'>>(
  ['type', 'proxied'],
  ({ type, proxied }, scope) => {
    if (!proxied || (PROXIABLE_TYPES as readonly RecordType[]).includes(type)) return;
    const message = `must be \`false\` for type \`${type}\`; only ${PROXIABLE_TYPES.join(', ')} can be proxied`;
    scope.error(['proxied'], { code: 'not_proxiable', message });
  },
);

export const recordForm = form({
  fields: FIELDS,
  ignored: ['domain_id', 'created_at', 'updated_at'],
  checks: [destination, target, proxying],
  finish: (values): DnsRecord => ({
    id: values.id,
    name: values.name,
    type: values.type,
    destination: values.destination,
    mx_priority: values.mx_priority,
    proxied: values.proxied,
    captcha: values.captcha,
    scheme: values.scheme,
    port: values.port,
    host_header: values.host_header,
    monitor: values.monitor,
    timeout: values.timeout,
    comment: values.comment,
  }),
});
