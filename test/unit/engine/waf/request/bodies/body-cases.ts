/** Short ways to hand a body to its parser and to say what should come of it. */
import { BODY_PARSERS, type BodyProcessor } from '../../../../../../src/engine/waf/request/bodies/body.ts';
import type { NamedValue, ParsedBody } from '../../../../../../src/engine/waf/request/bodies/parsed-body.ts';

export interface Given {
  readonly contentType?: string;
  readonly truncated?: boolean;
}

export function parse(processor: BodyProcessor, text: string, given: Given = {}): ParsedBody {
  return BODY_PARSERS[processor]({ text, contentType: '', truncated: false, ...given });
}

/** `name=value` for each. */
export function pairs(values: readonly NamedValue[]): readonly string[] {
  return values.map(({ name, value }) => `${name}=${value}`);
}

/** A text as the Latin-1 of its UTF-8. */
export function utf8(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}
