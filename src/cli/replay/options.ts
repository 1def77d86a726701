/** Parsers of the options of `edgeplan replay`. */
import { InvalidArgumentError } from 'commander';
import { parseHost } from '../../base/addresses/host.ts';

/** Parses a host; it may have a port, as a Host header may. */
export function readHost(text: string): string {
  if (parseHost(text, { host: '', port: -1, literal: false })) return text;
  throw new InvalidArgumentError('a host is written like shop.example.com.');
}

/** Parses names of headers, separated by commas. */
export function readCaptures(text: string): readonly string[] {
  const names = text.split(',').map((one) => one.trim().toLowerCase());
  const wrong = names.find((name) => !/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/.test(name));
  if (wrong === undefined) return names;
  throw new InvalidArgumentError(`\`${wrong}\` is not the name of a header.`);
}
