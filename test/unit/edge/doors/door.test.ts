/** The decider of doors: what an open agent forwards after a fault of its own, and what stays refused. */

import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../../../src/base/platform/cryptography.ts';
import { createChallenges } from '../../../../src/edge/answers/challenge/challenge.ts';
import { createCredentialVerifier } from '../../../../src/edge/credentials/verify.ts';
import type { ProxiedRequest } from '../../../../src/edge/decide/proxied.ts';
import { createUnserved } from '../../../../src/edge/decide/unserved.ts';
import { createDecisionReporter } from '../../../../src/edge/decide/verdict.ts';
import { createDoorDecider, type DoorFault, type DoorOptions } from '../../../../src/edge/doors/door.ts';
import { openPlans } from '../../../../src/edge/middleware/node/plans.ts';
import { sealedPlan } from '../../../support/embed.ts';

const BUG = new Error('a bug');
const RULES = [{ id: 1, type: 'drop', path_includes: ['/admin'] }];

function requestOf(change: Partial<ProxiedRequest> = {}): ProxiedRequest {
  return {
    scheme: 'https',
    method: 'GET',
    host: 'shop.localhost',
    target: '/a?b=c',
    protocol: 'HTTP/1.1',
    port: 443,
    headers: { host: 'shop.localhost', cookie: 'a=1' },
    ip: '192.0.2.7',
    serverName: null,
    body: null,
    ...change,
  };
}

interface Broken extends Pick<DoorOptions, 'hasPlans'> {
  readonly isOpen: boolean;
  /** What throws. */
  readonly bug?: 'deciding' | 'logging' | null;
}

function deciderOf({ isOpen, bug = null, hasPlans }: Broken) {
  const opened: DoorFault[] = [];
  const faults: unknown[] = [];
  const fail = (): never => {
    throw BUG;
  };
  const reporter = createDecisionReporter({ onFault: (error) => faults.push(error) });
  const { table } = openPlans({ plans: [sealedPlan({ rules: RULES })], signatures: null }, reporter);
  const secret = randomBytes(32);
  const decide = createDoorDecider({
    services: {
      plans: table,
      challenges: createChallenges({ secrets: () => ({ current: secret, previous: [] }), cost: 20 }),
      credentials: createCredentialVerifier(sha256),
      classifier: { country: bug === 'deciding' ? fail : () => null, asn: () => null, bot: () => undefined },
      unserved: createUnserved({ plans: table, listed: false, onUnserved: () => undefined }),
    },
    requestLog: { done: bug === 'logging' ? fail : () => undefined },
    enforced: new Set(),
    onFault: (error) => faults.push(error),
    ...(hasPlans === undefined ? {} : { hasPlans }),
    ...(isOpen ? { onOpened: (fault: DoorFault) => void opened.push(fault) } : {}),
  });
  return { decide, opened, faults };
}

const none = (): boolean => false;
const ELSEWHERE = { host: 'elsewhere.test', headers: { host: 'elsewhere.test' } };

describe('an open agent', () => {
  test('forwards a request whose decision failed, unchanged and with the fault', async () => {
    const { decide, opened, faults } = deciderOf({ isOpen: true, bug: 'deciding' });
    const answer = await decide(requestOf({ target: '/admin' }));
    expect(answer).toMatchObject({
      kind: 'forward',
      verdict: null,
      fault: 'failed',
      changes: { target: '/admin', origin: null, cookies: null },
    });
    expect([opened, faults]).toEqual([['failed'], [BUG]]);
  });

  test('forwards a request for an unknown host while plans are on their way', async () => {
    const { decide, opened } = deciderOf({ isOpen: true, hasPlans: none });
    expect(await decide(requestOf(ELSEWHERE))).toMatchObject({ kind: 'forward', fault: 'no_plan' });
    expect(opened).toEqual(['no_plan']);
  });

  test('decides what it has a plan for, and refuses an unknown host once all plans are there', async () => {
    const early = deciderOf({ isOpen: true, hasPlans: none });
    const blocked = await early.decide(requestOf({ target: '/admin' }));
    expect(blocked).toMatchObject({ kind: 'answer', answer: { status: 403 } });
    expect(await early.decide(requestOf())).toMatchObject({ kind: 'forward', fault: null });
    const { decide, opened } = deciderOf({ isOpen: true });
    expect(await decide(requestOf(ELSEWHERE))).toMatchObject({ kind: 'answer', answer: { status: 421 } });
    expect([opened, early.opened]).toEqual([[], []]);
  });

  test('refuses a decided request after a bug behind the decision', async () => {
    const { decide, opened, faults } = deciderOf({ isOpen: true, bug: 'logging' });
    expect(await decide(requestOf({ target: '/admin' }))).toMatchObject({ kind: 'fault', fault: 'failed' });
    expect(await decide(requestOf(ELSEWHERE))).toMatchObject({ kind: 'fault', fault: 'failed' });
    expect([opened, faults.length]).toEqual([[], 2]);
  });

  test.each([
    ['a host that is none', { host: 'a b' }],
    ['the method TRACE', { method: 'TRACE' }],
    ['another name in the handshake', { serverName: 'other.test' }],
  ])('refuses %s while plans are on their way', async (_, change) => {
    const { decide, opened } = deciderOf({ isOpen: true, hasPlans: none });
    expect((await decide(requestOf(change))).kind).toBe('answer');
    expect(opened).toEqual([]);
  });
});

test('a closed agent forwards nothing without a decision', async () => {
  const failing = deciderOf({ isOpen: false, bug: 'deciding' });
  expect(await failing.decide(requestOf())).toMatchObject({ kind: 'fault', fault: 'failed' });
  const early = deciderOf({ isOpen: false, hasPlans: none });
  expect(await early.decide(requestOf(ELSEWHERE))).toMatchObject({ kind: 'fault', fault: 'no_plan' });
});
