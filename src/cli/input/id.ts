/** Parses ids of objects of the API. */
import { InvalidArgumentError } from 'commander';

/** A parser of an id, for commander; `where` ends the message of its refusal. */
export function idParser(where: string): (text: string) => number {
  return (text) => {
    if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
    throw new InvalidArgumentError(`an id is a whole number; ${where}.`);
  };
}
