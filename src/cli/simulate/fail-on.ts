/** `--fail-on`: exit code 1 when a decision has one of the named actions. */
import { InvalidArgumentError, Option } from 'commander';
import { ACTIONS, type Action } from '../../evaluator/decision.ts';
import { nearest } from '../../model/nearest.ts';
import { quantity, visible } from '../../simulator/render-text.ts';
import { EXIT } from '../exit.ts';
import { note } from '../output.ts';

/** Requests that the note names. */
const MOST_NAMED = 10;

/** The option: actions separated by commas; may be repeated. */
export function failOnOption(): Option {
  return new Option(
    '--fail-on <actions>',
    `exit with 1 on one of these: ${ACTIONS.join(', ')}; with commas, may be repeated`,
  ).argParser(gatherActions);
}

/** Parses actions separated by commas and appends them. */
function gatherActions(text: string, gathered: readonly Action[] | undefined): readonly Action[] {
  const actions = text.split(',').map((word) => {
    const action = ACTIONS.find((one) => one === word.trim());
    if (action !== undefined) return action;
    const close = nearest(word.trim(), ACTIONS);
    const remedy = close === null ? `the actions are ${ACTIONS.join(', ')}` : `did you mean ${close}?`;
    throw new InvalidArgumentError(`\`${word}\` is not an action; ${remedy}`);
  });
  return [...(gathered ?? []), ...actions];
}

/** Collects the decisions that fail. */
export interface FailOn {
  /** Adds a decision; `request` names it in the note. */
  add(action: Action, request: string): void;
  /** Prints which decisions failed, and sets exit code 1 if any did and no other code is set. */
  finish(): void;
}

/** Creates the collector for the actions of the flag; absent: none fails. */
export function createFailOn(actions: readonly Action[] = []): FailOn {
  const named: string[] = [];
  let all = 0;
  let failed = 0;
  return {
    add(action, request) {
      all += 1;
      if (!actions.includes(action)) return;
      failed += 1;
      if (named.length < MOST_NAMED) named.push(`${action}: ${request}`);
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
