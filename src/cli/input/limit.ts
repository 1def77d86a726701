/** Parses `--limit` of commands that print a page of a list. */
import { InvalidArgumentError, Option } from 'commander';
import { MAX_PAGE } from '../../control/api/operation/limits.ts';

/** The default of `--limit`: a few screens. */
const USUAL_LIMIT = 100;

function readLimit(text: string): number {
  const limit = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_PAGE) return limit;
  throw new InvalidArgumentError(`write a whole number from 1 to ${MAX_PAGE}.`);
}

/** `--limit`. @param what the plural of what is listed */
export function limitOption(what: string): Option {
  return new Option('--limit <count>', `${what}, at most`).argParser(readLimit).default(USUAL_LIMIT);
}
