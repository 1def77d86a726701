/** `edgeplan explain`: explains a logged decision, found by the decision id on the visitor's page: in a file, or at a server. */
import { Command, Option } from 'commander';
import { COUNTED_FORMAT, type CountedLine } from '../../edge/following/counted-requests.ts';
import type { DecisionLine } from '../../edge/proxy/log/line.ts';
import { compile, seal } from '../../engine/compiler/index.ts';
import type { TraceDocument } from '../../workbench/simulation/document.ts';
import { paint } from '../../workbench/simulation/paint.ts';
import { renderTrace } from '../../workbench/simulation/render.ts';
import { quantity, visible } from '../../workbench/simulation/render-text.ts';
import {
  type SimulatedRequest,
  type SimulationSubject,
  simulate,
} from '../../workbench/simulation/simulate.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT, inputFault, usageFault } from '../exit.ts';
import { openSubject } from '../input/open-subject.ts';
import { digestOf } from '../input/read-file.ts';
import { type ChoiceFlags, signaturesFor } from '../open-signatures.ts';
import { colourOption, gather, readNodeId, signatureOptions } from '../options.ts';
import { colourFor, note, outputWidth, write, writeDocument } from '../output.ts';
import { decisionText } from '../print/decision-line.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { findDecision, readDecision, readTrace } from '../remote/domain-logs.ts';
import { readLog } from '../replay/replay-logs.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ChoiceFlags, ServerAccess {
  /** Decision logs to search. */
  readonly log?: readonly string[];
  /** The domain whose log at the server is searched, in place of `log`; without both, those of all domains of the key. */
  readonly domain?: string;
  /** The path of the rules; absent: the decision is printed without its rules. */
  readonly file?: string;
  /** A sealed plan, in place of `file`. */
  readonly plan?: string;
  /** The id of the edge node, for geo pools. */
  readonly nodeId?: number;
  /** Lists all rules. */
  readonly all?: boolean;
  /** Prints JSON. */
  readonly json?: boolean;
}

/** The note on a simulation whose outcome is another one. */
const DIFFERS =
  'edgeplan: the logged decision differs; rate counters, bodies and the node’s own signatures are not in the log';

/** Finds the decision, prints it, and simulates its request when rules are given. */
async function run(id: string, flags: Flags): Promise<void> {
  const file = flags.plan ?? flags.file;
  checkPlaces(flags, file);
  const { line, domain } = await findLine(id.trim().toLowerCase(), flags);
  if (line.format === COUNTED_FORMAT) return explainCounted(line, flags);
  const { request } = line;
  if (domain !== null && file === undefined) return explainRemote(line, domain, flags);
  if (file === undefined || request === null) {
    if (flags.json === true) await writeDocument('explanation', { line, same_plan: null, trace: null });
    else await write(`${decisionText(line)}\n`);
    if (file === undefined && request !== null)
      note('edgeplan: every rule is explained with --file edge.yaml, or --plan and the sealed plan');
    return;
  }
  const { subject } = await openSubject(file, flags.color);
  const samePlan = isSamePlan(subject, line);
  const now = request.now ?? Date.parse(line.time);
  // The health of origins at that time is not in the log: all count as up.
  const world = { down: [], nodeId: flags.nodeId ?? null, now, nowGiven: true };
  const asked: SimulatedRequest = {
    request,
    url: `${request.scheme}://${String(request.host)}${request.target}`,
    world,
    response: responseOf(line),
  };
  // The digest of the node's plan, which includes the revision.
  const digest = samePlan ? `sha256:${line.digest}` : subject.digest;
  const signatures = await signaturesFor(subject.bytes, flags);
  const trace = simulate({ ...subject, digest, signatures }, asked);
  if (trace.plan.domain !== line.domain) throw otherDomain(line, trace.plan.domain);
  if (flags.json === true) {
    await writeDocument('explanation', { line, same_plan: samePlan, trace });
    return;
  }
  await write(
    `${decisionText(line)}\n\n${visible(samePlan ? `the same plan as then; by ${subject.name}:` : otherPlan(subject, line))}\n`,
  );
  const lines = renderTrace(trace, {
    width: outputWidth(),
    all: flags.all === true,
    command: 'explain',
  });
  await write(paint(lines, colourFor(process.stdout, flags.color)));
  if (samePlan && differsFromLog(line, trace)) note(DIFFERS);
}

