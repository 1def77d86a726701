/** Content codings (RFC 9110 §8.4): their names, and the faults of a body that rules could not inspect decoded. */
import { CODING_OVERHEAD } from './limits.ts';

export const CODING_FAULTS = {
  unknown: 'is not known, the body was inspected as sent',
  broken: 'does not inflate, the body was inspected as sent',
  brokenOff: 'does not inflate to its end',
  longer: 'goes on past what was read of it',
} as const;
/** Why a coded body could not be inspected whole. */
export type CodingFault = keyof typeof CODING_FAULTS;

/** Characters of a coding that a report shows, since the client chooses them. */
const MAX_SHOWN = 40;

/** The coding of a Content-Encoding header, normalised; `''`: none, or `identity`. */
export function codingOf(header: string): string {
  const coding = header.trim().toLowerCase();
  return coding === 'identity' ? '' : coding;
}

/** Octets of a coded body to read for `wanted` inflated octets, also if the coding does not compress. */
export function codedOctets(coding: string, wanted: number): number {
  return coding === '' ? wanted : wanted + Math.ceil(wanted * CODING_OVERHEAD.share) + CODING_OVERHEAD.octets;
}

/** The fault as a phrase for reports; `null`: there is none. */
export function codingError(coding: string, fault: CodingFault | null): string | null {
  if (fault === null) return null;
  return `content-encoding: \`${coding.slice(0, MAX_SHOWN).replace(/[^!-~ ]/g, '?')}\` ${CODING_FAULTS[fault]}`;
}
