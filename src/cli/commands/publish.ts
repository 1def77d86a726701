/**
 * `edgeplan publish`: publishes one domain, or all of a store, again from what is stored, for example after an
 * upgrade.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { StoreFault } from '../../base/storage/fault.ts';
import { steadyNow } from '../../base/text/time.ts';
import { requestAll, survey } from '../../control/publishing/republish.ts';
import type { Store } from '../../control/store/store.ts';
import { quantity } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT, usageFault } from '../exit.ts';
import { openExistingData, type StoreFlags, storeFault, storeOptions } from '../open-data.ts';
import { jsonDocument, jsonFormat, note, write, writeDocument } from '../output.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { publicationOutcome } from '../remote/publication.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ServerAccess, StoreFlags {
  /** Publishes every domain of the store. */
  readonly all?: boolean;
  /** Seconds to wait until all are published. */
  readonly wait?: number;
  /** Prints JSON. */
  readonly json?: boolean;
}

/** Milliseconds between two counts of the remaining domains. */
const COUNT_MS = 1_000;
/** The longest wait in seconds: a day. */
const MOST_WAIT_SEC = 86_400;

/** Checks the arguments and publishes one domain or all. @throws CommandFault */
async function publish(domain: string | undefined, flags: Flags): Promise<void> {
  if (flags.all !== true) {
    if (domain === undefined)
      throw usageFault('no domain was named', 'name one, or write --all for every one');
    if (flags.wait !== undefined)
      throw usageFault('`--wait` goes with --all', 'publishing a single domain always waits');
    return publishOne(domain, flags);
  }
  if (domain !== undefined) throw usageFault(`\`${domain}\` and --all exclude one another`);
  const store = await openExistingData(flags);
  try {
    await publishAll(store, { waitSec: flags.wait ?? 0, json: flags.json === true });
  } catch (error) {
    throw error instanceof StoreFault ? storeFault(error) : error;
  } finally {
    await store.close();
  }
}

/** Publishes one domain over the API. */
async function publishOne(domain: string, options: ServerAccess & Pick<Flags, 'json'>): Promise<void> {
  const path = domainPath(domain, '/plans/?wait=published');
  const { headers } = await callDomainApi(domain, options, { method: 'POST', path });
  const revision = headers.get('x-revision');
  const { served, clause, remedy } = await publicationOutcome(domain, revision ?? 'unknown', options);
  if (options.json === true) {
    const number = revision === null ? null : Number(revision);
    return writeDocument('publication', { domain, revision: number, served, remedy });
  }
  await write(`${clause}\n`);
  if (remedy !== null) note(`  ${remedy}`);
}

/**
 * Requests the publication of all domains in the store, and waits. @throws CommandFault when some are not published
 * in time
 */
async function publishAll(
  store: Store,
  { waitSec, json }: { readonly waitSec: number; readonly json: boolean },
): Promise<void> {
  const report = (requested: number, left: number, sentence: string): Promise<void> =>
    write(json ? jsonDocument('publication-of-all', { requested, left }) : `${sentence}\n`);
  const request = await requestAll(store, Date.now());
  if (request === 0) return report(0, 0, 'no domain has a plan, so there is nothing to publish again');
  const { left: total } = await survey(store.latest, request);
  const requested = `${quantity(total, 'domain')} to be published again by the server of this store`;
  if (waitSec === 0) return report(total, total, requested);
  note(requested);
  // A monotonic clock: the system's may be set meanwhile.
  const end = steadyNow() + waitSec * 1_000;
  for (let before = total; ; ) {
    const { left } = await survey(store.latest, request);
    if (left === 0) break;
    // Progress is printed only when it changes.
    if (left !== before) note(`${left} left`);
    before = left;
    if (steadyNow() >= end) {
      const remedy = 'a server has to run on this store; its log names the domains that it cannot publish';
      throw new CommandFault(
        EXIT.server,
        `${quantity(left, 'domain')} not published again after ${waitSec} s`,
        {
          remedy,
        },
      );
    }
    await wait(Math.min(COUNT_MS, Math.max(1, end - steadyNow())));
  }
  await report(total, 0, `${quantity(total, 'domain')} published again`);
}

/** Parses `--wait`. */
function readSeconds(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= MOST_WAIT_SEC) return seconds;
  throw new InvalidArgumentError(`write whole seconds from 1 to ${MOST_WAIT_SEC}.`);
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  publish: ['edgeplan publish example.com', 'edgeplan publish --all --wait 600 --data ./edgeplan-data'],
};

/** Creates the command. */
export function publishCommand(): Command {
  const command = new Command('publish')
    .summary('publish a domain, or all, again as the server has it')
    .description(
      'Compiles what the server has stored for a domain and publishes it as the next revision. Every change is published ' +
        'by itself; this is for after an upgrade, or to end a rollback. With --all the server of the store does so for ' +
        'every domain, a few at a time; a domain that was rolled back keeps the content of the rollback.',
    )
    .argument('[domain]', 'its name')
    .option('--all', 'every domain of the store that --data or --database names; for operators')
    .addOption(
      new Option('--wait <seconds>', 'with --all: wait up to this long until all are published').argParser(
        readSeconds,
      ),
    )
    .option(
      '--json',
      `print one JSON object, ${jsonFormat('publication')}, with --all ${jsonFormat('publication-of-all')}`,
    )
    .addOption(serverOption())
    .addOption(keyOption());
  for (const option of storeOptions()) command.addOption(option);
  return withExamples(command.action(publish), EXAMPLES);
}
