/** The verdict of each pair of answers: what the log says, and what the rules decide. */
import { describe, expect, it } from 'vitest';
import type { Match } from '../../../../src/engine/evaluator/decision.ts';
import type { AnswerSource } from '../../../../src/workbench/access-logs/entry.ts';
import {
  ANSWER_REASONS,
  type AnswerReason,
  compareAnswer,
  type DecisionAnswer,
  isSameLocation,
} from '../../../../src/workbench/replay/compare-answer.ts';

const REQUEST = { scheme: 'https', method: 'GET', host: 'a.example', target: '/old?x=1' };

/** A decision of `forward`, or of an action with a status: `block 403`. */
function decisionOf(text: string, matches: readonly Match[] = []): DecisionAnswer {
  const [action = '', status] = text.split(' ');
  return {
    action: action as DecisionAnswer['action'],
    status: status === undefined ? null : Number(status),
    rule: null,
    location: action === 'redirect' ? 'https://a.example/new' : null,
    matches,
  };
}

interface Given {
  readonly source?: AnswerSource;
  readonly location?: string;
  readonly method?: string;
  readonly anyRefusal?: boolean;
}

function reasonOf(
  status: number,
  decision: DecisionAnswer,
  { source = 'unknown', location = '', method = 'GET', anyRefusal = false }: Given = {},
): AnswerReason {
  const logged = { status, source, location };
  const request = { ...REQUEST, method };
  return compareAnswer({ logged, decision, request, anyRefusal, redact: (url) => url });
}

function matchOf(type: Match['type'], effect: Match['effect'], mode: Match['mode'] = 'enforce'): Match {
  return { type, id: 1, mode, effect };
}

describe('what the rules forward', () => {
  const unknown: readonly (readonly [AnswerReason, readonly number[]])[] = [
    ['forwarded', [101, 200, 204, 206, 300, 304, 412, 416, 500, 501, 505, 599]],
    ['redirected_by_either', [301, 302, 303, 307, 308]],
    ['refused_by_either', [401, 402, 403, 404, 405, 406, 410, 418, 421, 422, 426, 428, 429, 451, 503]],
    ['refused_there', [444]],
    ['broken', [400, 408, 413, 414, 431, 460, 494, 495, 496, 497, 499]],
    ['failed_there', [502, 504, 520, 522, 527, 530]],
    ['no_status', [0]],
  ];
  it.each(unknown)('is %s where the log does not say who answered %j', (reason, statuses) => {
    for (const status of statuses)
      expect(reasonOf(status, decisionOf('forward')), String(status)).toBe(reason);
  });

  const proxy: readonly (readonly [AnswerReason, readonly number[]])[] = [
    ['answered_there', [200, 204, 304, 404, 405, 416]],
    ['redirected_there', [301, 302, 303, 307, 308]],
    ['refused_there', [401, 403, 410, 429, 444, 451, 503]],
    ['broken', [400, 413, 499]],
    ['failed_there', [500, 502]],
  ];
  it.each(proxy)('is %s where the proxy has answered %j', (reason, statuses) => {
    for (const status of statuses)
      expect(reasonOf(status, decisionOf('forward'), { source: 'proxy' }), String(status)).toBe(reason);
  });

  it('is the same where an origin has answered, whatever the status', () => {
    for (const status of [0, 200, 301, 400, 403, 429, 502, 503])
      expect(reasonOf(status, decisionOf('forward'), { source: 'origin' })).toBe('forwarded');
  });

  it('is not comparable where the origin has failed', () => {
    expect(reasonOf(503, decisionOf('forward'), { source: 'failure' })).toBe('failed_there');
  });

  it('is not comparable where a limit there refused and an enforced one here has counted', () => {
    const limited = decisionOf('forward', [matchOf('rate_limit', 'counted')]);
    const tried = decisionOf('forward', [matchOf('rate_limit', 'counted', 'dry_run')]);
    for (const source of ['unknown', 'proxy'] as const) {
      expect(reasonOf(429, limited, { source })).toBe('limited_there');
      expect(reasonOf(503, limited, { source })).toBe('limited_there');
    }
    expect(reasonOf(429, tried, { source: 'proxy' })).toBe('refused_there');
    expect(reasonOf(403, limited, { source: 'proxy' })).toBe('refused_there');
  });

  it('is not comparable where a waf rule lacks the body of a request that the proxy refused', () => {
    const passed = decisionOf('forward', [matchOf('waf', 'passed')]);
    expect(reasonOf(403, passed, { source: 'proxy', method: 'POST' })).toBe('uninspected');
    expect(reasonOf(403, passed, { source: 'proxy' })).toBe('refused_there');
    expect(reasonOf(403, decisionOf('forward'), { source: 'proxy', method: 'POST' })).toBe('refused_there');
  });
});

