/**
 * Generated requests through nginx and Caddy with the HTTP door beside them: each gets the outcome that `evaluate` gives the
 * request as the visitor sent it, but for what the verdict names as unenforced.
 */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compile, seal } from '../../src/engine/compiler/index.ts';
import { type Decision, type EdgeRequest, loadPlan } from '../../src/engine/evaluator/index.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { countAnswer } from '../../src/workbench/simulation/conditions.ts';
import { generateCase } from '../support/generate.ts';
import {
  openTestDoor,
  type ProxyOptions,
  type RunningProxy,
  type SeenOrigin,
  startCaddy,
  startNginx,
  startSeenOrigin,
} from '../support/http-door.ts';
import { missingProgram, requires } from '../support/requires.ts';
import { sizeOf } from '../support/size.ts';

const REQUESTS = sizeOf('EDGEPLAN_DOOR_REQUESTS', { usual: 4_000, full: 20_000 });
const SETS = 8;

interface ProxyKind {
  readonly start: (options: ProxyOptions) => Promise<RunningProxy>;
  /** Whether a header gives the visitor's address; else it is that of the connection. */
  readonly statesVisitor: boolean;
}

const PROXIES: readonly [string, ProxyKind][] = [
  ['nginx', { start: startNginx, statesVisitor: true }],
  ['caddy', { start: startCaddy, statesVisitor: false }],
];

/** A generated request in a form that a client can send; `null`: none can. */
interface Sendable {
  readonly method: string;
  readonly host: string;
  readonly target: string;
  readonly ip: string;
  readonly userAgent: string | null;
  /** Further headers, as conditions read them. */
  readonly headers: Readonly<Record<string, string>>;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT'];
/** A value of a header that arrives as it was sent. */
const SENDABLE = /^[!-~](?:[ -~]*[!-~])?$/;
const VISITORS = ['192.0.2.1', '203.0.113.7', '198.51.100.200', '10.1.2.3'];

function sendable(request: EdgeRequest, at: number): Sendable | null {
  const { method, host, target, ip, headers } = request as Readonly<Record<string, unknown>> & EdgeRequest;
  if (typeof host !== 'string' || typeof target !== 'string' || typeof method !== 'string') return null;
  // Without a path, or with a blank in it, a request line is none; Host values with blanks are none either.
  if (!/^\/[!-~]*$/.test(target) || !/^[!-~]+$/.test(host)) return null;
  // nginx drops a port of the Host whatever it is, and Caddy encodes `#`: what is decided and forwarded is what they read.
  if (host.endsWith(':65536') || target.includes('#')) return null;
  // A head that is longer than parsers take reaches no door, and an echo of it not its client.
  if (target.length > 4_000) return null;
  const agent = headers?.['user-agent'];
  const further = Object.entries(headers ?? {}).filter(
    (entry): entry is [string, string] =>
      entry[0] !== 'user-agent' &&
      typeof entry[1] === 'string' &&
      SENDABLE.test(entry[1]) &&
      entry[1].length < 200,
  );
  return {
    // Others are refused before the agent is asked.
    method: METHODS.includes(method) ? method : 'GET',
    headers: Object.fromEntries(further.map(([name, value]) => [name.toLowerCase(), value])),
    host,
    target,
    ip: typeof ip === 'string' && /^[1-9][\d.]*$/.test(ip) ? ip : VISITORS[at % VISITORS.length]!,
    userAgent: typeof agent === 'string' && agent.length < 4_000 ? agent : null,
  };
}

interface Received {
  readonly status: number;
  readonly location: string | undefined;
  /** The target that reached the application; `null`: the proxy did not forward it. */
  readonly target: string | null;
}

function send(
  port: number,
  agent: Agent,
  { method, host, target, ip, userAgent, headers: further }: Sendable,
): Promise<Received> {
  const headers = {
    ...further,
    host,
    'x-test-visitor': ip,
    ...(userAgent === null ? {} : { 'user-agent': userAgent }),
  };
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path: target, headers, agent };
    const request = httpRequest(options, (response: IncomingMessage) => {
      response.resume().on('end', () => {
        const seen = response.headers['x-target'];
        resolve({
          status: response.statusCode ?? 0,
          location: response.headers['location'],
          target: typeof seen === 'string' ? decodeURIComponent(seen) : null,
        });
      });
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      // Go's server answers a request that it cannot read with a body, to HEAD too.
      if (error.code === 'HPE_CLOSED_CONNECTION') resolve({ status: 400, location: undefined, target: null });
      else reject(new Error(`${method} ${host} ${target}`, { cause: error }));
    });
    request.end();
  });
}

