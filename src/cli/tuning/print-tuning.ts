/** Prints what tuning proposes for waf rules: as text, as the JSON document, and as the fragment of an edge file. */
import { timeText } from '../../base/text/time.ts';
import { quantity, visible } from '../../workbench/simulation/render-text.ts';
import type { GroupVerdict, VerdictReason } from '../../workbench/tuning/judge.ts';
import type { TunedExclusion, TunedGroup, TunedRule, TuningReport } from '../../workbench/tuning/tune.ts';
import { note } from '../output.ts';
import { grouped } from '../print/table.ts';

/** Groups of one verdict that are printed; the JSON has all. */
const GROUPS_PRINTED = 20;

const NAMES: Readonly<Record<GroupVerdict, string>> = {
  false_positive: 'likely false positive',
  attack: 'likely attack',
  unclear: 'unclear',
};
/** In the order in which a person reads them. */
const ORDER: readonly GroupVerdict[] = ['false_positive', 'unclear', 'attack'];
/** What a reason speaks for. */
const MARKS: Readonly<Record<VerdictReason['for'], string>> = {
  false_positive: '+',
  attack: '!',
  unclear: '-',
};

/** The report as text, ending in a newline. */
export function tuningText({ rules, from, to }: TuningReport): string {
  const period = from === null || to === null ? '' : `, ${timeText(from)} to ${timeText(to)}`;
  const lines = rules.flatMap((rule, index) => [
    ...(index === 0 ? [] : ['']),
    `${rule.rule} of ${rule.domain}${period}: ${quantity(rule.blocked, 'request')} at threshold ${rule.threshold} or above`,
    ...ORDER.flatMap((verdict) => groupsText(rule, verdict)),
    '',
    sumText(rule),
  ]);
  return lines.map((line) => `${visible(line)}\n`).join('');
}

function groupsText({ groups }: TunedRule, verdict: GroupVerdict): readonly string[] {
  const all = groups.filter((group) => group.verdict === verdict);
  const more = all.length - GROUPS_PRINTED;
  return [
    ...all.slice(0, GROUPS_PRINTED).flatMap((group) => ['', ...groupLines(group)]),
    ...(more > 0 ? ['', `${quantity(more, 'more group')} (${NAMES[verdict]}); --json lists all`] : []),
  ];
}

function groupLines(group: TunedGroup): readonly string[] {
  const { verdict, facts, reasons, parts, examples, exclusions } = group;
  const parted = parts.length === 0 ? '' : `, such as ${parts.map((part) => `\`${part}\``).join(' ')}`;
  return [
    `${NAMES[verdict]}: ${titleOf(group)}`,
    `  ${quantity(facts.requests, 'request')}${parted}; explain ${examples[0] ?? ''}`,
    ...reasons.map(({ for: what, text }) => `  ${MARKS[what]} ${text}`),
    ...(verdict === 'attack' ? [] : exclusionLines(exclusions, group)),
  ];
}

/** `11335 in ARGS:body on /articles/*, markup (xss)`. */
function titleOf({ id, target, paths, name, category }: TunedGroup): string {
  const named = name === '' ? '' : `, ${name}`;
  const of = category === '' ? '' : ` (${category})`;
  return `${id}${target === '' ? '' : ` in ${target}`} on ${paths.join(', ')}${named}${of}`;
}

function exclusionLines(
  exclusions: readonly TunedExclusion[],
  { verdict, target }: TunedGroup,
): readonly string[] {
  if (exclusions.length === 0) {
    return [`  no exclusion is proposed: none can name \`${target}\`, or too many groups are unclear`];
  }
  const label = verdict === 'unclear' ? 'would be excluded by' : 'exclude';
  return exclusions.flatMap((one) => [`  ${label}  ${entryText(one)}`, `    ${effectText(one)}`]);
}

/** `{ id: 11335, target: "ARGS:body", path: "/articles/*" }`. */
function entryText({ exclusion: { id, target, path } }: TunedExclusion): string {
  const targeted = target === '' ? '' : `, target: ${quoted(target)}`;
  return `{ id: ${id}${targeted}, path: ${quoted(path)} }`;
}