describe('what the rules answer', () => {
  const cases: readonly (readonly [number, string, AnswerReason])[] = [
    [403, 'block 403', 'equal'],
    [429, 'block 429', 'equal'],
    [400, 'refuse 400', 'equal'],
    [301, 'redirect 301', 'equal'],
    [403, 'challenge 403', 'equal'],
    [444, 'block 403', 'closed_there'],
    [200, 'block 403', 'refused_here'],
    [200, 'refuse 400', 'refused_here'],
    [304, 'block 403', 'refused_here'],
    [302, 'block 403', 'refused_here'],
    [502, 'block 403', 'refused_here'],
    [200, 'challenge 403', 'challenged_here'],
    [200, 'redirect 301', 'redirected_here'],
    [403, 'redirect 301', 'redirected_here'],
    [444, 'redirect 301', 'redirected_here'],
    [301, 'redirect 302', 'other_redirect'],
    [404, 'block 403', 'other_refusal'],
    [503, 'block 429', 'other_refusal'],
    [404, 'challenge 403', 'other_refusal'],
    [404, 'respond 200', 'answered_here'],
    [200, 'respond 404', 'refused_here'],
    [200, 'respond 200', 'answered_by_either'],
    [400, 'block 403', 'broken'],
    [499, 'block 403', 'broken'],
    [499, 'redirect 301', 'broken'],
    [0, 'block 403', 'no_status'],
  ];
  it.each(cases)('%d in the log and %s here is %s', (status, text, reason) => {
    expect(reasonOf(status, decisionOf(text))).toBe(reason);
  });

  it('depends on who has answered', () => {
    expect(reasonOf(200, decisionOf('respond 200'), { source: 'origin' })).toBe('answered_here');
    expect(reasonOf(200, decisionOf('respond 200'), { source: 'proxy' })).toBe('equal');
    expect(reasonOf(404, decisionOf('block 403'), { source: 'origin' })).toBe('refused_here');
    expect(reasonOf(404, decisionOf('block 403'), { source: 'proxy' })).toBe('other_refusal');
    expect(reasonOf(400, decisionOf('block 403'), { source: 'origin' })).toBe('refused_here');
    expect(reasonOf(503, decisionOf('block 403'), { source: 'failure' })).toBe('refused_here');
    // An agent does not see what its proxy got from the origin.
    expect(reasonOf(0, decisionOf('block 403'), { source: 'origin' })).toBe('refused_here');
  });

  it('is not comparable where a limit there came before a rule that answers here', () => {
    const redirected = decisionOf('redirect 301', [matchOf('rate_limit', 'counted')]);
    expect(reasonOf(429, redirected)).toBe('limited_there');
    expect(reasonOf(429, decisionOf('redirect 301'))).toBe('redirected_here');
  });

  it('names a limit that is reached here alone', () => {
    const limited = { ...decisionOf('block 429'), rule: { type: 'rate_limit', id: 1 } as const };
    expect(reasonOf(200, limited)).toBe('limited_here');
    const counted = { ...limited, matches: [matchOf('rate_limit', 'counted')] };
    expect(reasonOf(503, counted)).toBe('other_refusal');
    expect(reasonOf(503, limited)).toBe('other_refusal');
  });

  it('compares locations where the log has them', () => {
    const decision = decisionOf('redirect 301');
    expect(reasonOf(301, decision, { location: 'https://a.example/new' })).toBe('equal');
    expect(reasonOf(301, decision, { location: 'https://a.example/newer' })).toBe('other_location');
    expect(reasonOf(302, decision, { location: 'https://a.example/new' })).toBe('other_redirect');
  });

  it('is the same for any two refusals where statuses of refusals are not compared', () => {
    const any = { anyRefusal: true };
    expect(reasonOf(404, decisionOf('block 403'), any)).toBe('any_refusal');
    expect(reasonOf(403, decisionOf('block 403'), any)).toBe('equal');
    expect(reasonOf(404, decisionOf('block 403'), { ...any, source: 'origin' })).toBe('refused_here');
    expect(reasonOf(200, decisionOf('block 403'), any)).toBe('refused_here');
    expect(reasonOf(301, decisionOf('redirect 302'), any)).toBe('other_redirect');
  });
});

describe('isSameLocation', () => {
  it.each([
    ['https://a.example/new', 'https://A.example:443/new', true],
    ['https://a.example', 'https://a.example/', true],
    ['https://a.example/new?', 'https://a.example/new', true],
    ['http://a.example/new', 'https://a.example/new', false],
    ['https://b.example/new', 'https://a.example/new', false],
    ['https://a.example/new?x=1', 'https://a.example/new?x=2', false],
    ['https://a.example/new#one', 'https://a.example/new#two', false],
    // A server behind another one adds its own scheme and port to a path.
    ['http://a.example:8080/new', '/new', true],
    ['/new', 'http://a.example:8080/new', true],
    ['http://b.example/new', '/new', false],
    ['new', 'https://a.example/new', true],
    ['//b.example/new', 'https://b.example/new', true],
    ['//b.example/new', 'http://b.example/new', false],
    ['http://[', 'https://a.example/new', false],
    ['http://[', 'http://[', true],
  ])('%j and %j: %j', (logged, here, same) => {
    expect(isSameLocation(logged, here, REQUEST)).toBe(same);
    expect(isSameLocation(here, logged, REQUEST)).toBe(same);
  });

  it('reads a target in the absolute form, one with two slashes, and one that is no URL', () => {
    const slashes = { ...REQUEST, target: '//admin' };
    expect(isSameLocation('/new', 'https://a.example/new', slashes)).toBe(true);
    expect(isSameLocation('/new', 'https://admin/new', slashes)).toBe(false);
    const absolute = { ...REQUEST, target: 'https://a.example/b/old' };
    expect(isSameLocation('new', 'https://a.example/b/new', absolute)).toBe(true);
    expect(isSameLocation('/new', 'https://a.example/new', { ...REQUEST, target: 'http://[' })).toBe(true);
  });
});

it('has every verdict among its reasons', () => {
  const verdicts = new Set(Object.values(ANSWER_REASONS).map(({ verdict }) => verdict));
  expect([...verdicts].sort()).toEqual(['different', 'incomparable', 'open', 'same']);
});
