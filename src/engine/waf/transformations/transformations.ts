/**
 * The transformations of SecLang, one file each: `(value) => value` over Latin-1 text, as ModSecurity's reference manual
 * (v3.x, "Transformation functions"), its published tests and libmodsecurity 3 define them; a file states each deviation
 * and its reason. A transformation takes linear time and returns the same string when there is nothing to change.
 */
import type { WafTransformation } from '../../plan/signature-program.ts';
import { base64Decode } from './base64-decode.ts';
import { base64DecodeExt } from './base64-decode-ext.ts';
import { base64Encode } from './base64-encode.ts';
import { cmdLine } from './cmd-line.ts';
import { compressWhitespace } from './compress-whitespace.ts';
import { cssDecode } from './css-decode.ts';
import { escapeSeqDecode } from './escape-seq-decode.ts';
import { hexDecode } from './hex-decode.ts';
import { hexEncode } from './hex-encode.ts';
import { htmlEntityDecode } from './html-entity-decode.ts';
import { jsDecode } from './js-decode.ts';
import { length } from './length.ts';
import { lowercase } from './lowercase.ts';
import { md5 } from './md5.ts';
import { normalizePath } from './normalize-path.ts';
import { normalizePathWin } from './normalize-path-win.ts';
import { removeComments } from './remove-comments.ts';
import { removeCommentsChar } from './remove-comments-char.ts';
import { removeNulls } from './remove-nulls.ts';
import { removeWhitespace } from './remove-whitespace.ts';
import { replaceComments } from './replace-comments.ts';
import { replaceNulls } from './replace-nulls.ts';
import { sha1 } from './sha1.ts';
import { sqlHexDecode } from './sql-hex-decode.ts';
import { trim, trimLeft, trimRight } from './trim.ts';
import { uppercase } from './uppercase.ts';
import { urlDecode } from './url-decode.ts';
import { urlDecodeUni } from './url-decode-uni.ts';
import { urlEncode } from './url-encode.ts';
import { utf8toUnicode } from './utf8-to-unicode.ts';

/** By name, the function of a transformation. */
export const TRANSFORMATIONS: Readonly<Record<WafTransformation, (value: string) => string>> = {
  base64Decode,
  base64DecodeExt,
  base64Encode,
  cmdLine,
  compressWhitespace,
  cssDecode,
  escapeSeqDecode,
  hexDecode,
  hexEncode,
  htmlEntityDecode,
  jsDecode,
  length,
  lowercase,
  md5,
  normalizePath,
  normalizePathWin,
  removeComments,
  removeCommentsChar,
  removeNulls,
  removeWhitespace,
  replaceComments,
  replaceNulls,
  sha1,
  sqlHexDecode,
  trim,
  trimLeft,
  trimRight,
  uppercase,
  urlDecode,
  urlDecodeUni,
  urlEncode,
  utf8toUnicode,
};
