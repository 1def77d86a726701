/** Prints an entry of a domain's decision log as one line, its columns aligned with those of other lines. */

import { decisionMistake } from '../../control/logs/entry-schema.ts';
import { COUNTED_FORMAT, type CountedLine } from '../../edge/following/counted-requests.ts';
import { type DecisionLine, GAP_FORMAT, type GapLine } from '../../edge/proxy/log/line.ts';
import {
  columns,
  quantity,
  type RenderedLine,
  span,
  type Tone,
} from '../../workbench/simulation/render-text.ts';

/** A decision as the API returns it. */
export type RemoteDecision = DecisionLine & { readonly node: string | null };

/** A number of requests as the API returns it. */
export type RemoteCounted = CountedLine & { readonly node: string | null };

/** A gap as the API returns it. */
export type RemoteGap = GapLine & { readonly id: string; readonly node: string | null };

/** An entry as the API returns it. */
export type RemoteEntry = RemoteDecision | RemoteCounted | RemoteGap;

/** The tone of each action. */
const TONES: Readonly<Record<NonNullable<DecisionLine['decision']>['action'], Tone>> = {
  forward: 'good',
  block: 'bad',
  challenge: 'warn',
  redirect: 'accent',
  respond: 'accent',
  refuse: 'bad',
};

/** Columns of an action with its status: `challenge 403`. */
const OUTCOME_COLUMNS = 13;
/** Columns of a rule and of an address; longer ones move the rest of their line. */
const RULE_COLUMNS = 20;
/** See `RULE_COLUMNS`: an IPv4 address. */
const IP_COLUMNS = 15;
/** Ids of signatures that a line lists. */
const MOST_IDS = 4;

/** Time, outcome, rule, address, request; then signatures, the shadow and a fault, where there are any. */
export function logLine(entry: RemoteEntry): RenderedLine {
  const time = span(`${entry.time}  `, 'dim');
  if (entry.format === COUNTED_FORMAT) return [time, ...countedSpans(entry)];
  if (entry.format === GAP_FORMAT)
    return [time, span(`${quantity(entry.dropped, 'entry', 'entries')} dropped`, 'warn')];
  // A server of an earlier release has stored entries without a check of every field.
  const mistake = decisionMistake(entry, 'store');
  if (mistake !== null) return [time, span(`not readable: ${mistake}`, 'warn'), span(`  ${entry.id}`, 'dim')];
  const { request, decision, shadow, status, fault } = entry;
  const action = decision?.action ?? 'refuse';
  const asked = request === null ? '' : `${request.method} ${String(request.host)}${request.target}`;
  return [
    time,
    span(`${padded(`${action} ${status}`, OUTCOME_COLUMNS)}  `, TONES[action] ?? 'plain'),
    span(
      `${padded(decision?.rule ?? '-', RULE_COLUMNS)}  ${padded(request?.ip ?? '-', IP_COLUMNS)}  ${asked}`,
    ),
    ...inspected(entry),
    ...(shadow === null || shadow === undefined
      ? []
      : [span(`  would ${shadow.action}${by(shadow.rule)}`, 'warn')]),
    ...(fault === null ? [] : [span(`  fault ${fault}`, 'bad')]),
    span(`  ${entry.id}`, 'dim'),
  ];
}

/** Outcome, rule, network and number of counted requests. */
function countedSpans({ action, rule, network, requests, until, id }: RemoteCounted): RenderedLine {
  const tone = TONES[action as keyof typeof TONES] ?? (action === 'fault' ? 'bad' : 'warn');
  return [
    span(`${padded(action.replace('-', ' '), OUTCOME_COLUMNS)}  `, tone),
    span(`${padded(rule ?? '-', RULE_COLUMNS)}  ${padded(network ?? '-', IP_COLUMNS)}  `),
    span(`${quantity(requests, 'request')} until ${until}`, 'accent'),
    span(`  ${id}`, 'dim'),
  ];
}

/** The verdicts of waf rules, enforced or under dry_run. */
function inspected({ waf, matches }: RemoteDecision): RenderedLine {
  const verdicts = [waf, ...matches.map((match) => match.waf)].filter(
    (one) => one !== null && one !== undefined,
  );
  return verdicts.map(({ score, ids }) => {
    const more = ids.length > MOST_IDS ? ` and ${ids.length - MOST_IDS} more` : '';
    const listed = ids.length === 0 ? '' : ` (${ids.slice(0, MOST_IDS).join(' ')}${more})`;
    return span(`  waf ${score}${listed}`, 'accent');
  });
}

function by(rule: string | null): string {
  return rule === null ? '' : ` by ${rule}`;
}

function padded(text: string, wanted: number): string {
  return text + ' '.repeat(Math.max(0, wanted - columns(text)));
}
