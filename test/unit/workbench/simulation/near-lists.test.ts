/** Requests that rules with lists would match: the first entry of the list that does, and that it matches as it is printed. */
import { describe, expect, it } from 'vitest';
import { nearMatch } from '../../../../src/workbench/simulation/near-match.ts';
import { paint } from '../../../../src/workbench/simulation/paint.ts';
import { renderWhy } from '../../../../src/workbench/simulation/render-why.ts';
import type { RequestFlags } from '../../../../src/workbench/simulation/request-line.ts';
import { simulate } from '../../../../src/workbench/simulation/simulate.ts';
import { asked, subjectOf } from './shop.ts';

const URL = 'https://example.com/';
const FILE = `domain: example.com
records: [{ name: "@", type: A, destination: 192.0.2.1, proxied: true }, { name: "*", type: A, destination: 192.0.2.1, proxied: true }]
lists:
  - { name: php, kind: path, entries: ["/old/*", "*.php"] }
  - { name: shops, kind: host, entries: [a.example.com, "*.b.example.com"] }
  - { name: net, kind: ip, entries: [192.0.2.0/24, 198.51.100.7] }
  - { name: part, kind: ip, entries: [192.0.2.0/25] }
  - { name: far, kind: country, entries: [JP, BR] }
  - { name: clouds, kind: asn, entries: [64500, 64501] }
  - { name: agents, kind: user_agent, entries: ["curl/*", Wget] }
  - { name: none, kind: path, entries: [] }
  - { name: moved, kind: redirect, entries: [{ from: /gone, to: /here }] }
rules:
`;

/** The trace of the only rule, and the request that is proposed for it. */
function tried(rule: string, flags: RequestFlags = {}) {
  const subject = subjectOf(
    `${FILE}  - { id: 9, type: ${rule.startsWith('targets') ? 'redirect' : 'drop'}, ${rule} }\n`,
  );
  const given = asked(URL, flags);
  const document = simulate(subject, given);
  const note = document.phases.flatMap(({ rules }) => rules).find(({ id }) => id === 9)!;
  return { document, note, words: nearMatch(subject, given, note) };
}

describe('a request that would match', () => {
  it.each<readonly [string, RequestFlags, string | null]>([
    ['path_includes: ["@php"]', {}, `${URL}old/`],
    ['path_includes: ["@none"]', {}, null],
    ['path_includes: ["@none", "/x"]', {}, `${URL}x`],
    ['host_includes: ["@shops"]', {}, 'https://a.example.com/'],
    ['ips: ["@net"]', {}, `${URL} --ip 192.0.2.0`],
    ['ips: ["@net"], conditions: { ips: { excludes: ["@part"] } }', {}, `${URL} --ip 192.0.2.255`],
    [
      'ips: ["@net"], ip_match_type: exclude, path_includes: ["/*"]',
      { ip: '192.0.2.9' },
      `${URL} --ip 203.0.113.7`,
    ],
    ['countries: ["@far"]', {}, `${URL} --country JP`],
    ['conditions: { countries: { includes: ["@far"], excludes: [JP] } }', {}, `${URL} --country BR`],
    ['conditions: { asns: { includes: ["@clouds"] } }', {}, `${URL} --asn 64500`],
    ['conditions: { user_agents: { includes: ["@agents"] } }', {}, `${URL} -A curl/`],
    ['conditions: { user_agents: { excludes: ["@agents"] } }', { userAgent: 'wget' }, URL],
    ['targets: "@moved"', {}, `${URL}gone`],
  ])('%s %j', (rule, flags, words) => {
    expect(tried(rule, flags).words).toBe(words);
  });
});

it('a rule that matches by a list names its entry in text and document', () => {
  const { document, note } = tried('conditions: { user_agents: { includes: [x, "@agents"] } }', {
    userAgent: 'WGET',
  });
  expect(note).toMatchObject({ outcome: 'matched' });
  expect(JSON.stringify(document)).toContain('conditions.user_agents.includes[1]');
  const lines = renderWhy(note, { width: 100, wouldMatch: null, signatures: null });
  expect(lines.map((line) => paint([line], false)).join('\n')).toContain(
    'conditions.user_agents.includes[1]',
  );
});
