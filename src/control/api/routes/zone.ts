/** The zone of a managed domain: its version, whether secondaries answer it, and the DS records of its parent. */
import { z } from 'zod';
import { timeText } from '../../../base/text/time.ts';
import type { ZoneService } from '../../zones/zone-service.ts';
import { conflict, Refusal } from '../operation/refusal.ts';
import { ok, operation, type Services } from '../operation/route.ts';

const serial = z
  .int()
  .describe('the serial of the SOA')
  .meta({ examples: [1_764_100_000] });
const address = z
  .string()
  .describe('address and port')
  .meta({ examples: ['192.0.2.53:53'] });

/** What of a domain's records is not in its zone. */
const PROBLEM = z.object({
  name: z
    .string()
    .describe('the name of the record')
    .meta({ examples: ['www.example.com'] }),
  type: z
    .string()
    .describe('its type')
    .meta({ examples: ['ALIAS'] }),
  message: z
    .string()
    .describe('why it is not in the zone')
    .meta({ examples: ['`origin.example.net` is not resolved yet'] }),
});

const ZONE = z
  .object({
    serial,
    records: z
      .int()
      .describe('records of the zone without its SOA')
      .meta({ examples: [12] }),
    primary: z
      .string()
      .describe('the first nameserver')
      .meta({ examples: ['ns1.example.net'] }),
    updated_at: z.iso.datetime().describe('when this version was made'),
    changing: z.boolean().describe('whether changes wait for the next version'),
    problems: z
      .int()
      .describe('records that are not in the zone')
      .meta({ examples: [0] }),
    problem_list: z.array(PROBLEM).describe('the first of them'),
    secondaries: z
      .array(
        z.object({
          address,
          notifying: z.boolean().describe('whether it has not accepted the NOTIFY of this version yet'),
        }),
      )
      .describe('the name servers that transfer the zone'),
  })
  .meta({ id: 'Zone' });

const texts = z.array(z.string());

/** What one secondary answers. */
const SECONDARY_CHECK = z.object({
  address,
  state: z
    .enum(['same', 'behind', 'different', 'unanswered'])
    .describe(
      '`same`: all compared sets are equal; `behind`: a set differs and the serial is older; `different`: a set differs; `unanswered`: no SOA of the zone',
    ),
  serial: z
    .int()
    .nullable()
    .describe('the serial that it answers; one that signs the zone numbers its own versions'),
  fault: z.string().nullable().describe('why it did not answer the SOA'),
  different: z
    .int()
    .describe('sets that differ')
    .meta({ examples: [0] }),
  differences: z
    .array(
      z.object({
        name: z.string().describe('the name of the set'),
        type: z.string().describe('its type'),
        expected: texts.describe('data of the zone, in zone file form'),
        answered: texts.describe('data that the secondary answers'),
        fault: z.string().nullable().describe('why it did not answer'),
      }),
    )
    .describe('the first of them'),
});

const CHECK = z
  .object({
    serial,
    sets: z
      .int()
      .describe('record sets of the zone')
      .meta({ examples: [9] }),
    compared: z
      .int()
      .describe('those that were compared')
      .meta({ examples: [9] }),
    secondaries: z.array(SECONDARY_CHECK).describe('each secondary'),
  })
  .meta({ id: 'ZoneCheck' });

const DNSSEC = z
  .object({
    status: z
      .enum(['signed', 'unsigned', 'unknown'])
      .describe('`unsigned`: the name servers publish no CDS records; `unknown`: none of them answered'),
    ds: z
      .array(
        z.object({
          key_tag: z
            .int()
            .describe('key tag')
            .meta({ examples: [20_326] }),
          algorithm: z
            .int()
            .describe('the number of the algorithm')
            .meta({ examples: [13] }),
          digest_type: z
            .int()
            .describe('the number of the digest type')
            .meta({ examples: [2] }),
          digest: z
            .string()
            .describe('hexadecimal')
            .meta({ examples: ['e06d44b8…'] }),
          record: z
            .string()
            .describe('the record for the registrar, in zone file form')
            .meta({ examples: ['example.com. IN DS 20326 13 2 e06d44b8…'] }),
        }),
      )
      .describe('the DS records that the parent zone needs'),
    fault: z.string().nullable().describe('why no name server answered'),
  })
  .meta({ id: 'Dnssec' });

/** The zones of this server. @throws Refusal 409 where it serves none */
function zonesOf({ zones }: Services): ZoneService {
  if (zones === undefined) throw conflict('this server serves no zones (--zones)');
  return zones;
}

const NO_ZONE = 'has no zone: it is not managed, banned, or other accounts claim the name too';

/** `GET /domains/{domain}/zone`. */
export const show = operation({
  summary: 'The zone of a domain as name servers transfer it: serial, records, problems',
  response: ZONE,
  statuses: [409],
  async handle({ domain, services }) {
    const zone = await zonesOf(services).show(domain.name);
    if (zone === null) throw conflict(`\`${domain.name}\` ${NO_ZONE}; or its zone is being made`);
    return ok({ ...zone, updated_at: timeText(zone.updated_at) });
  },
});

/** `GET /domains/{domain}/zone/check`. */
export const check = operation({
  summary: 'Compare what each name server answers with the zone: serial and record sets',
  response: CHECK,
  statuses: [409, 429],
  async handle({ domain, services, caller }) {
    const result = await zonesOf(services).check(domain.name, caller.account_id);
    if (result === 'busy')
      throw new Refusal(429, 'a check is under way; try again when it has ended', { 'retry-after': '20' });
    if (result === null) throw conflict(`\`${domain.name}\` ${NO_ZONE}; or its zone is being made`);
    return ok(result);
  },
});

/** `GET /domains/{domain}/dnssec`. */
export const dnssec = operation({
  summary: 'The DS records that the parent zone needs, where the name servers sign the zone',
  response: DNSSEC,
  statuses: [409],
  async handle({ domain, services }) {
    const state = await zonesOf(services).dnssec(domain.name);
    return ok({
      status: state.status,
      ds: state.ds.map((ds) => ({
        ...ds,
        record: `${domain.name}. IN DS ${ds.key_tag} ${ds.algorithm} ${ds.digest_type} ${ds.digest}`,
      })),
      fault: state.status === 'unknown' ? state.fault : null,
    });
  },
});
