/**
 * What a proxy answers while its agent decides nothing: stopped for a while, or away. In: the target of the attacks, and how the
 * agent is stopped. Out: a line for each request, which holds if it was refused in time. A proxy that waits for the agent without
 * end is no better than one that lets requests through: its visitors wait, and its connections run out.
 */
import { type AttackTarget, request } from './attacks.ts';
import {
  type DoorCheckLine,
  type DoorExchange,
  exchange,
  isRefusal,
  openUsed,
  outcomeOf,
  type ProxyPlace,
} from './exchange.ts';

/** Stops the processes of the agent, and lets them continue. */
export interface AgentPause {
  stop(): void;
  /** Called in every case, also before `stop` has had any effect. */
  resume(): void;
}

/** Requests at the same time: for most of them the proxy has no open connection to the agent. */
const AT_ONCE = 8;
/** Octets of a body. */
const BODY = 'x'.repeat(1_000);
/** Milliseconds for the proxy to ask the agent again: some health checks of any proxy (HAProxy's are 1 s apart). */
const RECOVERY_MS = 30_000;
const RECOVERY_STEP_MS = 50;

interface AbsenceCase {
  readonly name: string;
  readonly send: () => Promise<DoorExchange>;
}

/** Requests on connections of their own, each of which only a decision may let through. */
function absenceCases(place: ProxyPlace, { host, blocked, open }: AttackTarget): readonly AbsenceCase[] {
  const case_ = (name: string, octets: string): AbsenceCase => ({
    name,
    send: () => exchange(place, octets),
  });
  const get = (target: string, ...lines: string[]): string => request(`GET ${target} HTTP/1.1`, host, lines);
  return [
    case_('the blocked path', get(blocked)),
    case_('the open path', get(open)),
    case_('the open path, as the agent would let it pass', get(open, 'X-Edgeplan-Action: forward')),
    case_(
      'the open path with a body',
      `${request(`POST ${open} HTTP/1.1`, host, [`Content-Length: ${BODY.length}`])}${BODY}`,
    ),
    ...Array.from({ length: AT_ONCE }, (_, index) =>
      case_(`the open path, ${index + 1} of ${AT_ONCE} at once`, get(open)),
    ),
  ];
}

/** A line of a request; `state` is what the agent was then. */
async function lineOf(state: DoorCheckLine['agent'], { name, send }: AbsenceCase): Promise<DoorCheckLine> {
  const found = await send();
  const passed = found.statuses.some((status) => !isRefusal(status));
  const result = passed ? 'passed' : found.statuses.length === 0 ? 'unanswered' : 'holds';
  return { agent: state, name, holds: result === 'holds', result, outcome: outcomeOf(found) };
}

/** Sends the requests while the agent is away: another process has ended it. */
export async function checkAway(place: ProxyPlace, target: AttackTarget): Promise<readonly DoorCheckLine[]> {
  const lines = absenceCases(place, target).map((one) => lineOf('away', one));
  return Promise.all(lines);
}

/** Stops the agent, sends the requests, lets it continue, and waits until the proxy has requests decided again. */
export async function checkStopped(
  place: ProxyPlace,
  target: AttackTarget,
  pause: AgentPause,
): Promise<readonly DoorCheckLine[]> {
  const open = request(`GET ${target.open} HTTP/1.1`, target.host, []);
  const used = await openUsed(place, open.replace('Connection: close\r\n', ''));
  const lines: DoorCheckLine[] = [];
  try {
    pause.stop();
    const onUsed = {
      name: 'the open path, on a connection that was used before',
      send: () => used.send(open),
    };
    const cases = [onUsed, ...absenceCases(place, target)];
    lines.push(...(await Promise.all(cases.map((one) => lineOf('stopped', one)))));
  } finally {
    pause.resume();
    used.close();
  }
  lines.push(await recovery(place, target));
  return lines;
}

/** Asks until the open path passes again; meanwhile the blocked one must not. */
async function recovery(place: ProxyPlace, { host, blocked, open }: AttackTarget): Promise<DoorCheckLine> {
  const began = performance.now();
  const get = (target: string): Promise<DoorExchange> =>
    exchange(place, request(`GET ${target} HTTP/1.1`, host, []));
  const line = { agent: 'continued', name: 'both paths, until requests are decided again' } as const;
  for (;;) {
    const [first, second] = await Promise.all([get(blocked), get(open)]);
    if (first.statuses.some((status) => !isRefusal(status))) {
      return { ...line, holds: false, result: 'passed', outcome: outcomeOf(first) };
    }
    const waited = Math.round(performance.now() - began);
    if (second.statuses.length > 0 && !second.statuses.some(isRefusal)) {
      return { ...line, holds: true, result: 'holds', outcome: `decided after ${waited} ms` };
    }
    if (waited > RECOVERY_MS) {
      const outcome = `${outcomeOf(second)} for the open path after ${waited} ms`;
      return { ...line, holds: false, result: 'unanswered', outcome };
    }
    await new Promise((resolve) => setTimeout(resolve, RECOVERY_STEP_MS));
  }
}
