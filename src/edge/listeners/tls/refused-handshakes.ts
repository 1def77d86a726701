/**
 * Refused TLS handshakes: a count for each reason, and a sentence for the log, at most once a minute for each. They reach no
 * request log, as no request came.
 */

/** Why a handshake is refused; the label of the metric. */
export type HandshakeRefusal = 'unknown' | 'suspended' | 'no_certificate' | 'no_name' | 'bad_name';

const REASONS: Readonly<Record<HandshakeRefusal, string>> = {
  unknown: 'no domain here has this name',
  suspended: 'its domain is not active, is suspended, or has a plan that cannot be opened',
  no_certificate:
    'no certificate is for it, neither of the control plane nor in --certificates; --default-certificate names one for all',
  no_name: 'the client sent no name, and there is no --default-certificate',
  bad_name: 'it is no host name',
};

/** Milliseconds between two sentences of one reason. */
const REPORT_MS = 60_000;
/** Characters of a name that are repeated. */
const MAX_SHOWN = 100;

/** The refused handshakes of a process. */
export interface RefusedHandshakes {
  /** Counts one. @param name as the client sent it; `null`: it sent none */
  record(reason: HandshakeRefusal, name: string | null): void;
  /** Counts by reason since the start. */
  counts(): Readonly<Record<HandshakeRefusal, number>>;
}

/** @param onReport receives the sentence */
export function createRefusedHandshakes(onReport: (sentence: string) => void): RefusedHandshakes {
  const counts = { unknown: 0, suspended: 0, no_certificate: 0, no_name: 0, bad_name: 0 };
  const reportedAt = new Map<HandshakeRefusal, number>();
  return {
    record(reason, name) {
      counts[reason]++;
      const now = performance.now();
      if (now - (reportedAt.get(reason) ?? Number.NEGATIVE_INFINITY) < REPORT_MS) return;
      reportedAt.set(reason, now);
      const subject = name === null ? 'a TLS handshake' : `a TLS handshake for \`${shown(name)}\``;
      onReport(`${subject} was refused: ${REASONS[reason]} (reported at most once a minute)`);
    },
    counts: () => counts,
  };
}

/** A name of any octets, cut, in printable ASCII. */
function shown(name: string): string {
  const text = name.slice(0, MAX_SHOWN).replace(/[^\x21-\x7e]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return name.length > MAX_SHOWN ? `${text}…` : text;
}
