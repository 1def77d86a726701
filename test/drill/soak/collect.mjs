// Loaded into a node before it starts: at SIGWINCH it collects its garbage and says what is left, as one line of JSON.
import { readdirSync } from 'node:fs';

process.on('SIGWINCH', () => {
  globalThis.gc();
  setImmediate(() => {
    globalThis.gc();
    const { heapUsed, external, rss } = process.memoryUsage();
    const resources = process.getActiveResourcesInfo().length;
    const files = readdirSync('/proc/self/fd').length;
    process.stderr.write(`@left ${JSON.stringify({ held: heapUsed + external, rss, resources, files })}\n`);
  });
});
