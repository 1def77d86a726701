/** `edgeplan play`: serves the page for an edge file on this machine and follows the file's changes. */
import { once } from 'node:events';
import { basename } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { foreignHost } from '../../base/addresses/host.ts';
import { readPanel } from '../../page/panel/assets.ts';
import { createPlayedFile, createPlayServer } from '../../page/panel/play-server.ts';
import { type Examples, withExamples } from '../examples.ts';
import { inputFault, usageFault } from '../exit.ts';
import { listenFault, stopOnSignals } from '../long-runs.ts';
import type { ChoiceFlags } from '../open-signatures.ts';
import { colourOption, edgeFileOption, readPort, signatureOptions } from '../options.ts';
import { note, write } from '../output.ts';
import { followPlayedFile } from '../play/follow-file.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ChoiceFlags {
  /** The path of the rules. */
  readonly file: string;
  /** The loopback address to listen on. */
  readonly host: string;
  readonly port?: number;
}

/** The port that is tried first. */
const USUAL_PORT = 8790;

/** Parses `--host`: plans contain what rules are about, and the page asks nobody for a key. */
function readLoopback(text: string): string {
  if (foreignHost(text.includes(':') ? `[${text}]` : text) === null) return text;
  throw new InvalidArgumentError(
    'the page has no sign-in, so it is served on loopback alone: 127.0.0.1, ::1 or localhost.',
  );
}

/** Serves until a signal ends it. */
async function run(flags: Flags): Promise<void> {
  if (flags.file === '-')
    throw usageFault('play follows a file; stdin is read once', 'name a file instead of -');
  const files = readFiles();
  const played = createPlayedFile(basename(flags.file));
  const followed = await followPlayedFile(played, flags);
  const server = createPlayServer({ files, played });
  const url = await listen(server, flags).catch((error: unknown) => {
    followed.stop();
    throw error;
  });
  await write(`${url}/\n`);
  note(`the page for ${flags.file}; it follows the file, Ctrl-C ends`);
  stopOnSignals(async () => {
    followed.stop();
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
}

/** The files of the page. @throws CommandFault when they were not built */
function readFiles(): ReturnType<typeof readPanel> {
  try {
    return readPanel('play');
  } catch (cause) {
    throw inputFault('the page is not built', { cause, remedy: 'npm run build writes it' });
  }
}

/** Binds the server to the given port, or to the usual one or a free one; returns its URL. */
async function listen(server: ReturnType<typeof createPlayServer>, { host, port }: Flags): Promise<string> {
  const ports = port === undefined ? [USUAL_PORT, 0] : [port];
  for (const [index, wanted] of ports.entries()) {
    try {
      server.listen({ host, port: wanted });
      await once(server, 'listening');
      break;
    } catch (error) {
      const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      if (taken && index < ports.length - 1) continue;
      throw listenFault(error, { host, ports: { '--port': wanted } }) ?? error;
    }
  }
  const { port: bound } = server.address() as { readonly port: number };
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  play: ['edgeplan play', 'edgeplan play -f shop/edge.yaml --port 9000'],
};

/** Creates the command. */
export function playCommand(): Command {
  const command = new Command('play')
    .summary('the page for an edge file: type a URL, see the decision and every reason')
    .description(
      'Serves a page on this machine that evaluates requests in the browser on the plan of an edge file. It follows the ' +
        "file: after each change the page shows the new plan's decision, or why the file does not compile.",
    )
    .addOption(edgeFileOption())
    .addOption(
      new Option('--host <address>', 'the loopback address to listen on')
        .argParser(readLoopback)
        .default('127.0.0.1'),
    )
    .addOption(
      new Option('--port <number>', 'the port of the page (default: 8790, or a free one)').argParser(
        readPort,
      ),
    );
  return withExamples(signatureOptions(command).addOption(colourOption()).action(run), EXAMPLES);
}
