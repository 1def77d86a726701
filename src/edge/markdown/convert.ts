/**
 * Converts HTML to Markdown (CommonMark with GFM's tables and strikethrough), as a stream of tags and text without a tree,
 * so that the cost is linear. In: the page's text and its URL. Out: Markdown in which no text of the page acts as markup, or
 * why there is none.
 *
 * Not `mdream` (1.7): its native module has no fallback, and `@mdream/js` links `javascript:` URLs, includes hidden
 * elements, does not escape `|`, and writes `<b>a</b><b>b</b>` as `**a****b**`; it is linear on hostile input, too.
 */
import { Parser } from 'htmlparser2';
import { roleOf } from './elements.ts';
import { MAX_DEPTH } from './limits.ts';
import { baseOf } from './links.ts';
import { createMeter, PageLimit } from './meter.ts';
import type { HtmlReason } from './outcome.ts';
import { createMarkdownWriter } from './page.ts';

/** The outcome of a conversion. */
export type Converted =
  | { readonly ok: true; readonly markdown: string }
  | { readonly ok: false; readonly reason: HtmlReason };

/** What to do at a closing tag; `null`: nothing. */
type Ending = (() => void) | null;

/** @param address the page's URL, the base of its links */
export function convert(html: string, address: string): Converted {
  const base = baseOf(address);
  if (base === null) return { ok: false, reason: 'address' };
  const page = createMarkdownWriter({
    base,
    meter: createMeter(html.length),
    shape: createMeter(html.length),
  });
  const endings: Ending[] = [];
  /** Depth within a dropped element, itself included; 0: none is open. */
  let dropped = 0;
  let run = '';

  function flush(): void {
    if (run === '') return;
    const text = run;
    run = '';
    page.text(text);
  }

  const parser = new Parser({
    onopentag(name, attributes) {
      if (endings.length + dropped >= MAX_DEPTH) throw new PageLimit('depth');
      if (dropped > 0) {
        dropped++;
        return;
      }
      flush();
      const role = roleOf(name, attributes);
      if (role === 'drop') dropped = 1;
      else endings.push(page.open(role, name, attributes));
    },
    // The parser calls this for void elements and omitted end tags, too.
    onclosetag() {
      if (dropped > 0) {
        dropped--;
        return;
      }
      flush();
      endings.pop()?.();
    },
    ontext(text) {
      if (dropped === 0) run += text;
    },
  });
  try {
    parser.end(html);
    flush();
    const markdown = page.finish();
    return markdown === '' ? { ok: false, reason: 'empty' } : { ok: true, markdown };
  } catch (error) {
    if (error instanceof PageLimit) return { ok: false, reason: error.reason };
    throw error;
  }
}