/** Prints a counted line, which has no request to explain. */
async function explainCounted(line: CountedLine, { json }: Flags): Promise<void> {
  if (json === true) return writeDocument('explanation', { line, same_plan: null, trace: null });
  const { id, time, until, domain, action, rule, network, requests } = line;
  const by = rule === null ? '' : ` by ${rule}`;
  const would = action.startsWith('would-') ? `had dry_run rules been enforced: ${action.slice(6)}` : action;
  const parts = [
    `${id}  ${time} to ${until}`,
    `${quantity(requests, 'request')} from ${network ?? 'various or unknown networks'} to ${domain}`,
    `${would}${by}`,
    'counted in place of a line each, since they exceeded what a node ships of a domain (--ship-lines); none can be explained by itself',
  ];
  await write(`${parts.map((one) => visible(one)).join('\n')}\n`);
  const filter = rule === null ? '' : ` --rule ${rule}`;
  note(visible(`edgeplan: \`edgeplan logs ${domain}${filter}\` has decisions that can be explained`));
}

/** The entry, and its domain where a server has it. @throws CommandFault for an unknown id */
async function findLine(
  id: string,
  flags: Flags,
): Promise<{ readonly line: DecisionLine | CountedLine; readonly domain: string | null }> {
  const { log, domain } = flags;
  if (log !== undefined) return { line: await find(id, log), domain: null };
  if (domain === undefined) return findDecision(id, flags);
  return { line: await readDecision(id, domain, flags), domain };
}

/** @throws CommandFault when the flags name no log, or two, or one input twice */
function checkPlaces({ log, domain, key }: Flags, file: string | undefined): void {
  if (log !== undefined && domain !== undefined)
    throw usageFault('a decision is found in a log with --log, or at a server with --domain, not in both');
  if (log === undefined && domain === undefined && key === undefined)
    throw usageFault('no log was given', 'name a file with --log, or set EDGEPLAN_KEY to search at a server');
  if (file === '-' && log?.includes('-') === true)
    throw usageFault('the rules and the log cannot both be stdin');
}

/** Explains a decision by the plan that made it, which the server has stored. */
async function explainRemote(line: DecisionLine, domain: string, flags: Flags): Promise<void> {
  const found = await readTrace(line.id, domain, flags);
  const { trace } = found;
  if (flags.json === true) {
    await writeDocument('explanation', { line, same_plan: trace === null ? null : true, trace });
    return;
  }
  await write(`${decisionText(line)}\n`);
  if (trace === null) {
    note(`edgeplan: ${visible(found.reason)}; --file edge.yaml explains it by other rules`);
    return;
  }
  await write('\nthe same plan as then, from the server:\n');
  const lines = renderTrace(trace, { width: outputWidth(), all: flags.all === true, command: 'explain' });
  await write(paint(lines, colourFor(process.stdout, flags.color)));
  if (found.more > 0) note(`edgeplan: ${quantity(found.more, 'skipped rule')} of the plan are not listed`);
  if (differsFromLog(line, trace)) note(DIFFERS);
}

/** The error status of an origin that answered. Without a fault the log does not state who made it; the origin is assumed. */
function responseOf({ status, fault }: DecisionLine): SimulatedRequest['response'] {
  return status < 400 ? undefined : { status, madeBy: fault === null ? 'origin' : 'edge' };
}

/** Whether the simulated outcome, or its shadow, differs from the logged one. */
function differsFromLog({ decision, shadow }: DecisionLine, trace: TraceDocument): boolean {
  return decision?.action !== trace.decision.action || shadow?.action !== trace.shadow?.action;
}

/** What a search has read. */
interface Searched {
  lines: number;
  unreadable: string | null;
  missing: number;
  first: string | null;
  last: string | null;
}

