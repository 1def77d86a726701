/** Codes of sealed plans and signature programs that cannot be opened (`PlanFault`). */
import type { CodeList } from './code.ts';

export const PLAN_CODES = {
  checksum: {
    severity: 'error',
    meaning: 'the octets were changed after the plan was sealed',
    remedy: 'copy or compile the plan again; look at the disk if it happens often',
  },
  layout: {
    severity: 'error',
    meaning: 'the checksum is right and the content contradicts itself: another program has written it',
    remedy: 'compile the plan again with edgeplan',
  },
  list: {
    severity: 'error',
    meaning: 'the plan refers to a list by digest, and the list is not there',
    remedy: 'give the list in the option `lists`, or compile a plan that contains it',
  },
  not_a_plan: {
    severity: 'error',
    meaning: 'the octets are no sealed plan; often the file is the `edge.yaml` itself',
    remedy: 'compile it: `edgeplan compile -f edge.yaml -o edge.edgeplan`',
  },
  truncated: {
    severity: 'error',
    meaning: 'the octets end before the plan does',
    remedy: 'copy the file again, whole',
  },
  version: {
    severity: 'error',
    meaning: 'the plan has a format that this version of edgeplan does not read',
    remedy: 'compile it with this version, or upgrade the node',
  },
} as const satisfies CodeList;
