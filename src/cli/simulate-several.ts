/**
 * Several requests of `edgeplan simulate`, from operands or a stream: prints one decision per line, and fails by
 * `--fail-on`.
 */
import { InvalidArgumentError, Option } from 'commander';
import { ACTIONS, type Action, type Decision } from '../engine/evaluator/decision.ts';
import type { EdgeRequest } from '../engine/evaluator/request.ts';
import { nearest } from '../rules/model/nearest.ts';
import { countAnswer, type World } from '../workbench/simulation/conditions.ts';
import { headline } from '../workbench/simulation/describe.ts';
import { quantity, visible } from '../workbench/simulation/render-text.ts';
import { answerJson, answers, type RequestResult, requestText } from '../workbench/simulation/requests.ts';
import { classified, fixedEvaluator, type SimulationSubject } from '../workbench/simulation/simulate.ts';
import { EXIT } from './exit.ts';
import { readChunks } from './input/read-file.ts';
import { note, write } from './output.ts';

/** Options of `simulateStream`. */
export interface SimulateStreamOptions {
  /** A file of requests, or `-`. */
  readonly requests: string;
  readonly world: World;
  /** Whether to print JSON instead of text. */
  readonly json: boolean;
  readonly failOn: FailOn;
}

/** A result as one line of text. */
function answerText(answer: RequestResult, subject: SimulationSubject): string {
  if ('error' in answer) return visible(`ERROR      line ${answer.line}: ${answer.error}`);
  return sentenceOf(answer.decision, { subject });
}

/** `BLOCK      Blocked with 403 by drop #57`: a decision as one line of text, with its request if it is given. */
function sentenceOf(
  decision: Decision,
  { subject, request }: { readonly subject: SimulationSubject; readonly request?: string },
): string {
  const { action, text } = headline(decision, { sources: subject.sources, note: null });
  const asked = request === undefined ? '' : `${request}  `;
  return visible(`${action.toUpperCase().padEnd(9)}  ${asked}${text}`);
}

/** Line numbers of unreadable lines that the note at the end lists. */
const LINES_LISTED = 10;

/** The note about unreadable lines. */
function unreadNote(
  unread: { readonly count: number; readonly first: readonly number[] },
  all: number,
): string {
  const lines = unread.first.join(', ') + (unread.count > unread.first.length ? ', …' : '');
  const named = `${unread.count === 1 ? 'line' : 'lines'} ${lines}`;
  return `edgeplan: ${unread.count} of ${quantity(all, 'line')} could not be read (${named})`;
}

/**
 * Evaluates every line with one evaluator. Resolves to whether every line was a request; unreadable lines are noted
 * on stderr.
 */
export async function simulateStream(
  subject: SimulationSubject,
  options: SimulateStreamOptions,
): Promise<boolean> {
  const evaluator = fixedEvaluator(subject, options.world);
  const unread = { count: 0, first: [] as number[] };
  let all = 0;
  for await (const batch of answers(readChunks(options.requests), evaluator)) {
    all += batch.length;
    const lines = batch.map((answer) => {
      if (!('error' in answer)) {
        options.failOn.add(answer.decision, `line ${answer.line}, ${requestText(answer.request)}`);
      } else if (++unread.count <= LINES_LISTED) unread.first.push(answer.line);
      return options.json ? answerJson(answer) : answerText(answer, subject);
    });
    await write(lines.map((line) => `${line}\n`).join(''));
  }
  if (unread.count > 0) note(unreadNote(unread, all));
  return unread.count === 0;
}

// `edgeplan simulate URL URL …`: evaluates several requests in order and prints one decision per line.

/** Options of `simulateSeveral`. */
export interface SeveralOptions {
  readonly world: World;
  /** Whether to print JSON instead of text. */
  readonly json: boolean;
  readonly failOn: FailOn;
}

/** Evaluates the requests with one evaluator, so that its rate counters count all of them. */
export async function simulateSeveral(
  subject: SimulationSubject,
  requests: readonly EdgeRequest[],
  { world, json, failOn }: SeveralOptions,
): Promise<void> {
  const evaluator = fixedEvaluator(subject, world);
  for (const [index, given] of requests.entries()) {
    const { request } = classified(subject, { request: given, url: '', world });
    const decision = evaluator.evaluate(request);
    countAnswer(evaluator, decision, null);
    const name = requestText(request);
    failOn.add(decision, name);
    const line = json
      ? answerJson({ line: index + 1, request, decision })
      : sentenceOf(decision, { subject, request: name });
    await write(`${line}\n`);
  }
}

// `--fail-on`: exit code 1 when a decision, or its shadow, has one of the named actions.

/** Requests that the note names. */
const MOST_NAMED = 10;

/** An action, or with `would-` one that the decision would have if every dry_run rule were enforced. */
export type FailingAction = Action | `would-${Action}`;

const NAMES: readonly FailingAction[] = [...ACTIONS, ...ACTIONS.map((action) => `would-${action}` as const)];

/** The option: actions separated by commas; may be repeated. */
export function failOnOption(): Option {
  return new Option(
    '--fail-on <actions>',
    `exit with 1 on one of these: ${ACTIONS.join(', ')}; with \`would-\` before it, if dry_run rules were enforced (would-block); with commas, may be repeated`,
  ).argParser(gatherActions);
}

/** Parses actions separated by commas and appends them. */
function gatherActions(
  text: string,
  gathered: readonly FailingAction[] | undefined,
): readonly FailingAction[] {
  const actions = text.split(',').map((word) => {
    const action = NAMES.find((one) => one === word.trim());
    if (action !== undefined) return action;
    const close = nearest(word.trim(), NAMES);
    const remedy =
      close === null
        ? `the actions are ${ACTIONS.join(', ')}, each also with \`would-\` before it`
        : `did you mean ${close}?`;
    throw new InvalidArgumentError(`\`${word}\` is not an action; ${remedy}`);
  });
  return [...(gathered ?? []), ...actions];
}

/** The part of a decision that the option reads. */
export interface Outcome {
  readonly action: Decision['action'];
  readonly shadow: { readonly action: Decision['action'] } | null;
}

/** Collects the decisions that fail. */
interface FailOn {
  /** Adds a decision; `request` names it in the note. */
  add(decision: Outcome, request: string): void;
  /** Prints which decisions failed, and sets exit code 1 if any did and no other code is set. */
  finish(): void;
}

/** Creates the collector for the actions of the flag; absent: none fails. */
export function createFailOn(actions: readonly FailingAction[] = []): FailOn {
  const named: string[] = [];
  let all = 0;
  let failed = 0;
  return {
    add({ action, shadow }, request) {
      all += 1;
      const would = shadow === null || shadow.action === action ? null : (`would-${shadow.action}` as const);
      const failing = [action, would].find((one) => one !== null && actions.includes(one));
      if (failing === undefined) return;
      failed += 1;
      if (named.length < MOST_NAMED) named.push(`${failing}: ${request}`);
    },
    finish() {
      if (failed === 0) return;
      note(`edgeplan: --fail-on ${actions.join(',')}: ${failed} of ${quantity(all, 'request')}`);
      for (const line of named) note(`  ${visible(line)}`);
      if (failed > named.length) note(`  and ${failed - named.length} more`);
      process.exitCode ??= EXIT.no;
    },
  };
}
