/**
 * The gRPC door over real sockets and real plans, by a client and an encoder that are not ours: each request gets what
 * `evaluate` decides, and what a broken or hostile client sends affects no other call.
 */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '@bufbuild/protobuf';
import { afterEach, describe, expect, test } from 'vitest';
import { canonicalIp } from '../../src/base/addresses/ip.ts';
import { forwardedTarget } from '../../src/edge/answers/decided.ts';
import type { DoorAnswer } from '../../src/edge/doors/door.ts';
import { MAX_MESSAGE_OCTETS, MAX_STREAMS } from '../../src/edge/doors/ext-authz/limits.ts';
import { type ExtAuthzDoorOptions, openExtAuthzDoor } from '../../src/edge/doors/ext-authz/open.ts';
import type { Decision, EdgeRequest } from '../../src/engine/evaluator/index.ts';
import { countAnswer } from '../../src/workbench/simulation/conditions.ts';
import {
  askDoor,
  CHECK_PATH,
  call,
  connectDoor,
  framed,
  HEALTH_PATH,
  openCall,
  oracleDecode,
  oracleEncode,
  resultOf,
} from '../support/ext-authz.ts';
import { type DoorRig, envoyCheck, openDoorRig, type Visit } from '../support/ext-authz-rig.ts';
import { generateCase } from '../support/generate.ts';
import { wordProgram } from '../support/generate-waf.ts';
import { loadRuleSet, optionsOf } from '../support/load.ts';
import { ACK, END_HEADERS, END_STREAM, FRAME, field, frame, speakHttp2 } from '../support/raw-http2.ts';
import { sizeOf } from '../support/size.ts';
import { until } from '../support/until.ts';

const FIRST_SEED = Number(process.env['EDGEPLAN_SEED'] ?? 1);
/** Rule sets, each with 150 requests. */
const RULE_SETS = sizeOf('EDGEPLAN_GRPC_RULE_SETS', { usual: 30, full: 140 });

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function rigOf(...args: Parameters<typeof openDoorRig>): Promise<DoorRig> {
  const rig = await openDoorRig(...args);
  closing.push(() => rig.close());
  return rig;
}

/** A door before a decider that the test gives. */
async function doorOf(options: Partial<ExtAuthzDoorOptions> & Pick<ExtAuthzDoorOptions, 'decide'>) {
  const sentences: string[] = [];
  const door = await openExtAuthzDoor({
    address: { host: '127.0.0.1', port: 0 },
    log: (sentence) => sentences.push(sentence),
    ...options,
  });
  const session = connectDoor(door.address);
  closing.push(async () => {
    session.destroy();
    await door.stop(0);
  });
  return { door, session, sentences };
}

const REFUSAL: DoorAnswer = {
  kind: 'answer',
  id: 'id-1',
  verdict: null,
  answer: {
    status: 451,
    headers: ['Content-Type', 'text/plain', 'Set-Cookie', 'a=1', 'set-cookie', 'b=2'],
    body: 'no',
  },
};

const ASKED = oracleEncode('CheckRequest', envoyCheck({}));

/** A generated request as a visitor could send it; `null`: no client sends such values. */
function visitOf(request: EdgeRequest): Visit | null {
  const { host, target, method, headers = {}, ip } = request as unknown as Record<string, unknown>;
  if (typeof host !== 'string' || typeof target !== 'string' || typeof method !== 'string') return null;
  if (typeof headers !== 'object' || headers === null || /[^ -~]/.test(host + target)) return null;
  const sent: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (list.length === 0 || list.some((one) => typeof one !== 'string' || /[^\0-\xff]/.test(one)))
      return null;
    const texts = list as readonly string[];
    const lower = name.toLowerCase();
    // Envoy's names are in lower case.
    if (Object.hasOwn(sent, lower) || name.startsWith(':')) return null;
    sent[lower] = texts.length === 1 ? texts[0]! : lower === 'cookie' ? texts.join('; ') : texts;
  }
  for (const name of ['content-length', 'transfer-encoding', 'content-encoding', 'x-forwarded-proto'])
    delete sent[name];
  const { body } = request;
  const octets = typeof body === 'string' ? Buffer.from(body) : body instanceof Uint8Array ? body : null;
  if (octets !== null) sent['content-length'] = String(octets.length);
  const address = typeof ip === 'string' ? canonicalIp(ip) : null;
  return {
    ...{ host, target, method, headers: sent, ip: address, port: 443 },
    scheme: request.scheme === 'http' ? 'http' : 'https',
    protocol: request.protocol === 'HTTP/2' ? 'HTTP/2' : 'HTTP/1.1',
    ...(octets === null || octets.length === 0 ? {} : { body: octets, partial: 'false' }),
  };
}

