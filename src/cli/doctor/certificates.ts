/** Checks a folder of certificates as a node reads it: pairs fit, none has expired or does so soon. */
import { openCertificates } from '../../edge/listeners/tls/certificates.ts';
import { reasonOf } from '../file-fault.ts';
import type { Check, CheckFinding } from './check.ts';

const DAY_MS = 86_400_000;
/** Days before the end at which a certificate is renewed, as ACME clients do. */
const RENEWAL_DAYS = 30;
/** Names of a certificate that are printed. */
const MOST_NAMES = 3;

/** The part of a certificate that is checked. */
interface Validity {
  readonly names: readonly string[];
  readonly notBefore: number;
  readonly notAfter: number;
}

function validityFinding({ names, notBefore, notAfter }: Validity, now: number): CheckFinding {
  const shown = names.slice(0, MOST_NAMES).join(', ') + (names.length > MOST_NAMES ? ', …' : '');
  const end = new Date(notAfter).toISOString().slice(0, 10);
  const remedy = 'renew it, or let the node do so with --acme';
  if (notAfter <= now)
    return { state: 'failure', found: `the certificate for ${shown} expired on ${end}`, remedy };
  if (notBefore > now) {
    const start = new Date(notBefore).toISOString();
    return { state: 'warning', found: `the certificate for ${shown} is valid from ${start} on` };
  }
  const days = Math.floor((notAfter - now) / DAY_MS);
  const found = `the certificate for ${shown} is valid until ${end}, ${days} ${days === 1 ? 'day' : 'days'} from now`;
  return days < RENEWAL_DAYS ? { state: 'warning', found, remedy } : { state: 'fine', found };
}

export const certificates: Check = {
  name: 'certificates',
  async run({ certificates: folder }) {
    if (folder === undefined) return [{ state: 'skipped', found: 'no --certificates was given' }];
    try {
      // Read once: no change is waited for.
      const options = { folder, fallback: null, pollMs: DAY_MS, onProblem: () => undefined };
      const opened = await openCertificates(options);
      opened.close();
      const problems = opened.problems().map(
        ({ file, reason }): CheckFinding => ({
          state: 'failure',
          found: `\`${file}\`: ${reason}`,
          remedy: 'a pair is `name.crt` beside `name.key`, both PEM, of one key',
        }),
      );
      const now = Date.now();
      const valid = opened.pairs().map((pair) => validityFinding(pair, now));
      if (problems.length + valid.length > 0) return [...problems, ...valid];
      const remedy = 'put `name.crt` beside `name.key` there, or order certificates with --acme';
      return [{ state: 'failure', found: `there is no certificate in \`${folder}\``, remedy }];
    } catch (error) {
      const found = `\`${folder}\` is no folder that can be used: ${reasonOf(error)}`;
      return [{ state: 'failure', found, remedy: 'name a folder with --certificates' }];
    }
  },
};
