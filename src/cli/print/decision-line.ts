/** A line of a decision log as text: the request, what became of it, and by which rules. */
import { RESPONSE_FAULT_CODES } from '../../base/diagnostics/codes/faults.ts';
import type { DecisionLine, LoggedDecision, LoggedUnserved } from '../../edge/proxy/log/line.ts';
import { visible } from '../../workbench/simulation/render-text.ts';

type LoggedGateway = NonNullable<LoggedDecision['gateway']>;

/** The content of the line. */
export function decisionText(line: DecisionLine): string {
  const { request, decision } = line;
  const parts = [`${line.id}  ${line.time}`];
  if (request === null || decision === null) {
    parts.push(`refused with ${line.status} before any rule was evaluated: ${refusalReason(line)}`);
  } else {
    const host = String(request.host);
    parts.push(
      `${request.method} ${request.scheme}://${host}${request.target}`,
      `from ${request.ip ?? 'an unknown address'}`,
    );
    parts.push(`${outcome(decision)}; the visitor got ${line.status}`);
    for (const { rule, mode, effect, waf } of line.matches) {
      parts.push(`  ${rule} (${mode}): ${effect}`);
      if (waf !== undefined) parts.push(...signatureTexts(waf).map((text) => `    ${text}`));
    }
    if (decision.gateway !== undefined) parts.push(...gatewayTexts(decision.gateway));
    if (line.shadow !== null) parts.push(`had dry_run rules been enforced: ${outcome(line.shadow)}`);
    if (line.waf !== null) parts.push(...signatureTexts(line.waf));
    parts.push(`by ${line.domain}, revision ${line.revision}, plan sha256:${line.digest}`);
  }
  if (line.fault !== null) parts.push(...faultLines(line.fault));
  if (line.withheld.length > 0) parts.push(`not in the log, or not whole: ${line.withheld.join(', ')}`);
  return parts.map((one) => visible(one)).join('\n');
}

/** What the gateway made of the request, and the places of a body that is not valid. */
function gatewayTexts({
  reason,
  operation,
  consumer,
  failure,
  errors = [],
}: LoggedGateway): readonly string[] {
  const why = failure === undefined ? reason : `${reason} (${failure})`;
  return [
    `gateway: ${why}; operation ${operation ?? 'none'}; consumer ${consumer ?? 'none'}`,
    ...errors.map(({ pointer, detail }) => `  ${pointer} ${detail}`),
  ];
}

/** The waf verdict of a log line: the score, then a line for each signature with what it matched. */
function signatureTexts(verdict: NonNullable<DecisionLine['waf']>): readonly string[] {
  const matches = verdict.matches ?? [];
  return [
    signatureText(verdict),
    ...matches.map(({ id, score, name, category, target, part }) => {
      const place = target === '' ? '' : `  ${target} \`${part}\``;
      return `  ${id}  +${score}  ${name}${category === '' ? '' : ` (${category})`}${place}`;
    }),
  ];
}

/** The first line of a verdict. */
function signatureText({
  score,
  ids,
  truncated = false,
  exhausted = false,
  body_error,
  targets = [],
  denied = false,
  uninspected,
}: NonNullable<DecisionLine['waf']>): string {
  const notes = [
    denied ? ['denied by a signature'] : [],
    truncated ? ['body cut'] : [],
    exhausted ? ['step budget exhausted'] : [],
    body_error === undefined ? [] : [`body not readable: ${body_error}`],
    uninspected === undefined ? [] : [`body not inspected whole: ${uninspected}`],
    targets.length === 0 ? [] : [`on ${targets.join(', ')}`],
  ];
  return [`signatures: score ${score}`, ...ids.map(String), ...notes.flat().map((note) => `(${note})`)].join(
    ' ',
  );
}

/** Action, status, location and rule of a logged decision. */
function outcome({ action, status, rule, location }: LoggedDecision): string {
  const to = location === null ? '' : ` to ${location}`;
  return `${action}${status === null ? '' : ` ${status}`}${to}${rule === null ? '' : ` by ${rule}`}`;
}

/** Why the host of a 421 is not served. */
const UNSERVED: Readonly<Record<LoggedUnserved['reason'], (unserved: LoggedUnserved) => string>> = {
  unknown: ({ host }) => `no domain of the node has the host \`${host}\``,
  refused: ({ host }) =>
    `the domain of \`${host}\` is not active, is suspended, or its plan cannot be opened`,
  record: ({ host }) => `its domain serves nothing now, or has no proxied record for \`${host}\``,
  handshake: ({ host, server_name }) =>
    `the host is \`${host}\`, and the TLS connection was opened for \`${server_name}\``,
};

/** A fault with its meaning and remedy; the code alone where another version wrote it. */
function faultLines(fault: string): readonly string[] {
  if (!Object.hasOwn(RESPONSE_FAULT_CODES, fault)) return [`fault: ${fault}`];
  const { meaning, remedy } = RESPONSE_FAULT_CODES[fault as keyof typeof RESPONSE_FAULT_CODES];
  return [`fault: ${fault}: ${meaning}`, `  = ${remedy}`];
}

/** Why a node refuses a request before evaluating rules (RFC 9110 §15.5.1, §15.5.20). */
function refusalReason({ status, unserved = null }: DecisionLine): string {
  if (unserved !== null && Object.hasOwn(UNSERVED, unserved.reason)) {
    return UNSERVED[unserved.reason](unserved);
  }
  if (status === 421) return 'the host is served by no plan here, or is not the name of the TLS handshake';
  if (status >= 500) return 'an error of the node, or a transfer coding it does not know';
  return 'the request was not read as one, such as with a Host header missing or sent twice';
}