/** Asks about one generated request; the decision that the door logged, `null`: it refused the request before. */
async function compareOne(
  rig: DoorRig,
  reference: ReturnType<typeof loadRuleSet>,
  request: EdgeRequest,
): Promise<Decision | null> {
  const visit = visitOf(request);
  if (visit === null) return null;
  const { country, bot, ja4 } = request;
  rig.visitor.country = typeof country === 'string' && visit.ip !== null ? country : null;
  rig.visitor.bot = typeof bot === 'object' ? bot : null;
  const headers = typeof ja4 === 'string' ? { ...visit.headers, 'x-proxy-ja4': ja4 } : visit.headers!;
  const extensions = { 'edgeplan-ja4-header': 'x-proxy-ja4' };
  const response = await askDoor(rig.session, envoyCheck({ ...visit, headers, extensions }));
  const { exchange } = rig.entries.at(-1)!;
  if (exchange === null) {
    expect([400, 405, 421]).toContain(
      (response['denied_response'] as JsonObject)['status']!['code' as never],
    );
    return null;
  }
  const seen = exchange.request;
  const { scheme, method, host, target, protocol, port, ip } = visit;
  const sent = { scheme, method, host, target, protocol, port, headers, ip, country: rig.visitor.country };
  expect(seen).toMatchObject({
    ...sent,
    bot: rig.visitor.bot,
    ja4: typeof ja4 === 'string' && ja4 !== '' ? ja4 : null,
  });
  const { now, body } = seen;
  if (body !== undefined && body !== null) {
    const inspected = Buffer.from(body as Uint8Array);
    expect(inspected.equals(Buffer.from(visit.body ?? []).subarray(0, inspected.length))).toBe(true);
  }
  const { bodyError, bodyTruncated } = seen as { bodyError?: string | null; bodyTruncated?: boolean };
  const expected = reference.evaluate({
    ...(sent as EdgeRequest),
    ...{ now, cleared: [], ja4h: null, bot: rig.visitor.bot ?? null, ja4: seen.ja4 ?? null },
    ...(body === undefined ? {} : { body, bodyError, bodyTruncated }),
  } as EdgeRequest);
  // The agent counts the statuses of its own answers.
  countAnswer(reference, expected, null);
  if (!isDeepStrictEqual(exchange.decision, expected)) expect(exchange.decision).toEqual(expected);
  expectOutcome(response, { decision: expected, target: seen.target });
  return expected;
}

type Options = readonly {
  readonly header: { readonly key: string; readonly value?: string };
  readonly append_action?: number;
}[];

function headersOf(list: unknown): ReadonlyMap<string, string> {
  return new Map(((list ?? []) as Options).map(({ header }) => [header.key, header.value ?? '']));
}

/** Checks that the response is what the decision says. */
function expectOutcome(
  response: JsonObject,
  { decision, target }: { readonly decision: Decision; readonly target: string },
): void {
  const { ok_response: ok, denied_response: denied } = response as Record<string, JsonObject | undefined>;
  const fields = (response['dynamic_metadata'] as JsonObject)['fields'] as Record<string, JsonObject>;
  expect(fields['action']).toEqual({ string_value: decision.action });
  if (decision.action !== 'forward') {
    expect(ok).toBeUndefined();
    expect(response['status']).toEqual({ code: 7 });
    const status = (denied!['status'] as JsonObject)['code'];
    if (decision.action !== 'challenge' && decision.rule !== null) expect(status).toBe(decision.status);
    if (decision.location !== null)
      expect(headersOf(denied!['headers']).get('location')).toBe(decision.location);
    return;
  }
  expect(denied).toBeUndefined();
  expect(response['status']).toEqual({});
  const headers = headersOf(ok!['headers']);
  const path = forwardedTarget(decision);
  expect(headers.get(':path') ?? target).toBe(path ?? target);
  if (decision.tags.join(',').length < 2_000) {
    expect(headers.get('x-edgeplan-tags') ?? '').toBe(decision.tags.join(','));
  }
  const { origin } = decision;
  expect(headers.get('x-edgeplan-origin-source') ?? null).toBe(origin?.source ?? null);
  expect(headers.get('x-edgeplan-host') ?? '').toBe(origin?.hostHeader ?? '');
  if (origin !== null && !origin.address.includes(':') && origin.port !== null) {
    expect(headers.get('x-edgeplan-origin')).toBe(`${origin.address}:${origin.port}`);
  }
  const unenforced = JSON.stringify(fields['unenforced']);
  expect(unenforced).not.toMatch(/"(origin|rewrite|body)"/);
  expect(unenforced.includes('"cache"')).toBe(decision.cache !== null && decision.cache.mode !== 'bypass');
}