/** The outcome that a visitor sees of a decision. */
function expected({ action, status, location, path, query, rule }: Decision): Received | null {
  if (action === 'forward') {
    return { status: 200, location: undefined, target: query === null ? path : `${path}?${query}` };
  }
  // The challenge endpoint: a page of its own.
  if (action === 'respond' && rule === null) return null;
  return {
    status: action === 'challenge' ? 403 : (status ?? 500),
    location: location ?? undefined,
    target: null,
  };
}

/** Rule sets that are served, without counters: two evaluators would count apart. */
function ruleSets(): { readonly ruleSet: RuleSet; readonly requests: readonly EdgeRequest[] }[] {
  const found = [];
  for (let seed = 1; found.length < SETS; seed++) {
    const { ruleSet, requests } = generateCase(seed, Math.ceil(REQUESTS / SETS), {
      answers: 0.3,
      conditions: { share: 0.3 },
    });
    if (ruleSet.domain.status !== 'active' || ruleSet.domain.suspended) continue;
    const rules = ruleSet.rules.filter(({ type }) => type !== 'rate_limit' && type !== 'waf');
    found.push({ ruleSet: { ...ruleSet, rules }, requests });
  }
  return found;
}

describe.each(PROXIES)('%s', requires(missingProgram('nginx'), missingProgram('caddy')), (name, kind) => {
  let origin: SeenOrigin;
  beforeAll(async () => {
    origin = await startSeenOrigin();
  });
  afterAll(() => origin.close());

  test('every generated request gets its outcome', async () => {
    const actions = new Map<string, number>();
    const own = { refused: 0, compared: 0 };
    for (const { ruleSet, requests } of ruleSets()) {
      const plan = seal(compile(ruleSet).plan, { revision: 1 });
      const evaluator = loadPlan(plan, {});
      const door = await openTestDoor({ plans: [plan] });
      const proxy = await kind.start({ path: door.path, origin: origin.port });
      const agent = new Agent({ keepAlive: true, maxSockets: 4 });
      for (const [at, generated] of requests.entries()) {
        const sent = sendable(generated, at);
        if (sent === null) continue;
        const decisions = door.journal.length;
        const received = await send(proxy.port, agent, sent);
        const about = `${name} ${JSON.stringify(sent)}`;
        if (door.journal.length === decisions) {
          // The proxy or the contract refused it: nothing was forwarded.
          expect([received.target, received.status >= 400], about).toEqual([null, true]);
          own.refused++;
          continue;
        }
        const seen = door.journal.at(-1)!;
        const decision = evaluator.evaluate({
          scheme: 'http',
          method: sent.method,
          host: sent.host,
          target: sent.target,
          ip: kind.statesVisitor ? sent.ip : '127.0.0.1',
          country: null,
          port: proxy.port,
          protocol: 'HTTP/1.1',
          headers: {
            ...sent.headers,
            host: sent.host,
            ...(sent.userAgent === null ? {} : { 'user-agent': sent.userAgent }),
          },
          now: seen.exchange?.request.now ?? Date.now(),
        });
        // The agent counts the statuses of its own answers.
        countAnswer(evaluator, decision, null);
        const outcome = expected(decision);
        if (outcome === null) continue;
        own.compared++;
        actions.set(decision.action, (actions.get(decision.action) ?? 0) + 1);
        // What the verdict names as not enforced goes to the application as it was sent.
        const isSentOn: boolean =
          seen.unenforced?.includes('rewrite') === true && received.target === seen.exchange?.request.target;
        expect(received, about).toEqual(isSentOn ? { ...outcome, target: received.target } : outcome);
      }
      expect(door.faults).toEqual([]);
      agent.destroy();
      await proxy.close();
      await door.close();
    }
    // The comparison has met every kind of outcome, and few requests ended before it.
    for (const action of ['forward', 'block', 'redirect', 'challenge', 'refuse']) {
      expect(actions.get(action) ?? 0, `${action} of ${JSON.stringify([...actions])}`).toBeGreaterThan(5);
    }
    expect(own.refused).toBeLessThan(own.compared / 10);
  });
});
