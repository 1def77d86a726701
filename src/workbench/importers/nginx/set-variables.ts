/** Variables to which `set` gives one literal text, as configurations name an upstream that nginx resolves on each request. */
import type { NginxDirective } from './parse-nginx.ts';

/** The rewrite phase that a block and those around it run, the innermost first. */
type Blocks = readonly (readonly NginxDirective[])[];

const VARIABLE = /\$(?:\{(\w+)\}|(\w+))/g;

/**
 * The text with the variables that are known replaced; others stay, such as those that an `if` sets. The innermost block with a
 * `set` decides: it runs last.
 */
export function withSetValues(text: string, blocks: Blocks): string {
  return text.replace(VARIABLE, (written: string, braced?: string, plain?: string) => {
    const name = `$${braced ?? plain}`;
    return setValue(name, blocks) ?? written;
  });
}

/** The literal text of a variable; `null`: none, or it depends on the request. */
function setValue(name: string, blocks: Blocks): string | null {
  const isSet = (one: NginxDirective): boolean => one.name === 'set' && one.args[0] === name;
  for (const block of blocks) {
    if (block.some((one) => one.name === 'if' && one.block?.some(isSet))) return null;
    const value = block.findLast(isSet)?.args[1];
    if (value !== undefined) return value.includes('$') ? null : value;
  }
  return null;
}

/** The directives with the known variables of `proxy_pass` replaced where it has no path of its own. */
export function withKnownPasses(
  directives: readonly NginxDirective[],
  outer: Blocks = [],
): readonly NginxDirective[] {
  const blocks = [directives, ...outer];
  return directives.map((one) => {
    if (one.block !== null) return { ...one, block: withKnownPasses(one.block, blocks) };
    if (one.name !== 'proxy_pass') return one;
    const args = one.args.map((text) => withSetValues(text, blocks));
    return /^https?:\/\/[^/$]+(?:\$request_uri)?$/.test(args[0] ?? '') ? { ...one, args } : one;
  });
}
