/**
 * A process that writes, publishes, and kills itself without warning at one point of one publication. Started with the
 * database, the point (`compiled`, `written`, `committed`) and which publication it shall be. Prints the outbox id of
 * each write once the store has acknowledged it. With `again` as the last argument it writes nothing, and publishes the
 * domains again whose plans are of an older version.
 */
import { writeSync } from 'node:fs';
import { createPublisher } from '../../dist/control/publishing/publisher.js';
import { createRepublisher } from '../../dist/control/publishing/republisher.js';
import { openStore } from '../../dist/control/store/database/open.js';

const [database, point, turn, again] = process.argv.slice(2);
const store = await openStore({ database });
let publications = 0;

function dieAt(here) {
  if (here === point && publications >= Number(turn)) process.kill(process.pid, 'SIGKILL');
}

/** `target` with one member in place of its own. */
function instead(target, name, member) {
  const get = (_, asked) => (asked === name ? member : Reflect.get(target, asked, target));
  // Around an object of its own: a proxy may not answer otherwise than a fixed property of its target.
  return new Proxy({}, { get });
}

/** The store as it is, but for the three moments. */
const mortal = instead(store, 'write', async (work, options) => {
  let published = false;
  const result = await store.write(async (tx) => {
    const publish = async (publication) => {
      publications += 1;
      dieAt('compiled');
      const row = await tx.plans.publish(publication);
      published = true;
      return row;
    };
    const done = await work(instead(tx, 'plans', instead(tx.plans, 'publish', publish)));
    if (published) dieAt('written');
    return done;
  }, options);
  if (published) dieAt('committed');
  return result;
});

const tell = (fields, message) => writeSync(2, `${message} ${fields.err?.message}\n`);
const log = { info() {}, warn: tell, error: tell };
const publisher = createPublisher({ store: mortal, log, pollMs: 20, leaseMs: 200 });
publisher.start();

if (again === 'again') {
  createRepublisher({ store: mortal, publisher, clock: Date.now, log }).start();
  await new Promise((resolve) => setTimeout(resolve, 60_000));
  process.exit(1);
}

const domains = await store.latest.domains.page(0, 100);
for (let round = 0; ; round++) {
  const domain = domains[round % domains.length];
  const at = Date.now();
  const body = JSON.stringify({ path_includes: [`/p${at}-${round}`], ips: ['192.0.2.0/24'] });
  const times = { created_at: at, updated_at: at };
  const id = await store.write(async (tx) => {
    const place = { domain_id: domain.id, type: 'drop', priority: 100, record_ids: [] };
    const rule = await tx.rules.insert({ ...place, ...times, body });
    const author = { account_id: null, key_id: null };
    const row = { ...author, domain_id: domain.id, domain: domain.name, at, reason: `rule ${rule.id}` };
    return tx.outbox.append(row);
  });
  writeSync(1, `${domain.id} ${id}\n`);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
}
