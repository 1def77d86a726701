/** A process of its own that works on a store folder, made to be killed: bundled by the tests, run by plain Node. */
import { writeSync } from 'node:fs';
import { openSqlite } from '../../../src/control/store/database/sqlite/open.ts';
import { checkBatch, type ReceivedBatch } from '../../../src/control/traffic/check-batch.ts';
import { takeBatch } from '../../../src/control/traffic/take-batch.ts';
import { auditEntry, newRule, outboxRow, publication } from '../../support/sample-rows.ts';
import { batchOfRequests } from '../../support/traffic-requests.ts';

const [, , folder, command, ...rest] = process.argv;

/** One line, on its way before this returns: nothing said is lost when this process is killed. */
function say(line: string): void {
  for (;;) {
    try {
      writeSync(1, `${line}\n`);
      return;
    } catch (error) {
      // The pipe is full because its reader is busy.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}

/** Writes without end, `abreast` at a time, saying `ok <n>` once write n is acknowledged. */
async function writeForever(domainId: number, from: number, abreast: number): Promise<void> {
  const store = await openSqlite({ folder: folder!, role: 'server' });
  const domain = (await store.latest.domains.get(domainId))!;
  let next = from;
  say('open');
  const loop = async (): Promise<void> => {
    for (;;) {
      const number = next++;
      await store.write(async (tx) => {
        await tx.rules.insert(
          newRule(domain.id, { priority: number, body: JSON.stringify({ filler: 'x'.repeat(500) }) }),
        );
        await tx.audit.append(auditEntry(domain, `write.${number}`));
        const through = await tx.outbox.append(outboxRow(domain, `${number}`));
        if (number % 10 !== 0) return;
        const revision = ((await tx.plans.current(domain.name))?.revision ?? 0) + 1;
        const digest = `digest-${number}`;
        await tx.plans.putBlob(digest, new Uint8Array(2_000).fill(number), number);
        await tx.plans.publish(
          publication(domain.name, { domain_id: domain.id, revision, digest, through, reason: `${number}` }),
        );
      });
      say(`ok ${number}`);
    }
  };
  await Promise.all(Array.from({ length: abreast }, loop));
}

/** Takes the batches of a node one after the other, as its reports bring them; each has one admitted request of each consumer. */
async function takeBatches(domainId: number, from: number, consumers: number): Promise<void> {
  const store = await openSqlite({ folder: folder!, role: 'server' });
  const domain = (await store.latest.domains.get(domainId))!;
  const [node] = await store.latest.nodes.list();
  const gateway = { gateway: 1, operation: '', key: null, isAdmitted: true };
  const thread = { check: async (sent: ReceivedBatch) => checkBatch(sent) };
  say('open');
  for (let number = from; ; number++) {
    const now = Date.now();
    const requests = Array.from({ length: consumers }, (_, at) => ({
      at: now,
      gateway: { ...gateway, consumer: `consumer-${at}` },
    }));
    const octets = batchOfRequests(number, domain.name, requests);
    const taken = await takeBatch({ store, thread }, node!, { octets, isGzip: false, now });
    say(`${taken.isRepeated ? 'repeated' : 'ok'} ${number}`);
  }
}

/** Writes until a fault, says its code, waits for a line on stdin, and says whether writing works again. */
async function writeUntilFull(domainId: number): Promise<void> {
  const store = await openSqlite({ folder: folder!, role: 'server' });
  const ping = (): Promise<string> =>
    store.ping().then(
      () => 'answers',
      (error: { readonly code: string }) => error.code,
    );
  const write = (priority: number) =>
    store.write((tx) =>
      tx.rules.insert(newRule(domainId, { priority, body: JSON.stringify('x'.repeat(20_000)) })),
    );
  say('open');
  for (let number = 0; ; number += 5) {
    const settled = await Promise.allSettled([0, 1, 2, 3, 4].map((offset) => write(number + offset)));
    settled.forEach((one, offset) => {
      if (one.status === 'fulfilled') say(`ok ${number + offset}`);
    });
    const failed = settled.find((one) => one.status === 'rejected');
    if (failed === undefined) continue;
    say(`fault ${failed.reason.code} ${failed.reason.message}`);
    say(`ping ${await ping()}`);
    say(`reads ${await store.latest.rules.count(domainId, 'drop')}`);
    break;
  }
  await new Promise((resolve) => process.stdin.once('data', resolve));
  process.stdin.destroy();
  say(`ping ${await ping()}`);
  await write(1_000_000);
  say('ok 1000000');
  await store.close();
}

/** Opens and closes, saying what came of it. */
async function tryToOpen(role: 'server' | 'tool'): Promise<void> {
  try {
    const store = await openSqlite({ folder: folder!, role });
    await store.write((tx) =>
      tx.accounts.insert({ name: `by ${process.pid}`, active: true, created_at: 1, updated_at: 1 }),
    );
    await store.close();
    say('opened');
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    say(`fault ${code} ${message}`);
  }
}

if (command === 'write') await writeForever(Number(rest[0]), Number(rest[1]), Number(rest[2]));
else if (command === 'batches') await takeBatches(Number(rest[0]), Number(rest[1]), Number(rest[2]));
else if (command === 'fill') await writeUntilFull(Number(rest[0]));
else await tryToOpen(command === 'server' ? 'server' : 'tool');
