/** Which rules a `ctl:ruleRemove…` reaches. */
import { searchText } from './amend.ts';
import type { DraftControl, DraftRule } from './draft.ts';
import { inRanges } from './lower-setvar.ts';

export type Removals = readonly DraftControl[];

/** Whether a control takes a rule away, or one of its targets. */
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

/** Whether it takes whole rules away. */
export function isRemoval({ kind }: DraftControl): boolean {
  return kind === 'ruleRemoveById' || kind === 'ruleRemoveByTag';
}

/** Whether it changes what a rule sees of TX. */
export function readsTx(control: DraftControl): boolean {
  return 'target' in control && control.target.variable === 'TX';
}
