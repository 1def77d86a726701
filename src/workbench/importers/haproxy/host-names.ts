/** Tests of the Host header: as filters of hosts, and as the records that they name. */
import { normalizeName } from '../../../base/addresses/host.ts';
import type { ImportedCondition } from '../filter.ts';
import { finiteNames } from '../nginx/servers.ts';
import { equalsText, type TextTest, withoutCase } from '../text-test.ts';
import type { HaproxyImport } from './context.ts';
import { type Patterns, textTests } from './patterns.ts';

/** Converts a test of the host, and notes the hosts that it names. */
export function hostCondition(
  state: HaproxyImport,
  { text, compared }: { readonly text: string; readonly compared: Patterns },
): ImportedCondition {
  if (compared.match === 'reg') return regexCondition(state, text, compared);
  if (compared.match === 'dir')
    return { kind: 'unknown', text, reason: 'has no equivalent: a host has no slashes' };
  // Hosts are compared in lower case, and without the port of the scheme.
  const patterns = compared.patterns.map((one) => one.toLowerCase().replace(/(?<=.):(?:80|443)$/, ''));
  for (const one of patterns) noteHost(state, compared.match, one);
  const tests = textTests({ match: compared.match, patterns, ignoreCase: false });
  return typeof tests === 'string' ? { kind: 'unknown', text, reason: tests } : { kind: 'host', tests };
}

/** Notes a host, or the wildcard of a suffix. */
export function noteHost(state: HaproxyImport, match: Patterns['match'], pattern: string): void {
  const name = pattern.replace(/^\./, '');
  if (!name.includes('.') || !/^[a-z0-9.-]+$/.test(name) || normalizeName(name) === null) return;
  if (match === 'str' || ((match === 'end' || match === 'dom') && name === pattern)) state.hosts.add(name);
  if (match === 'end' || match === 'dom') state.wildcards.add(`*.${name}`);
}

function regexCondition(state: HaproxyImport, text: string, compared: Patterns): ImportedCondition {
  const tests: TextTest[] = [];
  for (const pattern of compared.patterns) {
    const names = finiteNames(pattern);
    if (names !== null) {
      for (const name of names) noteHost(state, 'str', name);
      tests.push(...names.map(equalsText));
      continue;
    }
    const read = textTests({ ...compared, patterns: [pattern] });
    if (typeof read === 'string') return { kind: 'unknown', text, reason: `has no equivalent: ${read}` };
    tests.push(...read.map(withoutCase));
  }
  return { kind: 'host', tests };
}

/** Whether a text is a name of a host; returned in the form in which hosts are compared. */
export function hostName(text: string): string | null {
  const [, name = ''] = /^(.*?)(?::(?:80|443))?$/.exec(text.toLowerCase()) ?? [];
  return name.includes('.') && /^[a-z0-9.-]+$/.test(name) ? normalizeName(name) : null;
}
