/** `--fail-on`: exit code 1 when a decision, or its shadow, has one of the named actions. */
import { InvalidArgumentError, Option } from 'commander';
import { ACTIONS, type Action, type Decision } from '../../engine/evaluator/decision.ts';
import { nearest } from '../../rules/model/nearest.ts';
import { quantity, visible } from '../../workbench/simulation/render-text.ts';
import { EXIT } from '../exit.ts';
import { note } from '../output.ts';

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
export interface FailOn {
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
