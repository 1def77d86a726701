/** `edgeplan explain`: why a visitor got what they got, by the decision id on their page. */
import { createHash } from 'node:crypto';
import { Command, Option } from 'commander';
import { compile, seal } from '../../compiler/index.ts';
import type { DecisionLine, LoggedDecision } from '../../proxy/log/line.ts';
import type { TraceDocument } from '../../simulator/document.ts';
import { paint } from '../../simulator/paint.ts';
import { renderTrace } from '../../simulator/render.ts';
import { quantity, visible } from '../../simulator/render-text.ts';
import { type SimulatedRequest, type SimulationSubject, simulate } from '../../simulator/simulate.ts';
import { readLog } from '../decision-log/read-log.ts';
import { CommandFault, EXIT, inputFault, usageFault } from '../exit.ts';
import { type ChoiceFlags, signaturesFor } from '../input/choose-signatures.ts';
import { openSubject } from '../input/open-subject.ts';
import { colourOption, readNodeId, signatureOptions } from '../options.ts';
import { colourFor, note, outputWidth, write } from '../output.ts';
import { logOption } from './replay.ts';

interface Flags extends ChoiceFlags {
  readonly log: readonly string[];
  readonly file?: string;
  readonly plan?: string;
  readonly nodeId?: number;
  readonly all?: boolean;
  readonly json?: boolean;
}

async function run(id: string, flags: Flags): Promise<void> {
  const file = flags.plan ?? flags.file;
  if (file === '-' && flags.log.includes('-')) throw usageFault('the rules and the log cannot both be stdin');
  const line = await find(id.trim().toLowerCase(), flags.log);
  const { request } = line;
  if (file === undefined || request === null) {
    await write(
      flags.json === true ? `${JSON.stringify({ line, trace: null }, null, 2)}\n` : `${accountOf(line)}\n`,
    );
    if (file === undefined && request !== null)
      note('edgeplan: every rule is explained with --file edge.yaml, or --plan and the sealed plan');
    return;
  }
  const { subject } = await openSubject(file, flags.color);
  const samePlan = isSamePlan(subject, line);
  const now = request.now ?? Date.parse(line.time);
  const world = { down: [], nodeId: flags.nodeId ?? null, now, nowGiven: true };
  const asked: SimulatedRequest = {
    request,
    url: `${request.scheme}://${String(request.host)}${request.target}`,
    world,
    response: line.status >= 400 ? { status: line.status, madeBy: 'origin' } : undefined,
  };
  // One plan has one digest here: the node's, which counts the revision in.
  const digest = samePlan ? `sha256:${line.digest}` : subject.digest;
  const signatures = await signaturesFor(subject.bytes, flags);
  const trace = simulate({ ...subject, digest, signatures }, asked);
  if (trace.plan.domain !== line.domain) throw otherDomain(line, trace.plan.domain);
  if (flags.json === true) {
    await write(`${JSON.stringify({ line, same_plan: samePlan, trace }, null, 2)}\n`);
    return;
  }
  await write(
    `${accountOf(line)}\n\n${visible(samePlan ? `the same plan as then; by ${subject.name}:` : otherPlan(subject, line))}\n`,
  );
  const lines = renderTrace(trace, {
    width: outputWidth(),
    all: flags.all === true,
    command: 'explain',
  });
  await write(paint(lines, colourFor(process.stdout, flags.color)));
  if (samePlan && isOtherwise(line, trace))
    note(
      'edgeplan: it was decided otherwise then; rate counters, bodies and the node’s own signatures are not in the log',
    );
}

/** Whether the visitor's outcome, or the one had dry_run rules been enforced, is another than it was. */
function isOtherwise({ decision, shadow }: DecisionLine, trace: TraceDocument): boolean {
  return decision?.action !== trace.decision.action || shadow?.action !== trace.shadow?.action;
}

interface Searched {
  lines: number;
  missing: number;
  first: string | null;
  last: string | null;
}

async function find(id: string, logs: readonly string[]): Promise<DecisionLine> {
  const searched: Searched = { lines: 0, missing: 0, first: null, last: null };
  for (const log of logs) {
    for await (const entries of readLog(log)) {
      for (const entry of entries) {
        if (entry.kind === 'gap') searched.missing += entry.dropped;
        if (entry.kind !== 'decision') continue;
        if (entry.line.id === id) return entry.line;
        searched.lines++;
        searched.first ??= entry.line.time;
        searched.last = entry.line.time;
      }
    }
  }
  throw notThere(id, searched);
}

