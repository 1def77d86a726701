/** Answers of generated rules beyond those of every type: drop rules with statuses of their own, redirects with captures. */
import type { Rule } from '../../src/rules/model/types.ts';
import type { Random } from './generate-random.ts';

const STATUSES = [404, 410, 421, 429, 451, 503] as const;

/** Path patterns by their count of groups, 1 and 2. */
const PATTERNS: readonly (readonly string[])[] = [
  ['^/(?:api|admin|a)(.*)$', '^/x?(.*)$', '^/a/(.*)$', '(.*)', '^/([^/]*)', '/(v[0-9]+)?$'],
  ['^/(a|api)/(.*)$', '^/([^/]+)/(?P<rest>.*)$', '^/(a|api)(i|dmin|.*)'],
];

/** A target that most paths make longer than a location may be. */
const LONG = `/long/${'$1'.repeat(7_000)}`;

/** Targets by the count of groups that they need at least, from 0. */
const TARGETS: readonly (readonly string[])[] = [
  ['/new', '/cost$$', 'https://example.com/a'],
  [
    '/new/$1',
    '/$1',
    '/.$1',
    '/api$1',
    '/a/$1',
    'https://example.com/$1',
    'http://other.test/x?q=$1&y#$1',
    '/a?$1',
    '/n${1}?',
  ],
  ['/$2/$1', '/n/${2}', 'https://www.example.com/$1$2?$2', '/a/$2'],
];

/** The rule as it is, or, if it is a drop rule or a redirect, with an answer of its own in a share of all cases. */
export function withAnswer(random: Random, rule: Rule, share: number): Rule {
  if (!random.chance(share)) return rule;
  if (rule.type === 'drop') return { ...rule, status: random.pick(STATUSES) };
  if (rule.type !== 'redirect') return rule;
  const groups = 1 + random.int(2);
  const path_includes = random.some([...PATTERNS[0]!, ...PATTERNS[1]!], 2);
  if (!path_includes.some((entry) => PATTERNS[groups - 1]!.includes(entry))) {
    path_includes.push(random.pick(PATTERNS[groups - 1]!));
  }
  const few = random.chance(0.1) ? 0 : groups;
  const target = random.chance(0.2) ? LONG : random.pick(TARGETS[few]!);
  const paths = { path_match_type: 'regex', path_includes, path_excludes: [] } as const;
  return { ...rule, ...paths, target, preserve_path: false, target_mode: 'captures' };
}
