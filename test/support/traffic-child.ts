/**
 * The traffic counts of a node as a process of its own, to be killed. Started with the control plane's address, the folder
 * and a seed. Adds seconds of made-up requests without a pause and prints the sum of requests that are written after each;
 * ends in order when its standard input ends.
 */
import { createControl } from '../../src/edge/following/control-plane.ts';
import { openTraffic } from '../../src/edge/following/traffic/traffic.ts';
import { countedSecond } from './counted-seconds.ts';
import { seeded } from './generate-random.ts';

const [url, directory, seed] = process.argv.slice(2);
const random = seeded(Number(seed));
const control = createControl({ url: url!, token: () => 'token' });
/** Minutes pass in some hundred milliseconds. */
const began = Date.now();
const clock = (): number => began + Math.floor(performance.now() * 200);
const note = (fields: object, message: string): void => {
  process.stderr.write(`${JSON.stringify({ message, ...fields })}\n`);
};
const traffic = await openTraffic({
  control,
  directory: directory!,
  log: { info: note, warn: note, error: note },
  clock,
  bounds: { tickMs: 3, spreadMs: 5, lastRetryMs: 30, maxFiles: 4 },
});
let isEnding = false;
process.stdin.on('end', () => {
  isEnding = true;
});
process.stdin.resume();
let written = 0;
while (!isEnding) {
  const requests = 1 + random.int(50);
  // Some are of the minute before.
  const at = clock() - random.int(90_000);
  await traffic.add({
    seconds: [countedSecond({ domain: `d${random.int(4)}.test`, requests, at })],
    droppedTops: 0,
  });
  written += requests;
  process.stdout.write(`${written}\n`);
  await new Promise((resolve) => setImmediate(resolve));
}
await traffic.stop();
await control.close();
process.stdout.write(`${JSON.stringify(traffic.state())}\n`);
process.exit();
