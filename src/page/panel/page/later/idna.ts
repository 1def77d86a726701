/** Takes the place of `tr46` in the bundle: hosts that are not ASCII load it, 63 KB of gzip. */
import type { toASCII as ToAscii } from 'tr46';
import { want } from './libraries.ts';

/** UTS 46 ToASCII once it is loaded; until then `null`, and the evaluation is repeated. */
export let toASCII: typeof ToAscii = () => {
  want(load);
  return null;
};

async function load(): Promise<void> {
  ({ toASCII } = await import('./idna-tables.ts'));
}
