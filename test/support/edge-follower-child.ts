/**
 * A following node as a process of its own, to be killed and starved. Started with the control plane's address, the token,
 * the folder and the domains to tell about; says how each is served for every line it reads, and once it has started.
 */
import { createInterface } from 'node:readline';
import { startFollower } from './edge-follower.ts';

const [url = '', token = '', directory = '', list = ''] = process.argv.slice(2);
const began = performance.now();
const follower = await startFollower({ url, token, directory });
const startMs = performance.now() - began;

/** Paths `/p1`, `/p2` … that are blocked, and the first that is not. */
function blocked(host: string): { readonly count: number; readonly after: string } {
  let count = 0;
  while (follower.decide(host, `/p${count + 1}`) === 'block') count++;
  return { count, after: follower.decide(host, `/p${count + 2}`) };
}

function tell(): void {
  const domains = list.split(',').filter((name) => name !== '');
  const served = domains.map((name) => ({ name, ...blocked(name), revision: follower.revision(name) }));
  const { warnings } = follower;
  process.stdout.write(`${JSON.stringify({ startMs, served, state: follower.state(), warnings })}\n`);
}

tell();
createInterface({ input: process.stdin })
  .on('line', tell)
  .on('close', () => {
    follower.stop().then(() => process.exit(0));
  });