/** Searches the logs for a decision id. @throws CommandFault */
async function find(id: string, logs: readonly string[]): Promise<DecisionLine | CountedLine> {
  const searched: Searched = { lines: 0, unreadable: null, missing: 0, first: null, last: null };
  for (const log of logs) {
    for await (const entries of readLog(log)) {
      for (const entry of entries) {
        if (entry.kind === 'unreadable') searched.unreadable ??= `${entry.at}: ${entry.reason}`;
        if (entry.kind === 'gap') searched.missing += entry.dropped;
        if (entry.kind === 'counted' && entry.line.id === id) return entry.line;
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

/** The fault for an id that the logs do not contain. */
function notThere(id: string, { lines, unreadable, missing, first, last }: Searched): CommandFault {
  if (lines === 0 && unreadable !== null)
    return inputFault('no line of the log could be read as a decision', {
      remedy: `the first: ${unreadable}`,
    });
  if (lines === 0) return inputFault('the log holds no decision');
  const span = `${quantity(lines, 'decision')}, ${first} to ${last}`;
  const gap = missing === 0 ? '' : `; ${missing} were dropped by the log`;
  const remedy = `of plain answers only a sample is logged (--log-rate of the node); older logs may have been moved away${gap}`;
  return new CommandFault(EXIT.no, `there is no decision \`${id}\` in the log (${span})`, { remedy });
}

/** The fault for rules of another domain. */
function otherDomain(line: DecisionLine, domain: string): CommandFault {
  return inputFault(`the decision is of \`${line.domain}\`, and these rules are of \`${domain}\``, {
    remedy: 'name that domain’s file with --file',
  });
}

/**
 * Whether the subject is the plan that made the decision. An edge file has no revision, so it is sealed with the
 * line's.
 */
function isSamePlan({ ruleSet, digest, bytes }: SimulationSubject, line: DecisionLine): boolean {
  const logged = `sha256:${line.digest}`;
  if (ruleSet === null || digest === logged) return digest === logged;
  // The revision is part of the digest, and the log has it.
  const sealed = seal(compile(ruleSet).plan, { revision: line.revision ?? 0 });
  return sealed.length === bytes.length && digestOf(sealed) === logged;
}

/** The heading for rules that differ from the logged plan. */
function otherPlan({ name }: SimulationSubject, { revision }: DecisionLine): string {
  return `these rules are not the plan that decided then (revision ${revision}); what ${name} would decide:`;
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  explain: [
    'edgeplan explain 7c9e6679f5a94d9a --log decisions.jsonl',
    'edgeplan explain 7c9e6679f5a94d9a --log decisions.jsonl -f edge.yaml --all',
    'edgeplan explain 7c9e6679-f5a9-4d9a-8d5a-0f1e2d3c4b5a',
    'edgeplan explain 7c9e6679-f5a9-4d9a-8d5a-0f1e2d3c4b5a --domain example.com --json',
  ],
};

/** Creates the command. */
export function explainCommand(): Command {
  const command = new Command('explain')
    .summary('why a request got what it got, by its decision id')
    .description(
      'Finds a decision by the id on its page and in its X-Edgeplan-Id header: at the server, in the logs of the domains of the ' +
        'key, which explains it by the plan that made it; or with --log in the log of a node. With --file or --plan, every rule ' +
        'is explained as by `simulate`.',
    )
    .argument('<id>', 'the decision id')
    .addOption(
      new Option('--log <path>', 'a decision log of the node, - is stdin; may be repeated').argParser(gather),
    )
    .option('--domain <name>', 'search only the log of this domain at the server')
    .addOption(serverOption())
    .addOption(keyOption())
    .addOption(
      new Option('-f, --file <path>', 'the edge file or sealed plan to explain by; - is stdin').env(
        'EDGEPLAN_FILE',
      ),
    )
    .option('--plan <path>', 'a sealed plan, in place of --file');
  signatureOptions(command)
    .addOption(
      new Option('--node-id <id>', 'the edge node that answered')
        .argParser(readNodeId)
        .env('EDGEPLAN_NODE_ID'),
    )
    .option('--all', 'list every rule with its reason; without it, most skipped rules are only counted')
    .option('--json', 'the line and the trace as JSON (edgeplan.explanation/v1)')
    .addOption(colourOption())
    .action(run);
  return withExamples(command, EXAMPLES);
}
