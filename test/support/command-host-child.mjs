/**
 * Runs commands of the built command line one after another in one process, so that its modules are loaded once. Each run
 * evaluates `dist/cli/main.js` again with its own arguments, environment, folder and streams, and ends as a process
 * would: once nothing that the command opened keeps the event loop alive.
 */
import { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

const MAIN = new URL('../../dist/cli/main.js', import.meta.url);
/** Events of the process that commands listen to. */
const EVENTS = ['exit', 'SIGTERM', 'SIGINT', 'SIGHUP'];
/** Milliseconds between looks at what is open. */
const LOOK_MS = 2;

let runs = 0;

/** A stream that collects what is written to it. */
function collector() {
  const parts = [];
  const stream = new Writable({
    write(part, _encoding, done) {
      parts.push(part);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(parts).toString('utf8') };
}

/** How many things keep the event loop alive. */
const alive = () => process.getActiveResourcesInfo().length;

function use(name, value) {
  Object.defineProperty(process, name, { value, configurable: true, writable: true });
}

async function run({ args, cwd, env, input }) {
  const [out, err] = [collector(), collector()];
  const before = alive();
  const listeners = new Set(EVENTS.flatMap((event) => process.rawListeners(event)));
  process.chdir(cwd);
  process.env = env;
  process.argv.splice(1, process.argv.length, MAIN.pathname, ...args);
  process.exitCode = undefined;
  use('stdout', out.stream);
  use('stderr', err.stream);
  use('stdin', Readable.from([Buffer.from(input)], { objectMode: false }));
  runs += 1;
  await import(`${MAIN.href}?run=${runs}`);
  while (alive() > before) await wait(LOOK_MS, undefined, { ref: false });
  const code = process.exitCode ?? 0;
  for (const event of EVENTS) {
    for (const listener of process.rawListeners(event)) {
      if (listeners.has(listener)) continue;
      if (event === 'exit') listener.call(process, code);
      process.removeListener(event, listener);
    }
  }
  process.chdir('/');
  process.exitCode = undefined;
  return { code, out: out.text(), err: err.text() };
}

process.on('message', (asked) => {
  run(asked).then((ran) => process.send(ran));
});
process.on('disconnect', () => process.exit());
