/** Bounds the output of a conversion: counts characters, and throws beyond `GROWTH` times the page. */
import { GROWTH, GROWTH_FLOOR } from './limits.ts';
import type { HtmlReason } from './outcome.ts';

/** A page beyond a limit. Thrown through the parser, which has no other way to be stopped; `convert` catches it. */
export class PageLimit extends Error {
  readonly reason: HtmlReason;

  constructor(reason: HtmlReason) {
    super(reason);
    this.name = 'PageLimit';
    this.reason = reason;
  }
}

/** Counts characters before they are written. @throws PageLimit */
export type OutputMeter = (characters: number) => void;

/** A meter for a page of `characters` characters. */
export function createMeter(characters: number): OutputMeter {
  let left = characters * GROWTH + GROWTH_FLOOR;
  return (spent) => {
    left -= spent;
    if (left < 0) throw new PageLimit('growth');
  };
}
