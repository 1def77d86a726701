// Loaded into a node before it starts: at SIGUSR2 it collects its garbage and says what is left, as one line of JSON.
import { readdirSync } from 'node:fs';

process.on('SIGUSR2', () => {
  globalThis.gc();
  setImmediate(() => {
    globalThis.gc();
    const { heapUsed, external, rss } = process.memoryUsage();
    const resources = process.getActiveResourcesInfo().length;
    const files = readdirSync('/proc/self/fd').length;
    process.stderr.write(`@left ${JSON.stringify({ held: heapUsed + external, rss, resources, files })}\n`);
  });
});