describe('decisions through the gRPC door', () => {
  test('a generated request gets what `evaluate` decides', { timeout: 600_000 }, async () => {
    const actions = new Map<string, number>();
    for (let seed = FIRST_SEED; seed < FIRST_SEED + RULE_SETS; seed++) {
      const { ruleSet, env, requests } = generateCase(seed, 180, {
        answers: 0.3,
        conditions: { share: 0.3 },
      });
      const withWaf = { ...env, waf: seed % 3 === 0 ? null : wordProgram };
      const rig = await openDoorRig({ ruleSet, evaluator: optionsOf(withWaf) });
      const reference = loadRuleSet(ruleSet, { ...withWaf, revision: 1 });
      try {
        for (const request of requests) {
          const decision = await compareOne(rig, reference, request);
          const action = decision?.action ?? 'none';
          actions.set(action, (actions.get(action) ?? 0) + 1);
        }
        expect(rig.faults).toEqual([]);
      } finally {
        await rig.close();
      }
    }
    const compared = [...actions].reduce((sum, [action, count]) => sum + (action === 'none' ? 0 : count), 0);
    expect(compared).toBeGreaterThan(2_000);
    for (const action of ['forward', 'block', 'redirect', 'challenge', 'respond', 'refuse']) {
      expect(actions.get(action) ?? 0, action).toBeGreaterThan(10);
    }
  });

  test('a fault of ours is an error for the proxy, which chooses the status for it', async () => {
    const { ruleSet } = generateCase(FIRST_SEED, 0);
    const rig = await rigOf({ ruleSet });
    rig.visitor.fault = new Error('the classifier is broken');
    const response = await askDoor(rig.session, envoyCheck({ host: ruleSet.domain.name }));
    expect(response['status']).toEqual({ code: 13 });
    expect(response['ok_response'] ?? response['denied_response']).toBeUndefined();
    expect((response['error_response'] as JsonObject)['status']).toBeUndefined();
    expect(rig.faults).toHaveLength(1);
    expect(rig.door.counts()).toMatchObject({ faults: 1, forwarded: 0, answered: 0 });
    rig.visitor.fault = null;
    expect(Object.keys(await askDoor(rig.session, envoyCheck({ host: 'other.example' })))).toContain(
      'denied_response',
    );
  });

  test('an exception beyond the decider is an error for the proxy too, and is logged', async () => {
    const { session, sentences } = await doorOf({
      decide: () => {
        throw new Error('broken');
      },
    });
    expect((await askDoor(session, envoyCheck({})))['error_response']).toEqual({});
    const rejecting = await doorOf({ decide: () => Promise.reject(new Error('broken later')) });
    expect((await askDoor(rejecting.session, envoyCheck({})))['error_response']).toEqual({});
    expect([...sentences, ...rejecting.sentences].join('\n')).toMatch(/broken;.*\n.*broken later;/);
  });

  test('an answer reaches the visitor with its status, headers and body', async () => {
    const { session } = await doorOf({ decide: () => REFUSAL });
    expect(await askDoor(session, envoyCheck({}))).toEqual({
      status: { code: 7 },
      denied_response: {
        status: { code: 451 },
        headers: [
          { header: { key: 'content-type', value: 'text/plain' }, append_action: 2 },
          { header: { key: 'set-cookie', value: 'a=1' }, append_action: 2 },
          { header: { key: 'set-cookie', value: 'b=2' } },
        ],
        body: 'no',
      },
      dynamic_metadata: { fields: { id: { string_value: 'id-1' } } },
    });
  });

  test('serves on a unix socket of its user and group, and takes the place of a stale one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'edgeplan-door-'));
    closing.push(async () => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'agent.sock');
    const { session, door } = await doorOf({ decide: () => REFUSAL, address: { path } });
    expect(door.address).toBe(`unix:${path}`);
    expect(statSync(path).mode & 0o777).toBe(0o660);
    expect(Object.keys(await askDoor(session, envoyCheck({})))).toContain('denied_response');
    await expect(
      openExtAuthzDoor({ address: { path }, decide: () => REFUSAL, log: () => undefined }),
    ).rejects.toThrow('another');
    const file = join(folder, 'file');
    writeFileSync(file, '');
    await expect(
      openExtAuthzDoor({ address: { path: file }, decide: () => REFUSAL, log: () => undefined }),
    ).rejects.toThrow('file');
  });
});

