/** A node token in a file, read for each request to the control plane: a rotated token needs no restart. */
import { readFileSync } from 'node:fs';
import { inputFault, usageFault } from './exit.ts';
import { readFault, reasonOf } from './file-fault.ts';

/** The token alone, or the line that `edgeplan node-token` prints. */
const TOKEN = /(?:^|=)(edn_[A-Za-z0-9_-]{43})\s*$/m;
/** Octets of the file that are searched: several times the output of `edgeplan node-token create`. */
const MAX_FILE_OCTETS = 4_096;

/**
 * Checks a token from EDGEPLAN_NODE_TOKEN or `--token`; the message does not repeat it.
 * @throws CommandFault unless it has the form of one
 */
export function checkToken(text: string): void {
  if (TOKEN.exec(text)?.[1] === text) return;
  const found = /[\r\n]/.test(text) ? 'several lines' : `${text.length} characters of another form`;
  throw usageFault(
    `EDGEPLAN_NODE_TOKEN, or --token: a node token is \`edn_\` and 43 characters, found ${found}`,
    'edgeplan node-token create prints it after `EDGEPLAN_NODE_TOKEN=`, and the key as EDGEPLAN_NODE_TRUST; a file of both lines goes with --token-file',
  );
}

/** A token file that had a token at the start. */
export interface TokenFile {
  /** The current token; while the file cannot be read or has none, the last one that was read. */
  read(): string;
}

/**
 * Reads the file once.
 * @param onProblem called with a sentence when the file loses its token, once for each problem
 * @throws CommandFault when there is no token in the file now
 */
export function openTokenFile(file: string, onProblem: (sentence: string) => void): TokenFile {
  let token = firstToken(file);
  let problem: string | null = null;

  function report(sentence: string): void {
    if (sentence !== problem) onProblem(`the token file ${sentence}; the last good token is used`);
    problem = sentence;
  }

  return {
    read() {
      try {
        const current = findToken(file);
        if (current === null) report(`\`${file}\` has no node token`);
        else [token, problem] = [current, null];
      } catch (error) {
        report(`\`${file}\` cannot be read: ${reasonOf(error)}`);
      }
      return token;
    },
  };
}

function firstToken(file: string): string {
  let token: string | null;
  try {
    token = findToken(file);
  } catch (error) {
    throw readFault(file, error);
  }
  if (token !== null) return token;
  throw inputFault(`--token-file: \`${file}\` has no node token`, {
    remedy: 'write into it what edgeplan node-token create or rotate prints',
  });
}

/** The token in the file; `null` when the file has none. @throws the system's error when it cannot be read */
function findToken(file: string): string | null {
  return TOKEN.exec(readFileSync(file).toString('latin1', 0, MAX_FILE_OCTETS))?.[1] ?? null;
}