function notThere(id: string, { lines, missing, first, last }: Searched): CommandFault {
  if (lines === 0) return inputFault('the log holds no decision');
  const span = `${quantity(lines, 'decision')}, ${first} to ${last}`;
  const gap = missing === 0 ? '' : `; ${missing} are missing from it, which the log could not take`;
  const remedy = `of plain answers only a sample is logged (--log-rate of the node); older logs may have been moved away${gap}`;
  return new CommandFault(EXIT.no, `there is no decision \`${id}\` in the log (${span})`, { remedy });
}

function otherDomain(line: DecisionLine, domain: string): CommandFault {
  return inputFault(`the decision is of \`${line.domain}\`, and these rules are of \`${domain}\``, {
    remedy: 'name that domain’s file with --file',
  });
}

/** What the line itself says. */
function accountOf(line: DecisionLine): string {
  const { request, decision } = line;
  const said = [`${line.id}  ${line.time}`];
  if (request === null || decision === null) {
    said.push(`refused with ${line.status} before any rule was asked: ${refusalReason(line.status)}`);
  } else {
    const host = String(request.host);
    said.push(
      `${request.method} ${request.scheme}://${host}${request.target}`,
      `from ${request.ip ?? 'an unknown address'}`,
    );
    said.push(`${outcome(decision)}; the visitor got ${line.status}`);
    for (const { rule, mode, effect, waf } of line.matches) {
      said.push(`  ${rule} (${mode}): ${effect}`);
      if (waf !== undefined) said.push(`    ${signatureText(waf)}`);
    }
    if (line.shadow !== null) said.push(`had dry_run rules been enforced: ${outcome(line.shadow)}`);
    if (line.waf !== null) said.push(signatureText(line.waf));
    said.push(`by ${line.domain}, revision ${line.revision}, plan sha256:${line.digest}`);
  }
  if (line.fault !== null) said.push(`fault: ${line.fault}`);
  if (line.withheld.length > 0) said.push(`not in the log, or not whole: ${line.withheld.join(', ')}`);
  return said.map((one) => visible(one)).join('\n');
}

function signatureText({
  score,
  ids,
  truncated = false,
  exhausted = false,
  body_error,
  targets = [],
  uninspected,
}: NonNullable<DecisionLine['waf']>): string {
  const notes = [
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

function outcome({ action, status, rule, location }: LoggedDecision): string {
  const to = location === null ? '' : ` to ${location}`;
  return `${action}${status === null ? '' : ` ${status}`}${to}${rule === null ? '' : ` by ${rule}`}`;
}

/** What the node refuses by itself, and why (RFC 9110 §15.5.1, §15.5.20). */
function refusalReason(status: number): string {
  if (status === 421) return 'the host is served by no plan here, or is not the name of the TLS handshake';
  if (status >= 500) return 'an error of the node, or a transfer coding it does not know';
  return 'the request was not read as one, such as with a Host header missing or sent twice';
}

/** The digest these rules have under the line's revision: a file has none of its own. */
function isSamePlan({ ruleSet, digest, bytes }: SimulationSubject, line: DecisionLine): boolean {
  const logged = `sha256:${line.digest}`;
  if (ruleSet === null || digest === logged) return digest === logged;
  const sealed = seal(compile(ruleSet).plan, { revision: line.revision ?? 0 });
  return sealed.length === bytes.length && `sha256:${sha256(sealed)}` === logged;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function otherPlan({ name }: SimulationSubject, { revision }: DecisionLine): string {
  return `these rules are not the plan that decided then (revision ${revision}); what ${name} would decide:`;
}

/** The command, to be added to a program. */
export function explainCommand(): Command {
  const command = new Command('explain')
    .summary('why a request got what it got, by its decision id')
    .description(
      'Finds a decision in the log by the id that stands on its page and in its X-Edgeplan-Id header. With the rules at ' +
        'hand, every rule is accounted for as `simulate` does.',
    )
    .argument('<id>', 'the decision id')
    .addOption(logOption())
    .addOption(
      new Option('-f, --file <path>', 'the edge file or sealed plan to explain by; - is stdin').env(
        'EDGEPLAN_FILE',
      ),
    )
    .option('--plan <path>', 'a sealed plan, in place of --file');
  return signatureOptions(command)
    .addOption(
      new Option('--node-id <id>', 'the edge node that answered')
        .argParser(readNodeId)
        .env('EDGEPLAN_NODE_ID'),
    )
    .option('--all', 'also list rules that are out of scope, disabled or not reached')
    .option('--json', 'the line and the trace as JSON')
    .addOption(colourOption())
    .action(run);
}
