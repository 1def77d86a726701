/**
 * Replays the requests of logs, and compares what the rules decide with the statuses that the log has. Requests come in
 * order of time, as in a replay of access logs. Out: how many compare in which way, as groups with examples; memory does
 * not grow with the logs.
 */
import { type HostFacts, parseHost } from '../../base/addresses/host.ts';
import type { Decision } from '../../engine/evaluator/decision.ts';
import type { Evaluator } from '../../engine/evaluator/index.ts';
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import type { AccessEntry } from '../access-logs/entry.ts';
import { countAnswer } from '../simulation/conditions.ts';
import {
  ANSWER_REASONS,
  ANSWER_VERDICTS,
  type AnswerReason,
  type AnswerVerdict,
  compareAnswer,
} from './compare-answer.ts';
import { createGroups, type OpenGroups, type ReplayGroup } from './difference.ts';
import { exampleOf, exampleText, isUnserved, outcomeText } from './replay-requests.ts';

/** Requests with one status, one outcome and one reason. */
export interface StatusGroup extends ReplayGroup {
  readonly verdict: AnswerVerdict;
  readonly reason: AnswerReason;
}

/** What the comparison comes to. */
export interface StatusReport {
  /** Requests that were evaluated. */
  readonly compared: number;
  /** Those that differ. */
  readonly changed: number;
  readonly verdicts: Readonly<Record<AnswerVerdict, number>>;
  /** By verdict and reason, then by frequency, descending. */
  readonly groups: readonly StatusGroup[];
  /** Requests beyond `MAX_GROUPS` of their reason. */
  readonly ungrouped: number;
  /** Requests to hosts of other domains. */
  readonly otherHosts: number;
}

/** What a comparison works with. */
export interface StatusReplayOptions {
  /** Creates an evaluator with counters of its own. */
  readonly open: () => Evaluator;
  /** Whether a refusal there and one here are the same, whatever their statuses. */
  readonly anyRefusal: boolean;
  /** A URL without secrets, for examples. */
  readonly redact: (url: string) => string;
}

/** A comparison: takes requests in order of time, then reports. */
export interface StatusReplay {
  add(entry: AccessEntry): void;
  report(): StatusReport;
}

/** Creates a comparison. */
export function createStatusReplay({ open, anyRefusal, redact }: StatusReplayOptions): StatusReplay {
  const evaluator = open();
  // A bound for each reason: what differs is not displaced by what is the same.
  const reasons = new Map<AnswerReason, { lines: number; readonly groups: OpenGroups }>();
  let otherHosts = 0;

  return {
    add(entry) {
      const { request, weight } = entry;
      const decision = evaluator.evaluate(request);
      countAnswer(evaluator, decision, entry.status);
      // A host of the domain without a record is one that the other server has served.
      if (isUnserved(decision) && !isOfDomain(request, evaluator.domain)) {
        otherHosts++;
        return;
      }
      const reason = compareAnswer({ logged: entry, decision, request, anyRefusal, redact });
      const known = reasons.get(reason) ?? { lines: 0, groups: createGroups() };
      if (known.lines === 0) reasons.set(reason, known);
      known.lines++;
      const change = reason === 'other_location' ? locationsText(entry, decision, redact) : null;
      const found = { was: answerText(entry), now: outcomeText(decision), change };
      known.groups.add(found, weight, () => exampleOf(entry, redact));
    },
    report() {
      const verdicts = Object.fromEntries(ANSWER_VERDICTS.map((one) => [one, 0])) as Record<
        AnswerVerdict,
        number
      >;
      const groups: StatusGroup[] = [];
      let [compared, ungrouped] = [0, 0];
      // In the order of the reasons.
      for (const reason of Object.keys(ANSWER_REASONS) as AnswerReason[]) {
        const found = reasons.get(reason);
        if (found === undefined) continue;
        const { verdict } = ANSWER_REASONS[reason];
        verdicts[verdict] += found.lines;
        compared += found.lines;
        ungrouped += found.groups.ungrouped();
        groups.push(...found.groups.sorted().map((group) => ({ verdict, reason, ...group })));
      }
      return { compared, changed: verdicts.different, verdicts, groups, ungrouped, otherHosts };
    },
  };
}

const FACTS: HostFacts = { host: '', port: -1, literal: false };

/** Whether the host of a request is the domain or a name below it. */
function isOfDomain({ host }: EdgeRequest, domain: string): boolean {
  if (!parseHost(String(host), FACTS)) return false;
  return FACTS.host === domain || FACTS.host.endsWith(`.${domain}`);
}

/** Both locations of a redirect. */
function locationsText(entry: AccessEntry, decision: Decision, redact: (url: string) => string): string {
  const [there, here] = [entry.location, decision.location ?? ''].map((one) => exampleText(redact(one)));
  return `location ${there} → ${here}`;
}

/** The logged answer: its status and, where the log says so, who made it. */
function answerText({ status, source }: AccessEntry): string {
  const text = status === 0 ? 'no status' : String(status);
  if (source === 'unknown') return text;
  return `${text} by ${source === 'origin' ? 'the origin' : 'the proxy'}`;
}
