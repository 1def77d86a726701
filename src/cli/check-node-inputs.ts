/**
 * Opens the files that the options of a node name before the node starts: a mistyped path ends the start, also of a node
 * with workers. A file that breaks later is logged, and its last good version is used.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { openCertificates } from '../edge/listeners/tls/certificates.ts';
import { FILES_MS } from '../edge/node/certificates.ts';
import type { CertificateFolder, EdgeNodeOptions, NodeAcmeOptions } from '../edge/node/options.ts';
import { openClassificationFiles } from '../edge/proxy/classifier.ts';
import { inputFault, reasonOf, usageFault, writeFault } from './exit.ts';

interface Problem {
  readonly file: string;
  readonly reason: string;
}

type CheckedOptions = Pick<EdgeNodeOptions, 'tls' | 'decisions' | 'countries' | 'asns' | 'botRanges'>;

/**
 * Checks the decision log, the databases of addresses, the ranges of bots, and the certificates.
 * @throws CommandFault that names the option
 */
export async function checkNodeInputs(options: CheckedOptions): Promise<void> {
  const { tls, decisions } = options;
  if (decisions !== null && decisions.file !== '-') checkLog(decisions.file);
  await checkClassification(options);
  if (tls !== null && tls.folder !== null) await checkCertificates(tls.folder, tls.acme);
}

/** Checks that lines can be appended, without opening the file: to open a pipe without a reader blocks. */
function checkLog(file: string): void {
  try {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) {
      accessSync(dirname(file), constants.W_OK);
    } else {
      accessSync(file, constants.W_OK);
      if (statSync(file).isDirectory()) throw Object.assign(new Error('a folder'), { code: 'EISDIR' });
    }
  } catch (error) {
    throw inputFault(`--log: ${writeFault(file, error).message}`, { cause: error });
  }
}

/** One broken list in the folder is left to the log of the node; an unreadable database or folder ends the start. */
async function checkClassification({ countries, asns, botRanges: ranges }: CheckedOptions): Promise<void> {
  const problems: Problem[] = [];
  const onProblem = (problem: Problem): number => problems.push(problem);
  const files = await openClassificationFiles({ countries, asns, ranges, pollMs: FILES_MS, onProblem });
  files.close();
  for (const { file, reason } of problems) {
    if (file === countries) throw inputFault(`--countries: \`${file}\` cannot be used: ${reason}`);
    if (file === asns) throw inputFault(`--asns: \`${file}\` cannot be used: ${reason}`);
    if (file === ranges) throw inputFault(`--bot-ranges: \`${file}\` cannot be used: ${reason}`);
  }
}

async function checkCertificates(
  { certificates: folder, fallback }: CertificateFolder,
  acme: NodeAcmeOptions | null,
): Promise<void> {
  const problems: Problem[] = [];
  const onProblem = (problem: Problem): number => problems.push(problem);
  const certificates = await openCertificates({ folder, fallback, pollMs: FILES_MS, onProblem }).catch(
    (error: unknown) => {
      const remedy = 'name a folder with --certificates';
      throw inputFault(`\`${folder}\` is no folder that can be used: ${reasonOf(error)}`, {
        cause: error,
        remedy,
      });
    },
  );
  certificates.close();
  if (acme === null && certificates.pairs().length === 0) {
    const why = problems.map(({ file, reason }) => `\`${file}\`: ${reason}`).join('; ');
    const remedy = 'put `name.crt` beside `name.key` there, or order certificates with --acme';
    throw inputFault(`no certificate in \`${folder}\` can be used${why === '' ? '' : ` (${why})`}`, {
      remedy,
    });
  }
  const isOrdered = fallback !== null && acme?.names.includes(fallback) === true;
  if (fallback !== null && !isOrdered && certificates.find(fallback) === null) {
    const names = [...new Set(certificates.pairs().flatMap((pair) => pair.names))].slice(0, MAX_NAMES);
    throw usageFault(
      `--default-certificate: no certificate in \`${folder}\` is for \`${fallback}\``,
      names.length === 0 ? undefined : `there are ones for ${names.join(', ')}`,
    );
  }
}

/** Most certificate names that a remedy lists. */
const MAX_NAMES = 8;
