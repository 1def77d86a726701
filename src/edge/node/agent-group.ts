/**
 * What agents on the same sockets share: a folder with the secrets of clearances and tickets, and the pages of tickets. In: the path
 * of the folder, which the first agent creates. Out: its secrets, the same for every agent.
 */
import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../base/platform/durable-file.ts';
import { isObject } from '../../base/text/json-object.ts';
import type { Clearance } from '../../engine/plan/manifest.ts';
import { PAGE_KEY_OCTETS } from '../doors/tickets.ts';
import { randomClearance, readClearance } from '../following/secrets.ts';

/** The file of secrets and the folder of pages, both in the folder of the group. */
const SECRETS = 'secrets.json';
const PAGES = 'pages';
/** Permission bits of others to write. */
const WRITABLE = 0o022;

/** An open group. */
export interface AgentGroup {
  /** The secret of clearance cookies of domains without their own. */
  readonly clearance: Clearance;
  readonly ticketKey: Uint8Array;
  /** The folder of pages. */
  readonly pages: string;
}

/** A folder that cannot be one of a group. */
export class AgentGroupFault extends Error {
  /** What to change. */
  readonly remedy: string;

  constructor(message: string, remedy: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AgentGroupFault';
    this.remedy = remedy;
  }
}

/** Opens the folder, and creates what it does not have. @throws AgentGroupFault */
export function openAgentGroup(folder: string): AgentGroup {
  try {
    return openGroupFolder(folder);
  } catch (error) {
    if (error instanceof AgentGroupFault) throw error;
    const { message } = error as Error;
    throw new AgentGroupFault(
      `the folder of the group, \`${folder}\`, cannot be used: ${message}`,
      'name a folder that the user of the agents may write to, or one that does not exist yet',
      { cause: error },
    );
  }
}

function openGroupFolder(folder: string): AgentGroup {
  makeFolder(folder, { mode: 0o700 });
  const { mode, uid } = statSync(folder);
  if (uid !== process.getuid?.()) {
    throw new AgentGroupFault(
      `the folder of the group, \`${folder}\`, belongs to another user, who could replace its pages`,
      'name a folder of the user of the agents',
    );
  }
  if ((mode & WRITABLE) !== 0) {
    throw new AgentGroupFault(
      `other users may write to the folder of the group, \`${folder}\`: they could replace its pages`,
      `chmod 700 ${folder}`,
    );
  }
  const file = join(folder, SECRETS);
  createOnce(file, () =>
    JSON.stringify({
      clearance: randomClearance(),
      ticketKey: randomBytes(PAGE_KEY_OCTETS).toString('base64'),
    }),
  );
  const pages = join(folder, PAGES);
  makeFolder(pages, { mode: 0o700 });
  return { ...readGroupSecrets(file), pages };
}

/** Writes a file that does not exist. Of several processes one succeeds, and no process finds a part of it. */
function createOnce(file: string, text: () => string): void {
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) return;
  const written = `${file}.${process.pid}`;
  try {
    writeFileSync(written, text(), { mode: 0o600, flush: true });
    linkSync(written, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(written, { force: true });
  }
}

function readGroupSecrets(file: string): Pick<AgentGroup, 'clearance' | 'ticketKey'> {
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const clearance = isObject(read) ? readClearance(read['clearance']) : null;
  const key = isObject(read) ? read['ticketKey'] : null;
  const ticketKey = Buffer.from(typeof key === 'string' ? key : '', 'base64');
  if (clearance !== null && ticketKey.length === PAGE_KEY_OCTETS) return { clearance, ticketKey };
  throw new AgentGroupFault(
    `\`${file}\` does not have the secrets of a group of agents`,
    'end the agents of the group, remove the file, and start them again; visitors pass their challenges once more',
  );
}
