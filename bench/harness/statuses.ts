/** Sends many raw requests to a server and reads the status of each answer. */
import { connect, type Socket } from 'node:net';

/** Connections at once. */
const CONNECTIONS = 8;
/** An answer that takes longer is none, in milliseconds. */
const PATIENCE = 20_000;

/** Returns the status of the answer to each request; 0: the connection ended without one. */
export async function statusesOf(port: number, requests: readonly Buffer[]): Promise<readonly number[]> {
  const statuses = new Array<number>(requests.length).fill(0);
  let next = 0;
  const work = async (): Promise<void> => {
    let socket: Socket | null = null;
    while (next < requests.length) {
      const place = next++;
      socket ??= connect(port, '127.0.0.1');
      const { status, open } = await answerOn(socket, requests[place]!);
      statuses[place] = status;
      if (open) continue;
      socket.destroy();
      socket = null;
    }
    socket?.destroy();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return statuses;
}

interface Answer {
  readonly status: number;
  /** Whether the connection takes another request. */
  readonly open: boolean;
}

function answerOn(socket: Socket, request: Buffer): Promise<Answer> {
  return new Promise((resolve) => {
    let text = '';
    const end = (answer: Answer): void => {
      socket.removeAllListeners();
      socket.on('error', () => undefined);
      resolve(answer);
    };
    const cut = (): void => end({ status: statusIn(text), open: false });
    socket.setTimeout(PATIENCE, cut).on('error', cut).on('close', cut);
    socket.on('data', (octets) => {
      text += octets.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      if (head < 0) return;
      const fields = text.slice(0, head).toLowerCase();
      const length = /\r\ncontent-length: (\d+)/.exec(fields);
      if (length === null || text.length < head + 4 + Number(length[1])) return;
      end({ status: statusIn(text), open: !fields.includes('\r\nconnection: close') });
    });
    socket.write(request);
  });
}

function statusIn(text: string): number {
  return Number(text.slice(9, 12)) || 0;
}
