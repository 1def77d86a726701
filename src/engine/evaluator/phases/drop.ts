/** Phase 1: the first drop rule that matches blocks the request. */
import { typeIndex } from '../../plan/layout.ts';
import { acts, type Context, end, endPhase, nextMatch, type Run, record, refOf } from '../run.ts';

const DROP = typeIndex('drop');

/** Runs the phase; true when it ended the request. */
export function drop(context: Context, run: Run): boolean {
  for (let slot = nextMatch(context, DROP); slot >= 0; slot = nextMatch(context, DROP)) {
    record(context, run, slot, 'block');
    if (!acts(context, run, slot)) continue;
    endPhase(context, DROP);
    return end(run, 'block', { status: 403, rule: refOf(context, slot) });
  }
  return false;
}
