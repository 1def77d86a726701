/** Builds ahead of the first request what an inspection otherwise builds on demand. */
import { utf8Bytes } from '../../../base/octets/octets.ts';
import { prepareGroups, prepareMatcher } from '../patterns/pattern.ts';
import { inspectWith } from '../request/inspect.ts';
import type { WafInput } from '../request/inspection.ts';
import type { CompiledRuleSet } from '../request/rule-set.ts';

/** Builds the automata of a level's patterns, then inspects sample requests to fill its schedules. */
export function warmLevel(level: CompiledRuleSet): void {
  for (const { links } of level.rules) {
    for (const { condition, captures } of links) {
      if (condition.operator.kind !== 'rx') continue;
      const matcher = level.matchers[condition.operator.pattern]!;
      prepareMatcher(matcher);
      if (captures) prepareGroups(matcher);
    }
  }
  // The threshold has no influence on which schedules are built.
  const settings = { paranoia: level.paranoia, threshold: 5, excludes: [], exclusions: [] };
  for (let turn = 0; turn < TURNS; turn++) for (const input of INPUTS) inspectWith(level, input, settings);
}

/** Rounds of sample requests after which V8 has compiled most of the functions they run. */
const TURNS = 3;

/** One value for each profile of `request/schedules.ts`; the last has octets of most kinds, so that few tests exclude it. */
const VALUES = [
  '1',
  'id',
  'Id',
  'a.b-c',
  'A b',
  'A, b: /c',
  `"a"='b';`,
  `%41+a\\x41&lt;\0é '"\`or 1=1--(/*<a b=c>[{$x}]*/)|../;\r\n`,
] as const;

/** The sample requests: a form and a JSON body. */
const INPUTS: readonly WafInput[] = [
  inputOf(
    'application/x-www-form-urlencoded',
    VALUES.map((value) => `a=${encodeURIComponent(value)}`).join('&'),
  ),
  inputOf('application/json', JSON.stringify(VALUES)),
];

/** A sample request with a body of a content type. */
function inputOf(type: string, body: string): WafInput {
  const headers = { host: 'edgeplan-self-test', 'content-type': type, cookie: 'a=b', accept: '*/*' };
  return {
    request: { scheme: 'https', method: 'POST', host: 'edgeplan-self-test', target: '/a?b=c', headers },
    body: utf8Bytes(body),
    truncated: false,
  };
}
