/** Refuses edge files with records that only an embedded edge can serve: those without a destination. */
import { APPLICATION_HOST } from '../../base/vocabulary/vocabulary.ts';
import { inputFault } from '../exit.ts';
import type { CompiledFile } from './open-subject.ts';

/**
 * Checks that every record has a destination. nginx and Envoy refuse a configuration that names no upstream, too, rather
 * than answer 502 to its requests.
 * @throws CommandFault that names the first such record; `why` completes the sentence
 */
export function refuseApplicationRecords(
  { ruleSet, sources }: Pick<CompiledFile, 'ruleSet' | 'sources'>,
  why: string,
): void {
  const record = ruleSet.records.find(({ destination }) => destination === APPLICATION_HOST);
  if (record === undefined) return;
  const source = sources.records.get(record.id);
  const place = source === undefined ? sources.file : `${source.file}:${source.line}`;
  throw inputFault(`${place}: the record \`${record.name}\` has no \`destination\`, and ${why}`, {
    remedy:
      'give the record `type` and `destination`; without them only an edge inside an application (edgeplan/node, ' +
      'edgeplan/fetch) serves it',
  });
}
