/** The self-test of a plan before it is published, as a fault of the publisher. */
import { selfTest } from '../../engine/evaluator/self-test.ts';
import { PublishFault } from './fault.ts';

/**
 * Tests the sealed bytes that are about to be published as a revision of a domain that serves.
 * @throws PublishFault `self_test` with the first thing that is wrong
 */
export function assertPublishable(
  bytes: Uint8Array,
  { domain, revision }: { readonly domain: string; readonly revision: number },
): void {
  const wrong = selfTest(bytes, { domain, revision, refusesNoHost: true });
  if (wrong !== null) throw new PublishFault('self_test', wrong);
}
