/** The groups of a regex over the path, which `$1` to `$9` and variables of their names are in values. */
import { parsePattern } from '../../../base/regex/regex.ts';
import { type TextTest, withoutCase } from '../text-test.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { pathRegex } from './regions.ts';

/** A regex over the path whose groups values name. */
export interface PathGroups {
  /** In RE2 syntax. */
  readonly source: string;
  /** The test of the regex, as filters have it. */
  readonly test: TextTest;
  readonly count: number;
  /** The name of each group; `null`: it has a number alone. */
  readonly names: readonly (string | null)[];
  /** The pattern inside each group. */
  readonly texts: readonly string[];
}

/** The groups of a regex over the path; `null`: it is not RE2. */
export function groupsOf(source: string, ignoreCase: boolean): PathGroups | null {
  const test = pathRegex(source, ignoreCase);
  const parsed = parsePattern(source, { ignoreCase });
  if (test === null || !parsed.ok) return null;
  const { names, texts } = groupTexts(source);
  const own = ignoreCase ? withoutCase({ kind: 'regex', source }) : null;
  return {
    source: own?.kind === 'regex' ? own.source : source,
    test,
    count: parsed.pattern.groups,
    names,
    texts,
  };
}

/** The names and the patterns of the groups of a regex that was parsed. */
function groupTexts(source: string): Pick<PathGroups, 'names' | 'texts'> {
  const names: (string | null)[] = [];
  const texts: string[] = [];
  const open: { readonly group: number; readonly from: number }[] = [];
  let inClass = false;
  for (let at = 0; at < source.length; at++) {
    const character = source[at]!;
    if (character === '\\') at++;
    else if (inClass) inClass = character !== ']';
    else if (character === '[') inClass = true;
    else if (character === '(') {
      const [head, name] = /^\((?:\?P?<(\w+)>)?/.exec(source.slice(at))!;
      const isGroup = name !== undefined || source[at + 1] !== '?';
      open.push({ group: isGroup ? names.length : -1, from: at + head.length });
      if (isGroup) names.push(name ?? null);
    } else if (character === ')') {
      const { group, from } = open.pop() ?? { group: -1, from: at };
      if (group >= 0) texts[group] = source.slice(from, at);
    }
  }
  return { names, texts };
}

/** The groups of the regex of a location; `null`: it has none that values can name. */
export function groupsOfLocation({ args }: NginxDirective): PathGroups | null {
  const [, modifier, source = ''] = /^(~\*?)\s*(.*)$/s.exec(args.join(' ')) ?? [];
  return modifier === undefined ? null : groupsOf(source, modifier === '~*');
}
