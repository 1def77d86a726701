/** Prints an answer as a test, a chunk of its own, since it needs a printer of YAML. */
import { asTest } from '../../../workbench/simulation/as-test.ts';
import type { Answered } from './engine.ts';

/** The test, or why the request cannot be one. */
export function testOf({ document, asked, subject }: Answered): string {
  const printed = asTest(document, asked, subject);
  return printed.ok ? printed.value : printed.error;
}
