/** `edgeplan diff`: compares two rule sets by their rules and, with requests, by their decisions. */
import { Command, Option } from 'commander';
import { loggedDecision } from '../../edge/proxy/log/line.ts';
import { servesNow } from '../../engine/evaluator/facts.ts';
import type { Evaluator } from '../../engine/evaluator/index.ts';
import { type ProvedChanges, proveChanges } from '../../workbench/proofs/changes.ts';
import { diffPlans, type PlanDiff } from '../../workbench/proofs/diff.ts';
import { changeInput, type SealedSide } from '../../workbench/proofs/differences.ts';
import type { Subject } from '../../workbench/proofs/subject.ts';
import { countAnswer } from '../../workbench/simulation/conditions.ts';
import { changesDocument, changesText } from '../../workbench/simulation/render-changes.ts';
import { requests } from '../../workbench/simulation/requests.ts';
import { fixedEvaluator } from '../../workbench/simulation/simulate.ts';
import { type Examples, withExamples } from '../examples.ts';
import { EXIT, usageFault } from '../exit.ts';
import { type OpenedSubject, openSubject } from '../input/open-subject.ts';
import { readChunks } from '../input/read-file.ts';
import { type ChoiceFlags, signaturesFor } from '../open-signatures.ts';
import { colourOption, gather, readNodeId, signatureOptions } from '../options.ts';
import { write, writeDocument } from '../output.ts';
import { diffText } from '../print/diff.ts';
import {
  createReplay,
  nothingCompared,
  printGaps,
  type ReplayEntry,
  type ReplayReport,
  replayDocument,
  replayText,
} from '../replay/replay.ts';
import { readLog } from '../replay/replay-logs.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ChoiceFlags {
  /** A file of requests to evaluate with both. */
  readonly requests?: string;
  /** Decision logs whose requests to evaluate with both. */
  readonly log?: readonly string[];
  /** The id of the edge node, for geo pools. */
  readonly nodeId?: number;
  /** Proves which outcomes change. */
  readonly proof: boolean;
  /** Prints JSON. */
  readonly json?: boolean;
}

/** Compares, prints the differences, and sets exit code 1 when there are any. */
async function run(before: string, after: string, flags: Flags): Promise<void> {
  const inputs = [
    before,
    after,
    ...(flags.requests === undefined ? [] : [flags.requests]),
    ...(flags.log ?? []),
  ];
  if (inputs.filter((name) => name === '-').length > 1)
    throw usageFault('only one of the inputs can be stdin');
  // One after the other, so that diagnostics of both files are not interleaved.
  const older = await openSubject(before, flags.color);
  const newer = await openSubject(after, flags.color);
  const [left, right] = [sideOf(older), sideOf(newer)];
  const diff = diffPlans(left, right);
  const proof = proofOf(diff, left, right, flags);
  const compares = flags.requests !== undefined || flags.log !== undefined;
  const decisions = compares ? await compareDecisions({ older, newer }, flags) : null;
  const names = { before: inputName(before), after: inputName(after) };
  if (flags.json === true) {
    const replayed = decisions === null ? null : replayDocument(decisions);
    const proved = proof === null ? null : changesDocument(proof.changes, diff.domain.length > 0);
    await writeDocument('diff', { ...names, ...diff, proof: proved, decisions: replayed });
  } else {
    await write(diffText(diff, names));
    if (proof !== null) await write(`\n${changesText(proof.changes, proof.sides, diff.domain.length > 0)}`);
    if (decisions !== null && decisions.compared > 0) await write(`\n${replayText(decisions, names.after)}`);
  }
  if (decisions !== null) {
    printGaps(decisions);
    if (decisions.compared === 0)
      throw nothingCompared(decisions, fixedEvaluator(newer.subject, WORLD).domain);
  }
  if (!diff.same || (decisions?.changed ?? 0) > 0) process.exitCode = EXIT.no;
}

/** The path as typed, since two files in two folders may have one name. */
function inputName(path: string): string {
  return path === '-' ? 'stdin' : path;
}

