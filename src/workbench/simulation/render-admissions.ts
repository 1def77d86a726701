/** Prints what the gateways of one side admit and those of the other refuse, each with a request as operands of `edgeplan simulate`. */
import { ADMITTING_SIDES, type AdmissionChange, type AdmissionChanges } from '../proofs/gateway-changes.ts';
import { witnessText } from './render-changes.ts';
import { quantity, visible } from './render-text.ts';

/** Changes of one side that are printed as text; `--json` lists all. */
const MAX_PRINTED = 40;
/** Operations that are printed as not proved; further ones are counted. */
const MAX_OPEN = 8;

/** What is no part of the comparison. */
const LEFT_OUT = 'bodies, usage plans and other rules after the gateways are not compared';

/** The text, ending in a newline; `names`: of the two sides. */
export function admissionsText(
  { changes, open }: AdmissionChanges,
  names: { readonly before: string; readonly after: string },
): string {
  const lines = ADMITTING_SIDES.toReversed().flatMap((side): readonly string[] => {
    const own = changes.filter(({ by }) => by === side);
    const unproved = open.filter(({ by }) => by === side);
    const left = own.length - MAX_PRINTED;
    return [
      ...(own.length === 0
        ? [
            `${names[side]} alone accepts ${unproved.length === 0 ? 'no request: proved' : 'no request that is known'}`,
          ]
        : [
            `${names[side]} alone accepts requests of ${quantity(own.length, 'operation')}${side === 'before' ? ' (breaking)' : ''}:`,
          ]),
      ...own.slice(0, MAX_PRINTED).flatMap(changeLines),
      ...(left > 0 ? [`and ${left} more; --json lists all`] : []),
      ...(unproved.length === 0 ? [] : [`not proved either way: ${openText(unproved)}`]),
    ];
  });
  return [...lines, LEFT_OUT].map((line) => `${visible(line)}\n`).join('');
}

function openText(open: AdmissionChanges['open']): string {
  const named = open.slice(0, MAX_OPEN).map(({ operation }) => operationText(operation));
  return [...named, ...(open.length > MAX_OPEN ? [`${open.length - MAX_OPEN} more`] : [])].join(', ');
}

function operationText(operation: string | null): string {
  return operation ?? 'requests without an operation';
}

function changeLines({ operation, refused, credentials, witness }: AdmissionChange): readonly string[] {
  const { status, reason, operation: other } = refused;
  const by = other === null ? '' : ` at ${other}`;
  const having = credentials === null ? '' : ` with ${credentials}`;
  return [
    `  ${operationText(operation)}${having}, else ${status} ${reason.replaceAll('_', ' ')}${by}`,
    `      ${witnessText(witness)}`,
  ];
}

/** The document of `--json`. */
export function admissionsDocument({ changes, open }: AdmissionChanges): object {
  const ofSide = (side: AdmissionChange['by']): object => ({
    requests: changes
      .filter(({ by }) => by === side)
      .map(({ operation, refused, credentials, witness }) => ({
        ...{ operation, refused, credentials, request: witness, command: witnessText(witness) },
      })),
    not_proved: open.filter(({ by }) => by === side).map(({ operation }) => operation),
  });
  return { only_after: ofSide('after'), only_before: ofSide('before'), left_out: LEFT_OUT };
}
