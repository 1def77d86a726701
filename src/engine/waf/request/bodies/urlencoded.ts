/** Parses `application/x-www-form-urlencoded` bodies and query strings (URL Standard §5.1). */
import { urlDecode } from '../../transformations/url-decode.ts';
import { addTo, type BodyInput, type BodyMembers, EMPTY_BODY, type ParsedBody } from './parsed-body.ts';

/**
 * Splits the text at `&` and each pair at its first `=`, and decodes both sides once; invalid escapes stay. As in
 * libmodsecurity 3 an empty pair is an argument without name, except after the last `&`.
 */
export function parseUrlEncoded({ text }: Pick<BodyInput, 'text'>): ParsedBody {
  const gathered: BodyMembers = { parser: 'urlencoded', args: [], error: null };
  for (let start = 0; start < text.length; ) {
    let end = text.indexOf('&', start);
    if (end < 0) end = text.length;
    if (!addTo(gathered, gathered.args, pairOf(text.slice(start, end)))) break;
    start = end + 1;
  }
  return { ...EMPTY_BODY, args: gathered.args, error: gathered.error };
}

/** Decodes one pair; without `=`, the value is empty. */
function pairOf(text: string): { name: string; value: string } {
  const equals = text.indexOf('=');
  if (equals < 0) return { name: urlDecode(text), value: '' };
  return { name: urlDecode(text.slice(0, equals)), value: urlDecode(text.slice(equals + 1)) };
}
