/** Prints what the gateways of one side admit and those of the other refuse, each with a request as operands of `edgeplan simulate`. */

import { ADMITTING_SIDES, type AdmissionChange, type AdmissionChanges } from '../proofs/gateway-changes.ts';
import type { LimitChange } from '../proofs/usage-plan-changes.ts';
import { witnessText } from './render-changes.ts';
import { quantity, shellWord, visible } from './render-text.ts';

/** Changes of one side that are printed as text; `--json` lists all. */
const MAX_PRINTED = 40;
/** Operations that are printed as not proved; further ones are counted. */
const MAX_OPEN = 8;

/** What is no part of the comparison. */
const LEFT_OUT =
  'rules after the gateways, credentials that a request has beyond those it needs, and times at which credentials expire are not compared';
/** Longest body that is printed. */
const MAX_BODY = 400;

/** The text, ending in a newline; `names`: of the two sides. */
export function admissionsText(
  { changes, open, limits }: AdmissionChanges,
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
  return [...lines, ...limits.map(limitText), LEFT_OUT].map((line) => `${visible(line)}\n`).join('');
}

function openText(open: AdmissionChanges['open']): string {
  const named = open.slice(0, MAX_OPEN).map(({ operation }) => operationText(operation));
  return [...named, ...(open.length > MAX_OPEN ? [`${open.length - MAX_OPEN} more`] : [])].join(', ');
}

function operationText(operation: string | null): string {
  return operation ?? 'requests without an operation';
}

function changeLines(change: AdmissionChange): readonly string[] {
  const { operation, refused, credentials, body } = change;
  const { status, reason, operation: other } = refused;
  const by = other === null ? '' : ` at ${other}`;
  const having = credentials === null ? '' : ` with ${credentials}`;
  const [error] = body?.errors ?? [];
  const why = error === undefined ? '' : `: ${error.pointer} ${error.detail}`;
  return [
    `  ${operationText(operation)}${having}, else ${status} ${reason.replaceAll('_', ' ')}${by}${why}`,
    `      ${commandText(change)}`,
  ];
}

/** The operands of \`edgeplan simulate\`; a long body is left out. */
function commandText({ witness, body }: AdmissionChange): string {
  if (body === null || body.text === '') return witnessText(witness);
  const { type, text } = body;
  const { 'content-type': _, ...others } = witness.headers;
  const headers = type === null ? others : { ...others, 'content-type': type };
  const request = witnessText({ ...witness, headers });
  return text.length > MAX_BODY
    ? `${request} (with a body of ${quantity(text.length, 'octet')})`
    : `${request} --data ${shellWord(text)}`;
}

/** The document of `--json`. */
export function admissionsDocument({ changes, open, limits }: AdmissionChanges): object {
  const ofSide = (side: AdmissionChange['by']): object => ({
    requests: changes
      .filter(({ by }) => by === side)
      .map((change) => {
        const { operation, refused, credentials, witness, body } = change;
        const sent = body === null ? {} : { body: bodyDocument(body) };
        return { operation, refused, credentials, request: witness, ...sent, command: commandText(change) };
      }),
    not_proved: open.filter(({ by }) => by === side).map(({ operation }) => operation),
  });
  return { only_after: ofSide('after'), only_before: ofSide('before'), limits, left_out: LEFT_OUT };
}

function bodyDocument({ type, text, errors }: NonNullable<AdmissionChange['body']>): object {
  return { type, octets: text.length, text: text.length > MAX_BODY ? null : text, errors };
}

function limitText({ of, limit, change, was, now }: LimitChange): string {
  const kind = change === 'other' ? '' : ` (${change})`;
  return `${of}: ${limit} ${was ?? 'none'} → ${now ?? 'none'}${kind}`;
}
