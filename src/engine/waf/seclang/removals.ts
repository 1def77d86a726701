/** Evaluates which rules a `ctl:ruleRemove…` applies to. */
import { searchText } from './amend.ts';
import type { DraftControl, DraftRule } from './draft.ts';
import { inRanges } from './lower-setvar.ts';

/** `ctl:ruleRemove…` actions. */
export type Removals = readonly DraftControl[];

/** Whether a control removes a rule, or one of its targets. */
export function removes(control: DraftControl, { id, tags }: DraftRule): boolean {
  switch (control.kind) {
    case 'ruleRemoveById':
    case 'ruleRemoveTargetById':
      return inRanges(id, control.ranges);
    case 'ruleRemoveByTag':
    case 'ruleRemoveTargetByTag':
      return tags.some((tag) => searchText(control.source, tag) === true);
    case 'forceRequestBodyVariable':
    case 'requestBodyProcessor':
    case 'ruleEngine':
      return false;
    default:
      return control satisfies never;
  }
}

/** Whether a control removes whole rules. */
export function isRemoval({ kind }: DraftControl): boolean {
  return kind === 'ruleRemoveById' || kind === 'ruleRemoveByTag';
}

/** Whether a control removes targets of TX. */
export function readsTx(control: DraftControl): boolean {
  return 'target' in control && control.target.variable === 'TX';
}
