/**
 * Detects script without the page around it: `@detectScript`. `detectXss` reads HTML and finds every tag and attribute
 * that can run script; this detector finds script itself, in one pass over the characters: event attributes whose value is
 * code, calls that hide what they run, and tags that appear when a filter removes others (`<scr<b>ipt>`). Sources: WHATWG
 * HTML standard (events), ECMAScript 2025 (calls), OWASP "XSS Filter Evasion Cheat Sheet" (what filters leave).
 */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import { isEventAttribute } from './script/attributes.ts';
import { CALL_TRIGGERS, callConstruct, memberConstruct } from './script/calls.ts';
import { DIALOG_TRIGGERS, dialogConstruct } from './script/dialogs.ts';
import { EVENTS } from './xss/events.ts';

/** Every detected value has an attribute's `=`, a bracket of a call or a template, or the `<` of a tag. */
export const SCRIPT_KINDS = KIND.equals | KIND.round | KIND.backtick | KIND.square | KIND.angle;

/** The length in octets of the shortest value that is detected: a tag inside another. */
export const SHORTEST_SCRIPT = 8;

/** Texts (`Detector.triggers`): what a tag can take apart, a name with a NUL, an event, a call or a member that is judged. */
export const SCRIPT_TRIGGERS = [
  ...['<', '\0'],
  ...Array.from(EVENTS, (event) => `on${event}`),
  ...CALL_TRIGGERS,
  ...DIALOG_TRIGGERS,
];

/** Returns the construct of script in `value` (Latin-1), or `null`. Takes linear time; never throws. */
export function detectScript(value: string): string | null {
  const found = inCode(value) ?? dialogConstruct(value);
  if (found !== null || !value.includes('<')) return found;
  const plain = withoutTags(value);
  if (plain.length === value.length) return null;
  if (hasScriptTag(plain) && !hasScriptTag(value)) return 'tag put together from pieces';
  return inCode(plain) === null ? null : 'script put together from pieces of markup';
}

/** The construct in a value, read once from left to right. */
function inCode(value: string): string | null {
  let inTag = false;
  let broken = false;
  let quoted = false;
  let opened = false;
  let escaped = false;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    switch (code) {
      case 0x3c: // <
        inTag = isLetter(value.charCodeAt(at + 1)) || value.charCodeAt(at + 1) === 0x2f;
        broken = true;
        break;
      case 0x3e: // >
        inTag = false;
        break;
      case 0x22:
      case 0x27:
        broken = true;
        quoted = true;
        break;
      case 0x3d: // =
        if (isEventAttribute(value, at, { inTag, broken })) return 'event attribute with script';
        break;
      case 0x28: // (
      case 0x60: {
        const found = callConstruct(value, at, { escaped });
        if (found !== null) return found;
        if (code === 0x28) opened = true;
        else broken = true;
        break;
      }
      case 0x29: // )
        escaped ||= quoted && !opened && value.charCodeAt(at + 1) === 0x3b;
        break;
      case 0x5b: {
        const found = memberConstruct(value, at);
        if (found !== null) return found;
        break;
      }
      default:
    }
  }
  return null;
}

function isLetter(code: number): boolean {
  return (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
}

/** The value without complete tags, sections of CDATA and NULs, as a filter leaves it that removes them. */
function withoutTags(value: string): string {
  let text = '';
  let from = 0;
  for (let open = value.indexOf('<'); open >= 0; open = value.indexOf('<', open + 1)) {
    const end = tagEnd(value, open);
    if (end < 0) continue;
    text += value.slice(from, open);
    from = end;
    open = end - 1;
  }
  return (text + value.slice(from)).replaceAll(']]>', '').replaceAll('\0', '');
}

/** The longest tag that is removed, in characters. */
const LONGEST_TAG = 256;

/** The place behind the tag or the beginning of a section of CDATA at `open`; -1: absent. */
function tagEnd(value: string, open: number): number {
  if (value.startsWith('<![CDATA[', open)) return open + 9;
  const first = value.charCodeAt(open + 1);
  if (!isLetter(first) && first !== 0x2f) return -1;
  const limit = Math.min(value.length, open + LONGEST_TAG);
  for (let at = open + 1; at < limit; at++) {
    const code = value.charCodeAt(at);
    if (code === 0x3c) return -1;
    if (code === 0x3e) return at + 1;
  }
  return -1;
}

/** Whether `<script` or `</script` occurs. */
function hasScriptTag(value: string): boolean {
  for (let at = value.indexOf('<'); at >= 0; at = value.indexOf('<', at + 1)) {
    const name = value.charCodeAt(at + 1) === 0x2f ? at + 2 : at + 1;
    if (value.slice(name, name + 6).toLowerCase() === 'script') return true;
  }
  return false;
}
