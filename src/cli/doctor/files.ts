/** Checks of the files that a server or a node is given: certificates, an edge file, the secrets key. */
import { existsSync } from 'node:fs';
import { openCertificates } from '../../edge/listeners/tls/certificates.ts';
import { CommandFault, reasonOf } from '../exit.ts';
import { openSubject } from '../input/open-subject.ts';
import { keyFileWarning, locateSecretsKey, openSecretsKey } from '../open-secrets-key.ts';
import { type Check, type CheckFinding, reasonText } from './check.ts';

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

// Checks that the edge file of a node compiles.

export const edgeFile: Check = {
  name: 'file',
  async run({ file }) {
    if (file === undefined) return [{ state: 'skipped', found: 'no --file was given' }];
    try {
      await openSubject(file, 'never');
      return [{ state: 'fine', found: `\`${file}\` compiles` }];
    } catch (error) {
      const remedy =
        error instanceof CommandFault && error.remedy !== undefined
          ? error.remedy
          : `edgeplan compile -f ${file} shows each mistake with its place`;
      return [{ state: 'failure', found: reasonText(error), remedy }];
    }
  },
};

// Checks that the secrets key, which private keys of certificates are encrypted with, is there and only its owner's.

export const secretsKey: Check = {
  name: 'secrets key',
  async run(flags): Promise<readonly CheckFinding[]> {
    const location = locateSecretsKey(flags);
    if (location.kind === 'none') {
      const remedy = 'name its file with --secrets-key, the same on every server of the database';
      return [
        {
          state: 'skipped',
          found: 'nothing names a secrets key: uploads of certificates are refused',
          remedy,
        },
      ];
    }
    if (location.kind === 'file' && flags.database === undefined && !existsSync(location.file))
      return [
        { state: 'skipped', found: `there is no secrets key in \`${location.file}\` yet; serve makes it` },
      ];
    try {
      const { where } = openSecretsKey(location)!;
      const found = keyFileWarning(location);
      if (found !== null) return [{ state: 'warning', found }];
      return [
        { state: 'fine', found: `the secrets key in ${where} can be read; no backup of the store has it` },
      ];
    } catch (error) {
      const remedy = error instanceof CommandFault ? error.remedy : undefined;
      return [{ state: 'failure', found: reasonText(error), ...(remedy === undefined ? {} : { remedy }) }];
    }
  },
};
