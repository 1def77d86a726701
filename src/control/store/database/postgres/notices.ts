/** Hints between processes: LISTEN on a connection of its own, which is reopened whenever it is lost. */
import pg from 'pg';
import type { PostgresAccess } from '../../place.ts';
import type { StoreChange } from '../../store.ts';
import { clientConfig } from './pool.ts';

/** Milliseconds before a lost connection is tried again; doubles up to the second. */
const RETRY_MS = 100;
/** Milliseconds of the longest wait. */
const MAX_RETRY_MS = 5_000;

/** The listening connection. */
export interface Notices {
  start(): void;
  stop(): Promise<void>;
}

/** Where to listen. */
export interface NoticeOptions {
  readonly access: PostgresAccess;
  readonly channel: string;
  /** The sender to ignore: this process notifies its own listeners directly. */
  readonly self: string;
}

/** Emits the changes of other processes, and `unknown` whenever one may have been missed. */
export function createNotices(options: NoticeOptions, emit: (change: StoreChange) => void): Notices {
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | undefined;
  let delay = RETRY_MS;
  let wanted = false;

  async function connect(): Promise<void> {
    const own = new pg.Client({ ...clientConfig(options.access), statement_timeout: 0 });
    client = own;
    const lost = (): void => {
      if (client !== own) return;
      client = null;
      own.end().catch(() => undefined);
      if (!wanted) return;
      timer = setTimeout(connect, delay);
      timer.unref();
      delay = Math.min(delay * 2, MAX_RETRY_MS);
    };
    own.on('error', lost);
    own.on('end', lost);
    own.on('notification', ({ payload = '' }) => {
      const [change, teller] = payload.split(' ');
      if (teller !== options.self) emit(isChange(change) ? change : 'unknown');
    });
    try {
      await own.connect();
      await own.query(`LISTEN ${options.channel}`);
      delay = RETRY_MS;
      emit('unknown');
    } catch {
      lost();
    }
  }

  return {
    start() {
      wanted = true;
      if (client === null) void connect();
    },
    async stop() {
      wanted = false;
      clearTimeout(timer);
      const own = client;
      client = null;
      await own?.end().catch(() => undefined);
    },
  };
}

/** The changes that a notice can name. */
const CHANGES: ReadonlySet<StoreChange> = new Set<StoreChange>([
  'outbox',
  'manifest',
  'zones',
  'certificates',
  'keys',
]);

function isChange(word: string | undefined): word is StoreChange {
  return word !== undefined && (CHANGES as ReadonlySet<string>).has(word);
}
