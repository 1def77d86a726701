/**
 * A store whose transactions are spans within that of the request that runs them. In: a store. Out: the same store; what runs
 * outside of a sampled request has no span.
 */
import { activeSpan } from '../../base/telemetry/spans.ts';
import type { Store } from '../store/store.ts';

/** The store with spans for `read` and `write`. Single reads (`latest`) have none: they take microseconds. */
export function withTransactionSpans(store: Store): Store {
  const { database } = store.about;
  async function inSpan<T>(name: string, work: () => Promise<T>): Promise<T> {
    const parent = activeSpan();
    if (parent === null) return work();
    const span = parent.child({ name, kind: 'client' });
    span.set({
      'db.system.name': database === 'sqlite' ? 'sqlite' : 'postgresql',
      'db.operation.name': name,
    });
    try {
      const result = await work();
      span.end(null);
      return result;
    } catch (error) {
      span.end(error instanceof Error ? error.name : 'unknown');
      throw error;
    }
  }
  return {
    ...store,
    read: (work) => inSpan('read', () => store.read(work)),
    write: (work, options) => inSpan('write', () => store.write(work, options)),
  };
}
