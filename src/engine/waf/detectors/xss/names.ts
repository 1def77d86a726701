/** The tags and attributes of HTML and SVG that run script, load it, or change the behaviour of a page. */
import { indexWithin } from './html.ts';

/** Tags that are dangerous with any attributes; names without namespace. */
const TAGS: ReadonlySet<string> = new Set(
  `applet base bgsound blink comment embed frame frameset handler ilayer import iframe isindex layer link listener math
   meta noembed noscript object portal script style template vmlframe xml xmp xss`.split(/\s+/),
);

/**
 * How the value of an attribute is dangerous: not at all; always; as script of an event; as CSS; as a URL; as the name of
 * another attribute.
 */
export type Danger = 'none' | 'always' | 'event' | 'style' | 'url' | 'names';

/** By name of an attribute, its danger. */
const ATTRIBUTES: ReadonlyMap<string, Danger> = new Map([
  ...each(
    'always',
    'datasrc dataformatas datafld formmethod srcdoc fscommand seeksegmenttime filter handler',
  ),
  ...each(
    'url',
    `action archive background by cite classid code codebase data dynsrc folder formaction from href icon
    longdesc lowsrc manifest ping poster profile src srcset to usemap values xml:base`,
  ),
  ...each('style', 'style'),
  ...each('names', 'attributename'),
]);

/**
 * Events of the HTML and SVG standards and of the DOM, without `on`. Before any tag, an event attribute must be one of
 * these, since prose has `once =`, `online =` and `only =`.
 */
const EVENTS: ReadonlySet<string> = new Set(
  `abort activate afterprint afterscriptexecute afterupdate animationcancel animationend animationiteration animationstart
   auxclick beforeactivate beforecopy beforecut beforedeactivate beforeeditfocus beforeinput beforematch beforepaste
   beforeprint beforescriptexecute beforetoggle beforeunload beforeupdate begin blur bounce cancel canplay canplaythrough
   cellchange change click close command contextmenu contextlost contextrestored controlselect copy cuechange cut
   dataavailable datasetchanged datasetcomplete dblclick deactivate devicelight devicemotion deviceorientation drag
   dragdrop dragend dragenter dragexit dragleave dragover dragstart drop durationchange emptied end ended error errorupdate
   filterchange finish focus focusin focusout formchange formdata forminput fullscreenchange fullscreenerror gesturechange
   gestureend gesturestart gotpointercapture hashchange help input invalid keydown keypress keyup languagechange
   layoutcomplete load loadeddata loadedmetadata loadend loadstart losecapture lostpointercapture mediacomplete mediaerror
   message messageerror mousedown mouseenter mouseleave mousemove mouseout mouseover mouseup mousewheel move moveend movestart
   offline online orientationchange outofsync pagehide pageshow paste pause play playing pointercancel pointerdown
   pointerenter pointerleave pointermove pointerout pointerover pointerrawupdate pointerup popstate progress propertychange
   ratechange readystatechange rejectionhandled repeat reset resize resizeend resizestart resume reverse rowdelete rowenter
   rowexit rowinserted rowsdelete rowsinserted scroll scrollend search securitypolicyviolation seek seeked seeking select
   selectionchange selectstart show slotchange stalled start stop storage submit suspend syncrestored timeerror timeupdate
   toggle touchcancel touchend touchmove touchstart trackchange transitioncancel transitionend transitionrun transitionstart
   underflow unhandledrejection unload urlflip volumechange waiting webkitanimationend webkitanimationiteration
   webkitanimationstart webkittransitionend wheel zoom`.split(/\s+/),
);

/** The longest part of a name that is compared, in characters; the longest event has 26. */
const LONGEST_NAME = 48;

/** Entries of a map: each name with the same danger. */
function each(danger: Danger, names: string): readonly (readonly [string, Danger])[] {
  return names.split(/\s+/).map((name) => [name, danger] as const);
}

/** A name in lower case, without NUL characters, which old browsers skipped. */
function nameOf(text: string, start: number, end: number): string {
  const name = text.slice(start, Math.min(end, start + LONGEST_NAME));
  return (name.includes('\0') ? name.replaceAll('\0', '') : name).toLowerCase();
}

/**
 * By first letter, the lengths of listed names, a bit each. PERF: most names are excluded by their length before a string
 * is allocated. A name with a colon or a NUL, or one of a family, is always looked up.
 */
const lengths = new Uint32Array(128);
for (const name of [...TAGS, ...ATTRIBUTES.keys()]) lengths[name.charCodeAt(0)]! |= 1 << name.length;

/** The first two letters of names that are matched by prefix: `on…`, `svg…`, `xmlns…`, `xlink…`, `xsl…`. */
const FAMILIES: ReadonlySet<number> = new Set(
  ['on', 'sv', 'xm', 'xl', 'xs'].map((two) => pair(two.charCodeAt(0), two.charCodeAt(1))),
);

/** Two letters, without case, as one number. */
function pair(first: number, second: number): number {
  return (first | 0x20) * 256 + (second | 0x20);
}

/** Whether `text[start, end)` can be a listed name, by its first letters and length. */
function mayBeListed(text: string, start: number, end: number): boolean {
  const first = text.charCodeAt(start) | 0x20;
  if (end - start < 32 && first < 128 && ((lengths[first]! >>> (end - start)) & 1) === 1) return true;
  if (FAMILIES.has(pair(first, text.charCodeAt(start + 1)))) return true;
  for (let i = start; i < end && i < start + LONGEST_NAME; i++) {
    const code = text.charCodeAt(i);
    if (code === 0 || code === 0x3a) return true;
  }
  return false;
}

/** Whether the tag `text[start, end)` is dangerous with any attributes. Browsers skip a NUL in a name, or end it there. */
export function isDangerousTag(text: string, start: number, end: number): boolean {
  if (!mayBeListed(text, start, end)) return false;
  if (isDangerousName(nameOf(text, start, end))) return true;
  const nul = indexWithin(text, 0, { start, end });
  return nul > start && isDangerousName(nameOf(text, start, nul));
}

/** Whether a name is dangerous, with or without a namespace (`x:script`). */
function isDangerousName(name: string): boolean {
  const local = name.slice(name.indexOf(':') + 1);
  return TAGS.has(local) || local.startsWith('svg') || name.startsWith('svg') || name.startsWith('xsl');
}

/** The danger of the attribute `text[start, end)`. */
export function dangerOf(text: string, start: number, end: number): Danger {
  if (end - start < 2 || !mayBeListed(text, start, end)) return 'none';
  const name = nameOf(text, start, end);
  if (name.startsWith('xmlns') || name.startsWith('xlink')) return 'always';
  if (name.startsWith('on') && isLetters(name, 2)) return 'event';
  return ATTRIBUTES.get(name.slice(name.indexOf(':') + 1)) ?? ATTRIBUTES.get(name) ?? 'none';
}

/** Whether three letters are at `from`: an event attribute is at least `onabc`. */
function isLetters(name: string, from: number): boolean {
  if (name.length < from + 3) return false;
  for (let i = from; i < from + 3; i++)
    if (name.charCodeAt(i) < 0x61 || name.charCodeAt(i) > 0x7a) return false;
  return true;
}

/** Whether the name of an attribute has a quote in it, which serves only to hide the end of a value. */
export function hasQuote(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22 || code === 0x27) return true;
  }
  return false;
}

/** Whether an attribute whose name begins with `on` is one of `EVENTS`. */
export function isKnownEvent(text: string, start: number, end: number): boolean {
  return EVENTS.has(nameOf(text, start, end).slice(2));
}