/** The proof of what changes; `null`: it is not wanted, nothing differs, or a side has no plan or serves nothing. */
function proofOf(
  diff: PlanDiff,
  before: SealedSide,
  after: SealedSide,
  { proof }: Flags,
): {
  readonly changes: ProvedChanges;
  readonly sides: { readonly before: Subject; readonly after: Subject };
} | null {
  if (!proof || diff.same) return null;
  const input = changeInput(before, after);
  const sides = { before: input.before.subject, after: input.after.subject };
  if (![sides.before, sides.after].every(({ loaded }) => servesNow(loaded.plan))) return null;
  return { changes: proveChanges(input), sides };
}

/** A side of the comparison, with the keys of its rules. */
function sideOf({ opened, subject }: OpenedSubject): SealedSide {
  const keys = (subject.ruleSet?.rules ?? []).flatMap(({ type, id }) => {
    const key = subject.sources.get(id)?.key ?? null;
    return key === null ? [] : [[`${type}/${id}`, key] as const];
  });
  return { opened, bytes: subject.bytes, keys: new Map(keys) };
}

/** The conditions of both sides. */
// Without a clock flag, both sides use the same time.
const WORLD = { down: [], nodeId: null, now: Date.now(), nowGiven: false } as const;

/** Evaluates each request with both rule sets, in the same order and with separate counters. */
async function compareDecisions(
  { older, newer }: { readonly older: OpenedSubject; readonly newer: OpenedSubject },
  flags: Flags,
): Promise<ReplayReport> {
  const world = { ...WORLD, nodeId: flags.nodeId ?? null };
  const open = async ({ subject }: OpenedSubject): Promise<() => Evaluator> => {
    const signatures = await signaturesFor(subject.bytes, flags);
    return () => fixedEvaluator({ ...subject, signatures }, world);
  };
  // The older side decides first; its decision takes the place of the logged one.
  const was = (await open(older))();
  const replay = createReplay(await open(newer), { alike: true });
  for await (const entries of entriesOf(flags, was.domain)) {
    for (const entry of entries) {
      // Gaps and unreadable lines are only counted.
      if (entry.kind !== 'decision' || entry.line.request === null) replay.add(entry);
      else {
        const decided = was.evaluate(entry.line.request);
        countAnswer(was, decided, entry.line.answered ?? null);
        replay.add({ kind: 'decision', line: { ...entry.line, decision: loggedDecision(decided) } });
      }
    }
  }
  return replay.report();
}

/** Yields the entries of the logs, then the requests of the file. */
async function* entriesOf(flags: Flags, domain: string): AsyncGenerator<readonly ReplayEntry[]> {
  // Logged requests first, in the order of the logs.
  for (const log of flags.log ?? []) yield* readLog(log);
  const { requests: file } = flags;
  if (file === undefined) return;
  for await (const compares of requests(readChunks(file))) {
    yield compares.map((one): ReplayEntry => {
      // A request of a file has no decision yet; the caller adds that of the older side.
      const at = `${file}:${one.line}`;
      if ('error' in one) return { kind: 'unreadable', at, reason: one.error };
      const { request } = one;
      const line = {
        id: `line ${one.line}`,
        time: '',
        domain,
        request,
        decision: null,
        withheld: [],
        sampled: null,
        answered: one.status,
      };
      return { kind: 'decision', line };
    });
  }
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  diff: [
    'edgeplan diff old.yaml edge.yaml',
    'edgeplan export example.com --ids | edgeplan diff - edge.yaml --requests requests.jsonl',
  ],
};

/** Creates the command. */
export function diffCommand(): Command {
  const command = new Command('diff')
    .summary('what two rule sets do differently')
    .description(
      'Compares two edge files or sealed plans: which rules were added, removed, changed ' +
        'or moved, and with requests which decisions change. Ends with 1 when anything differs.',
    )
    .argument('<before>', 'an edge file or a sealed plan; - is stdin')
    .argument('<after>', 'the one to compare it with')
    .option(
      '--requests <file>',
      'evaluate these requests with both: one JSON object a line, as simulate reads them',
    )
    .addOption(
      new Option('--log <path>', "evaluate a decision log's requests with both; may be repeated").argParser(
        gather,
      ),
    )
    .addOption(
      new Option('--node-id <id>', 'the edge node that answers')
        .argParser(readNodeId)
        .env('EDGEPLAN_NODE_ID'),
    )
    .option('--no-proof', 'compare the rules alone, without proving which outcomes change')
    .option('--json', 'the difference as JSON (edgeplan.diff/v1)')
    .addOption(colourOption());
  return withExamples(signatureOptions(command).action(run), EXAMPLES);
}
