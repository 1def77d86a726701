/** Prints one signature of a program, or the tags of all, for `edgeplan waf show`. */
import type {
  SignatureProgram,
  SignatureRule,
  WafSelector,
  WafText,
} from '../../engine/plan/signature-program.ts';
import { visible } from '../../workbench/simulation/render-text.ts';
import { SEVERITIES } from '../../workbench/simulation/render-why.ts';
import { tableText } from './table.ts';

/** A signature as `waf show <id> --json` prints it. */
export interface SignatureDocument {
  readonly id: number;
  readonly message: string;
  readonly severity: string | null;
  /** The lowest paranoia level at which it runs. */
  readonly paranoia: number;
  readonly phase: number;
  readonly tags: readonly string[];
  /** The targets of each condition, as SecLang writes them; all conditions have to hold. */
  readonly targets: readonly string[];
}

/** The signature with an id; `null`: the program has none. */
export function signatureOf(program: SignatureProgram, id: number): SignatureDocument | null {
  const level = program.levels.findIndex(({ rules }) => rules.some((rule) => rule.id === id));
  const rule = program.levels[level]?.rules.find((one) => one.id === id);
  if (rule === undefined) return null;
  return {
    id,
    message: textOf(rule.message),
    severity: SEVERITIES[rule.severity] ?? null,
    paranoia: level + 1,
    phase: rule.phase,
    tags: rule.tags,
    targets: targetsOf(program, rule),
  };
}

/** The signature as text. */
export function signatureText(found: SignatureDocument): string {
  const lines = [
    `  id        ${found.id}`,
    `  message   ${found.message}`,
    `  severity  ${found.severity ?? 'none'}`,
    `  paranoia  ${found.paranoia} and above`,
    `  phase     ${found.phase === 1 ? '1, the head' : '2, head and body'}`,
    `  tags      ${found.tags.join(', ')}`,
    ...found.targets.map((list, at) => `  ${at === 0 ? 'targets ' : 'and     '}  ${list}`),
  ];
  return `${lines.map(visible).join('\n')}\n`;
}

/** A tag and the number of signatures that have it. */
export interface TagCount {
  readonly tag: string;
  readonly signatures: number;
}

/** All tags in alphabetical order. */
export function tagsOf({ levels }: SignatureProgram): readonly TagCount[] {
  const ids = new Map<string, Set<number>>();
  for (const { rules } of levels) {
    for (const { id, tags } of rules)
      for (const tag of tags) ids.set(tag, (ids.get(tag) ?? new Set()).add(id));
  }
  const tags = [...ids].map(([tag, { size }]) => ({ tag, signatures: size }));
  return tags.sort((a, b) => (a.tag < b.tag ? -1 : 1));
}

/** The tags as a table. */
export function tagsText(tags: readonly TagCount[]): string {
  return tableText(
    ['tag', 'signatures'],
    tags.map(({ tag, signatures }) => [visible(tag), String(signatures)]),
  );
}

function textOf(text: WafText): string {
  return text
    .map((part) => {
      if (part.kind === 'literal') return part.text;
      return `%{${part.variable}${part.name === null ? '' : `.${part.name}`}}`;
    })
    .join('');
}

function targetsOf(program: SignatureProgram, { conditions }: SignatureRule): readonly string[] {
  const selected = (selector: WafSelector): string => {
    if (selector.kind === 'all') return '';
    return selector.kind === 'name'
      ? `:${selector.name}`
      : `:/${program.patterns[selector.pattern]!.source}/`;
  };
  return conditions
    .filter(({ targets }) => targets >= 0)
    .map(({ targets }) => {
      const { include, exclude } = program.targets[targets]!;
      return [
        ...include.map(
          ({ variable, selector, count }) => `${count ? '&' : ''}${variable}${selected(selector)}`,
        ),
        ...exclude.map(({ variable, selector }) => `!${variable}${selected(selector)}`),
      ].join('|');
    });
}
