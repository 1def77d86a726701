/** Takes the place of `re2js` in the bundle: captures of redirects and rewrites, and signatures load it, 46 KB of gzip. */
import type * as Re2js from 're2js';
import { want } from './libraries.ts';

/** Ends an evaluation that is repeated. */
class NotLoaded extends Error {}

/** The engine once it is loaded; until then every use ends the evaluation. */
export let RE2JS = {
  compile(): never {
    want(loadRegexes);
    throw new NotLoaded();
  },
} as unknown as typeof Re2js.RE2JS;
export let RE2JSException: typeof Re2js.RE2JSException = NotLoaded as never;
export let RE2JSSyntaxException: typeof Re2js.RE2JSSyntaxException = NotLoaded as never;

/** Loads the package. */
export async function loadRegexes(): Promise<void> {
  ({ RE2JS, RE2JSException, RE2JSSyntaxException } = await import('re2js'));
}
