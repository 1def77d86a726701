/** The gRPC door before real plans: what it logs, and requests as Envoy describes them. */

import { randomBytes } from 'node:crypto';
import type { ClientHttp2Session } from 'node:http2';
import type { JsonObject } from '@bufbuild/protobuf';
import { sha256 } from '../../src/base/platform/cryptography.ts';
import { createChallenges } from '../../src/edge/answers/challenge/challenge.ts';
import { createCredentialVerifier } from '../../src/edge/credentials/verify.ts';
import { createUnserved } from '../../src/edge/decide/unserved.ts';
import { createDoorDecider } from '../../src/edge/doors/door.ts';
import {
  EXT_AUTHZ_ENFORCED,
  type ExtAuthzCounts,
  type ExtAuthzDoorOptions,
  openExtAuthzDoor,
} from '../../src/edge/doors/ext-authz/open.ts';
import type { RunningDoor } from '../../src/edge/doors/listener.ts';
import { createPlanTable } from '../../src/edge/following/plan-table.ts';
import type { RequestLogEntry } from '../../src/edge/proxy/log/request-log.ts';
import { compile, seal } from '../../src/engine/compiler/index.ts';
import type { EdgeRequest, EvaluatorOptions } from '../../src/engine/evaluator/index.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { connectDoor } from './ext-authz.ts';

export interface DoorRig {
  readonly door: RunningDoor<ExtAuthzCounts>;
  readonly session: ClientHttp2Session;
  /** What the request log got. */
  readonly entries: RequestLogEntry[];
  readonly faults: unknown[];
  /** Facts of the next visitor. */
  readonly visitor: {
    country: string | null;
    bot: EdgeRequest['bot'];
    /** What the classifier throws. */
    fault: Error | null;
  };
  close(): Promise<void>;
}

export interface DoorRigOptions {
  readonly ruleSet: RuleSet;
  readonly evaluator?: EvaluatorOptions;
  readonly door?: Partial<ExtAuthzDoorOptions>;
}

/** Opens the door for one domain, and connects to it. */
export async function openDoorRig({ ruleSet, evaluator = {}, door = {} }: DoorRigOptions): Promise<DoorRig> {
  const sealed = seal(compile(ruleSet).plan, { revision: 1 });
  const entries: RequestLogEntry[] = [];
  const faults: unknown[] = [];
  const plans = createPlanTable({
    evaluatorOptions: () => evaluator,
    onChange: () => undefined,
    onFault: (_, error) => faults.push(error),
    openOctets: 64 * 1024 * 1024,
  });
  plans.set(ruleSet.domain.name, { revision: 1, digest: '0'.repeat(64), purgeEpoch: 0, read: () => sealed });
  const secret = randomBytes(32);
  const visitor: DoorRig['visitor'] = { country: null, bot: null, fault: null };
  const decide = createDoorDecider({
    services: {
      plans,
      challenges: createChallenges({ secrets: () => ({ current: secret, previous: [] }), cost: 20 }),
      credentials: createCredentialVerifier(sha256),
      classifier: {
        country: () => visitor.country,
        asn: () => null,
        bot: () => {
          if (visitor.fault !== null) throw visitor.fault;
          return visitor.bot;
        },
      },
      unserved: createUnserved({ plans, listed: true, onUnserved: () => undefined }),
    },
    requestLog: { done: (entry) => void entries.push(entry) },
    enforced: EXT_AUTHZ_ENFORCED,
    onFault: (error) => faults.push(error),
  });
  const opened = await openExtAuthzDoor({
    address: { host: '127.0.0.1', port: 0 },
    decide,
    log: () => undefined,
    ...door,
  });
  const session = connectDoor(opened.address);
  return {
    ...{ door: opened, session, entries, faults, visitor },
    async close() {
      session.destroy();
      await opened.stop(0);
    },
  };
}

/** A request as a visitor sends it. */
export interface Visit {
  readonly method?: string;
  readonly host?: string;
  readonly target?: string;
  readonly scheme?: string;
  readonly protocol?: string;
  /** One character an octet. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly ip?: string | null;
  readonly port?: number;
  readonly body?: Uint8Array | null;
  /** Of the body; absent: there is no such header. */
  readonly partial?: string;
  readonly extensions?: Readonly<Record<string, string>>;
  readonly sni?: string;
}

/** The CheckRequest of a request, as Envoy makes it with `encode_raw_headers` and `pack_as_bytes`. */
export function envoyCheck({
  method = 'GET',
  host = 'shop.test',
  target = '/',
  scheme = 'https',
  protocol = 'HTTP/1.1',
  headers = {},
  ip = '203.0.113.9',
  port = 443,
  body = null,
  partial,
  extensions = {},
  sni,
}: Visit): JsonObject {
  const listed = Object.entries(headers).flatMap(([key, value]) =>
    (typeof value === 'string' ? [value] : value).map((one) => ({ key, value: one })),
  );
  const pseudo = { ':authority': host, ':path': target, ':method': method, ':scheme': scheme };
  const sent = [...Object.entries(pseudo).map(([key, value]) => ({ key, value })), ...listed];
  if (partial !== undefined) sent.push({ key: 'x-envoy-auth-partial-body', value: partial });
  const header_map = {
    headers: sent.map(({ key, value }) => ({
      key,
      raw_value: Buffer.from(value, 'latin1').toString('base64'),
    })),
  };
  return {
    attributes: {
      source: ip === null ? {} : { address: { socket_address: { address: ip, port_value: 50_000 } } },
      destination: { address: { socket_address: { address: '192.0.2.80', port_value: port } } },
      request: {
        time: { seconds: '1', nanos: 0 },
        http: {
          ...{ id: '1', method, scheme, protocol, size: '-1', header_map },
          // Envoy replaces octets that are not UTF-8 in these two.
          path: target.replaceAll(/[^ -~]/g, '!'),
          host: host.replaceAll(/[^ -~]/g, '!'),
          ...(body === null ? {} : { raw_body: Buffer.from(body).toString('base64') }),
        },
      },
      context_extensions: extensions,
      ...(sni === undefined ? {} : { tls_session: { sni } }),
    },
  };
}
