/**
 * From a page's HTML to its Markdown (CommonMark with the tables and strikes of GFM). Read as a stream of tags and text,
 * without a tree: the cost is that of reading the page once. In: the page's text and its address. Out: Markdown in which
 * nothing of the page's text acts as markup, or why there is none.
 */
import { Parser } from 'htmlparser2';
import { roleOf } from './elements.ts';
import { MAX_DEPTH } from './limits.ts';
import { baseOf } from './links.ts';
import { createMeter, PageLimit } from './meter.ts';
import type { HtmlReason } from './outcome.ts';
import { createMarkdownWriter } from './page.ts';

export type Converted =
  | { readonly ok: true; readonly markdown: string }
  | { readonly ok: false; readonly reason: HtmlReason };

/** What ends an element; `null`: nothing does. */
type Ending = (() => void) | null;

export function convert(html: string, address: string): Converted {
  const base = baseOf(address);
  if (base === null) return { ok: false, reason: 'address' };
  const page = createMarkdownWriter({
    base,
    meter: createMeter(html.length),
    shape: createMeter(html.length),
  });
  const endings: Ending[] = [];
  /** Elements open within one that is dropped, itself included. */
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
    // Of elements without an end of their own it is told as well.
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
