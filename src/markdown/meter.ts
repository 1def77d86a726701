/** Counts what is written, and ends a conversion that would write too much. */
import { GROWTH, GROWTH_FLOOR } from './limits.ts';
import type { HtmlReason } from './outcome.ts';

/** Thrown through the parser, which has no other way to be stopped; `convert` takes it. */
export class PageLimit extends Error {
  readonly reason: HtmlReason;

  constructor(reason: HtmlReason) {
    super(reason);
    this.name = 'PageLimit';
    this.reason = reason;
  }
}

/** Told of characters before they are written. Throws `PageLimit`. */
export type OutputMeter = (characters: number) => void;

/** A meter for a page of so many characters. */
export function createMeter(characters: number): OutputMeter {
  let left = characters * GROWTH + GROWTH_FLOOR;
  return (spent) => {
    left -= spent;
    if (left < 0) throw new PageLimit('growth');
  };
}
