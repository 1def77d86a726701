// Fills a cache directory with answers as fast as it can, until it is killed. Arguments: the directory.
import { createCache } from '../../dist/edge/cache/cache.js';

const cache = createCache({
  memoryOctets: 1 << 20,
  directory: process.argv[2],
  onFault: () => process.exit(3),
});
const settings = { cacheCapMb: 128, diskMaxGb: 10, diskTtlDays: 7 };
const purges = { through: 0, judge: () => 'valid' };
const domain = { name: 'cache.test', purgeEpoch: 0, purges, settings };
const NOTHING = () => undefined;
const sink = { informational: NOTHING, head: NOTHING, data: NOTHING, end: NOTHING, fail: NOTHING };
const source = { pause: NOTHING, resume: NOTHING, abort: NOTHING };

function ask(number) {
  const settings = { mode: 'standard', edgeTtl: 600, browserTtl: null, key: `http://cache.test/${number}` };
  const request = { domain, settings, method: 'GET', headers: {}, now: Date.now(), note: NOTHING };
  cache.answer(request, sink, (_changes, taker) => {
    queueMicrotask(() => {
      taker.head({ status: 200, headers: ['X-Number', String(number)], madeBy: 'origin' }, source);
      // Every tenth is a large body, which is written while it comes.
      for (let piece = 0; piece < (number % 10 === 0 ? 8 : 1); piece++)
        taker.data(Buffer.alloc(40_000, number));
      taker.end([]);
    });
    return source;
  });
}

for (let number = 0; ; number++) {
  ask(number);
  if (number % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
}