/** A text of JSON, which is one of YAML, with characters that a terminal interprets as escapes of both. */
function quoted(text: string): string {
  return [...JSON.stringify(text)]
    .map((one) => (visible(one) === one ? one : `\\u${one.codePointAt(0)!.toString(16).padStart(4, '0')}`))
    .join('');
}

function effectText({ requests, alone, together, attacks, attackExamples }: TunedExclusion): string {
  const passes = `of ${quantity(requests, 'request')} it lets ${alone} through alone, ${together} with all exclusions`;
  if (attacks === 0) return `${passes}; no likely attack among them`;
  const ids = attackExamples.join(', ');
  return `${passes}; ${quantity(attacks, 'likely attack')} among them would no longer be stopped: ${ids}`;
}

function sumText({ blocked, released, attacks, releasedAttacks }: TunedRule): string {
  const rest = `${grouped(blocked - released)} of ${grouped(blocked)} stay blocked`;
  const lost = `of ${quantity(attacks, 'likely attack')} ${releasedAttacks} would no longer be stopped`;
  return `with the exclusions for likely false positives: ${rest}; ${lost}`;
}

/** The JSON document. */
export function tuningDocument({ rules, from, to, exceeded, ...counts }: TuningReport): object {
  return {
    ...counts,
    from: from === null ? null : timeText(from),
    to: to === null ? null : timeText(to),
    exceeded,
    rules: rules.map(({ releasedAttacks, groups, ...rule }) => ({
      ...rule,
      released_attacks: releasedAttacks,
      groups: groups.map(groupDocument),
    })),
  };
}

function groupDocument({ facts, exclusions, ...group }: TunedGroup): object {
  const { mostOfOne, agentsOfOne, suspiciousRequests, ownPages, sign: _, ...counts } = facts;
  return {
    ...group,
    ...counts,
    most_of_one: mostOfOne,
    agents_of_one: agentsOfOne,
    suspicious_requests: suspiciousRequests,
    own_pages: ownPages,
    exclusions: exclusions.map(({ attackExamples, ...exclusion }) => ({
      ...exclusion,
      attack_examples: attackExamples,
    })),
  };
}

/** The entries for `exclusions` of a rule, each below its reasons; those of unclear groups are comments. */
export function tuningFragment({ rule, domain, groups }: TunedRule): string {
  const lines = [
    `# exclusions of ${rule} (${domain}): paste these entries below \`exclusions:\` of the rule`,
    ...(['false_positive', 'unclear'] as const).flatMap((verdict) =>
      groups.filter((group) => group.verdict === verdict).flatMap(fragmentLines),
    ),
  ];
  return lines.map((line) => `${visible(line)}\n`).join('');
}

function fragmentLines(group: TunedGroup): readonly string[] {
  const { verdict, reasons, exclusions } = group;
  if (exclusions.length === 0) return [];
  const off = verdict === 'unclear' ? '# ' : '';
  return [
    '',
    `# ${NAMES[verdict]}: ${titleOf(group)}`,
    ...reasons.map(({ for: what, text }) => `# ${MARKS[what]} ${text}`),
    ...exclusions.flatMap((one) => [`# ${effectText(one)}`, `${off}- ${entryText(one)}`]),
  ];
}

/** Reports on stderr what exceeded a bound, and so is missing in the report. */
export function printExceeded({ exceeded }: TuningReport): void {
  const { matches, visitors, pairs, kinds } = exceeded;
  if (matches > 0)
    note(`edgeplan: ${quantity(matches, 'match', 'matches')} on further paths counted in no group`);
  if (visitors > 0) note(`edgeplan: ${quantity(visitors, 'request')} of further visitors counted as unknown`);
  if (pairs > 0) note(`edgeplan: ${quantity(pairs, 'visit')} not counted: visitors are at least as many`);
  if (kinds > 0)
    note(
      `edgeplan: ${quantity(kinds, 'blocked request')} not scored again: exclusions let through at least as many`,
    );
}
