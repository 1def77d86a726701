/** Content codings (RFC 9110 §8.4): their names, and the faults of a body that rules could not inspect decoded. */
/**
 * Maximum number of octets that a coding may add to data that it cannot compress: a few for each stored block (RFC 1951
 * §3.2.4) and each flush of a stream, and gzip's header with a file name. A body with more is padded, and counts as
 * unreadable.
 */
const CODING_OVERHEAD = { share: 1 / 8, octets: 1_024 } as const;

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

/** The codings of a Content-Encoding header, normalised, the first applied first; `''`: none, or `identity`. */
export function codingOf(header: string): string {
  const codings = header.toLowerCase().split(',', MAX_LISTED);
  return codings
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
    .join(', ');
}

/** Codings of a header that are read, `identity` and empty ones too. */
const MAX_LISTED = 16;
/** Codings around each other that are inflated: clients send one, and two where a proxy compresses once more. */
const MAX_CODINGS = 3;

/** The codings that `codingOf` returned, as a list; `null`: there are more than may be inflated. */
export function listedCodings(coding: string): readonly string[] | null {
  const codings = coding === '' ? [] : coding.split(', ');
  return codings.length > MAX_CODINGS ? null : codings;
}

/** Octets of a coded body to read for `wanted` inflated octets, also if the codings do not compress. */
export function codedOctets(coding: string, wanted: number): number {
  return (listedCodings(coding) ?? []).reduce(
    (octets) => octets + Math.ceil(octets * CODING_OVERHEAD.share) + CODING_OVERHEAD.octets,
    wanted,
  );
}

/** The result of inflating. */
export interface Inflated<Octets extends Uint8Array> {
  readonly octets: Octets;
  /** Why it was not inflated whole; `null`: it was inflated whole. */
  readonly fault: CodingFault | null;
}

/** Inflates octets in one coding, up to `most` inflated ones; returns the octets given if none inflate. */
export type InflateOne<Octets extends Uint8Array> = (
  octets: Octets,
  coding: string,
  most: number,
) => Promise<Inflated<Octets>>;

/**
 * Inflates up to `wanted` octets, from the last coding to the first (RFC 9110 §8.4). A body that does not inflate, or of an
 * unknown coding, is inspected as far as it could be inflated, with a fault: an origin may read what this node cannot.
 */
async function inflateAll<Octets extends Uint8Array>(
  octets: Octets,
  coding: string,
  { wanted, inflate }: { readonly wanted: number; readonly inflate: InflateOne<Octets> },
): Promise<Inflated<Octets>> {
  const codings = listedCodings(coding);
  if (codings === null) return { octets, fault: 'unknown' };
  let at: Inflated<Octets> = { octets, fault: null };
  for (let left = codings.length - 1; left >= 0; left--) {
    const most = codedOctets(codings.slice(0, left).join(', '), wanted);
    const next = await inflate(at.octets, codings[left]!, most);
    if (next.fault === 'unknown' || next.fault === 'broken')
      return { ...next, fault: at.fault ?? next.fault };
    at = { octets: next.octets, fault: at.fault ?? next.fault };
  }
  return at.octets.length >= wanted ? { ...at, fault: null } : at;
}

/** What was read of a body, and how it is inspected. */
export interface ReadOctets<Octets extends Uint8Array> {
  /** Octets that rules inspect, inflated. */
  readonly wanted: number;
  /** Whether the octets are all of the body. */
  readonly ended: boolean;
  readonly inflate: InflateOne<Octets>;
}

/** The part of a body that rules inspect, of the octets read; `coding` is of `codingOf`. */
export async function inspectedPart<Octets extends Uint8Array>(
  octets: Octets,
  coding: string,
  { wanted, ended, inflate }: ReadOctets<Octets>,
): Promise<{ readonly inspected: Uint8Array; readonly error: string | null }> {
  // An empty body has nothing to decode in any coding (RFC 9110 §8.4), and nothing to inspect.
  if (coding === '' || (octets.length === 0 && ended)) {
    return { inspected: octets.subarray(0, wanted), error: null };
  }
  const seen = await inflateAll(octets, coding, { wanted, inflate });
  const goesOn = !ended && seen.octets.length < wanted;
  const error = codingError(coding, seen.fault ?? (goesOn ? 'longer' : null));
  return { inspected: seen.octets.subarray(0, wanted), error };
}

/** The fault as a phrase for reports; `null`: the body was inflated whole. */
function codingError(coding: string, fault: CodingFault | null): string | null {
  if (fault === null) return null;
  return `content-encoding: \`${coding.slice(0, MAX_SHOWN).replace(/[^!-~ ]/g, '?')}\` ${CODING_FAULTS[fault]}`;
}