describe('gRPC at the door', () => {
  test('a call ends with the status OK in trailers', async () => {
    const { session } = await doorOf({ decide: () => REFUSAL });
    const { headers, trailers } = await call(session, framed(ASKED), {
      headers: { 'content-type': 'application/grpc+proto', 'grpc-timeout': '200m' },
    });
    expect(headers).toMatchObject({ ':status': 200, 'content-type': 'application/grpc' });
    expect(trailers).toMatchObject({ 'grpc-status': '0' });
    expect(headers['grpc-status']).toBeUndefined();
  });

  test.each([
    ['another method', framed(ASKED), '/envoy.service.auth.v3.Authorization/Other', 12, 'unknownCalls'],
    ['another service', framed(ASKED), '/envoy.service.auth.v2.Authorization/Check', 12, 'unknownCalls'],
    ['a compressed message', framed(ASKED, 1), CHECK_PATH, 12, 'malformed'],
    ['a flag of 2', framed(ASKED, 2), CHECK_PATH, 13, 'malformed'],
    ['no message', Buffer.alloc(0), CHECK_PATH, 12, 'malformed'],
    ['two messages', Buffer.concat([framed(ASKED), framed(ASKED)]), CHECK_PATH, 12, 'malformed'],
    ['a cut prefix', Buffer.alloc(3), CHECK_PATH, 13, 'malformed'],
    ['a cut message', framed(ASKED).subarray(0, 20), CHECK_PATH, 13, 'malformed'],
    ['octets that are no message', framed(Buffer.from([0x0a, 0xff])), CHECK_PATH, 3, 'malformed'],
    ['a length of 4 GiB', Buffer.from([0, 255, 255, 255, 255, 1]), CHECK_PATH, 8, 'tooLarge'],
    ['a message above the limit', framed(Buffer.alloc(MAX_MESSAGE_OCTETS + 1)), CHECK_PATH, 8, 'tooLarge'],
  ] as const)('%s gets its status, and the next call is served', async (_, octets, path, status, counted) => {
    const { session, door } = await doorOf({ decide: () => REFUSAL });
    const refused = await call(session, octets, { path });
    expect(refused.status).toBe(status);
    expect(refused.headers[':status']).toBe(200);
    expect(refused.headers['grpc-accept-encoding']).toBe('identity');
    expect(decodeURIComponent(String(refused.headers['grpc-message']))).toMatch(/^[a-z`]/);
    expect(door.counts()[counted]).toBe(1);
    expect((await call(session, framed(ASKED))).status).toBe(0);
  });

  test('what is not gRPC gets a status of HTTP', async () => {
    const { session, door } = await doorOf({ decide: () => REFUSAL });
    const json = await call(session, Buffer.from('{}'), { headers: { 'content-type': 'application/json' } });
    const similar = await call(session, framed(ASKED), {
      headers: { 'content-type': 'application/grpc-web' },
    });
    const put = await call(session, Buffer.alloc(0), { headers: { ':method': 'PUT' } });
    expect([json, similar, put].map(({ headers }) => headers[':status'])).toEqual([415, 415, 405]);
    expect(door.counts().unknownCalls).toBe(3);
  });

  test('a client that does not speak HTTP/2 is cut off and counted', async () => {
    const { session, door, sentences } = await doorOf({ decide: () => REFUSAL });
    const socket = connectSocket(Number(new URL(door.address.replace('tcp:', 'http:')).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nHost: agent\r\n\r\n');
    await until(() => door.counts().protocolErrors === 1, 'the error of the connection');
    socket.destroy();
    expect(sentences.join('\n')).toContain('HTTP/2 in clear text');
    expect((await call(session, framed(ASKED))).status).toBe(0);
  });

  test('health checks say SERVING until the door retires', async () => {
    const { session, door } = await doorOf({ decide: () => REFUSAL });
    const health = async (service?: string): Promise<unknown> => {
      const message = oracleEncode('HealthCheckRequest', service === undefined ? {} : { service });
      const { status, body } = await call(session, framed(message), { path: HEALTH_PATH });
      return status === 0 ? oracleDecode('HealthCheckResponse', body.subarray(5))['status'] : status;
    };
    expect(await health()).toBe(1);
    expect(await health('envoy.service.auth.v3.Authorization')).toBe(1);
    expect(await health('other')).toBe(5);
    const unready = await doorOf({ decide: () => REFUSAL, isServing: () => false });
    const message = framed(oracleEncode('HealthCheckRequest', {}));
    const { body } = await call(unready.session, message, { path: HEALTH_PATH });
    expect(oracleDecode('HealthCheckResponse', body.subarray(5))).toEqual({ status: 2 });
    expect(door.counts().healthChecks).toBe(2);
  });
});

describe('connections of the gRPC door', () => {
  test('a call that waits delays no other, and replies come in the order of decisions', async () => {
    let settle: (answer: DoorAnswer) => void = () => undefined;
    const { session } = await doorOf({
      decide: ({ target }) => (target === '/slow' ? new Promise((resolve) => (settle = resolve)) : REFUSAL),
    });
    const slow = call(session, framed(oracleEncode('CheckRequest', envoyCheck({ target: '/slow' }))));
    for (let turn = 0; turn < 200; turn++) expect((await call(session, framed(ASKED))).status).toBe(0);
    settle(REFUSAL);
    expect((await slow).status).toBe(0);
  });

  test('more calls at once than a connection may have are all served', async () => {
    const { session, door } = await doorOf({
      decide: () => new Promise((resolve) => setImmediate(resolve, REFUSAL)),
    });
    await call(session, framed(ASKED));
    const many = await Promise.all(
      Array.from({ length: MAX_STREAMS * 3 }, () =>
        call(session, framed(ASKED)).then(({ status }) => status),
      ),
    );
    expect(new Set(many)).toEqual(new Set([0]));
    expect(door.counts()).toMatchObject({ answered: MAX_STREAMS * 3 + 1, calls: 0 });
  });

  test('a message in pieces of one octet is read', async () => {
    const { session } = await doorOf({ decide: () => REFUSAL });
    const stream = openCall(session);
    const result = resultOf(stream);
    for (const octet of framed(ASKED)) {
      await new Promise((resolve) => stream.write(Buffer.from([octet]), resolve));
    }
    stream.end();
    expect((await result).status).toBe(0);
  });

  test('a call whose message does not arrive is ended, and its connection serves others', async () => {
    const { session, door } = await doorOf({ decide: () => REFUSAL, callMs: 100 });
    const stream = openCall(session);
    const result = resultOf(stream);
    stream.write(framed(ASKED).subarray(0, 10));
    await expect(result).rejects.toThrow();
    await until(() => door.counts().tooSlow === 1 && door.counts().calls === 0, 'the end of the call');
    expect((await call(session, framed(ASKED))).status).toBe(0);
  });

  test('a call that the proxy cancels is counted, and its decision is dropped', async () => {
    let settle: (answer: DoorAnswer) => void = () => undefined;
    let asked = false;
    const { session, door } = await doorOf({
      decide: () => {
        asked = true;
        return new Promise((resolve) => (settle = resolve));
      },
    });
    const stream = openCall(session);
    const result = resultOf(stream).catch(() => 'reset');
    stream.end(framed(ASKED));
    await until(() => asked, 'the decision');
    stream.close(8);
    await result;
    await until(() => door.counts().cancelled === 1, 'the end of the call');
    settle(REFUSAL);
    await until(() => door.counts().answered === 1, 'the decision');
    expect(door.counts()).toMatchObject({ calls: 0, faults: 0 });
  });

  test('connections beyond the limit are closed, and those before are served', async () => {
    const { session, door, sentences } = await doorOf({ decide: () => REFUSAL, maxConnections: 1 });
    expect((await call(session, framed(ASKED))).status).toBe(0);
    const second = connectDoor(door.address);
    closing.push(async () => second.destroy());
    await until(() => second.destroyed, 'the end of the second connection');
    expect(door.counts()).toMatchObject({ refusedConnections: 1, connections: 1 });
    expect(sentences.join('\n')).toContain('the most');
    expect((await call(session, framed(ASKED))).status).toBe(0);
  });

  test('calls that were on their way when the door retired are answered on their connection', async () => {
    const { door } = await doorOf({ decide: () => REFUSAL, goawayMs: 600_000 });
    const client = speakHttp2(connectSocket(Number(new URL(door.address).port), '127.0.0.1'));
    closing.push(async () => void client.socket.destroy());
    const fields = Buffer.concat([
      Buffer.from([0x83, 0x86]),
      ...Object.entries({
        ':path': CHECK_PATH,
        ':authority': 'agent',
        te: 'trailers',
        'content-type': 'application/grpc',
      }).map(([name, value]) => field(name, value)),
    ]);
    const ask = (stream: number): void =>
      client.send(
        frame(FRAME.headers, END_HEADERS, stream, fields),
        frame(FRAME.data, END_STREAM, stream, framed(ASKED)),
      );
    const ended = (): readonly number[] =>
      client.frames
        .filter(({ type, flags }) => type === FRAME.headers && (flags & END_STREAM) !== 0)
        .map(({ stream }) => stream);
    const lastStreams = (): readonly number[] =>
      client.frames.filter(({ type }) => type === FRAME.goaway).map(({ content }) => content.readUInt32BE(0));
    client.send(frame(FRAME.settings, ACK, 0));
    ask(1);
    await until(() => ended().includes(1), 'the first response');
    door.retire();
    await until(() => client.goaway() !== null, 'the GOAWAY');
    // As a client that has not read it yet.
    ask(3);
    await until(() => ended().includes(3), 'the response after the GOAWAY');
    ask(5);
    await until(() => ended().includes(5), 'another response');
    expect(lastStreams()).toEqual([2 ** 31 - 1]);
  });

  test('a connection is closed at its last call, once no more can be on their way', async () => {
    let settle: (answer: DoorAnswer) => void = () => undefined;
    const { session, door } = await doorOf({
      decide: () => new Promise((resolve) => (settle = resolve)),
      goawayMs: 1,
    });
    const running = call(session, framed(ASKED));
    await until(() => door.counts().calls === 1, 'the call');
    const idle = connectDoor(door.address);
    closing.push(async () => idle.destroy());
    await new Promise((resolve) => idle.once('remoteSettings', resolve));
    door.retire();
    await until(() => idle.destroyed, 'the end of the idle connection');
    settle(REFUSAL);
    expect((await running).status).toBe(0);
    await until(() => door.counts().connections === 0, 'the end of the other connection');
  });

  test('a door that stops finishes its calls, accepts no more connections, and closes idle ones', async () => {
    let settle: (answer: DoorAnswer) => void = () => undefined;
    let asked = false;
    const { session, door } = await doorOf({
      decide: () => {
        asked = true;
        return new Promise((resolve) => (settle = resolve));
      },
    });
    const goaway = new Promise((resolve) => session.once('goaway', resolve));
    const running = call(session, framed(ASKED));
    await until(() => asked, 'the decision');
    const idle = connectDoor(door.address);
    closing.push(async () => idle.destroy());
    await new Promise((resolve) => idle.once('connect', resolve));
    const stopping = door.stop(60_000);
    expect(await goaway).toBe(0);
    await until(() => idle.closed || idle.destroyed, 'the end of the idle connection');
    const late = connectDoor(door.address);
    closing.push(async () => late.destroy());
    await until(() => late.destroyed, 'the refusal of a connection');
    settle(REFUSAL);
    expect((await running).status).toBe(0);
    await stopping;
    expect(door.counts()).toMatchObject({ connections: 0, calls: 0, answered: 1 });
  });

  test('a door that stops ends the calls that take longer than it waits', async () => {
    const { session, door } = await doorOf({ decide: () => new Promise(() => undefined) });
    const running = call(session, framed(ASKED)).catch(() => 'ended');
    await until(() => door.counts().calls === 1, 'the call');
    await door.stop(50);
    expect(await running).not.toMatchObject({ status: 0 });
  });
});
