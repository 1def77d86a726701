/**
 * Signatures that libmodsecurity 3.0.9 and we report of different ordinary requests, and why. Its patterns, parsers and
 * detectors were looked at from outside only: by what it reports.
 */
const MULTI_LINE = 'libmodsecurity lets `^` and `$` hold at every line of a value, we at its ends only';
const JOINED_LINES =
  'libmodsecurity joins the lines of a multipart value, so what needs the line break is seen by us only';
const OWN_SQL = 'our SQL detector is our own: texts with quotes and no SQL are near the border for both';

export const DIFFERENCES: Readonly<Record<number, string>> = {
  920220:
    "libmodsecurity's REQUEST_URI is unescaped already, so an escaped per-cent sign looks like a broken escape",
  932100: JOINED_LINES,
  932105: JOINED_LINES,
  932110: JOINED_LINES,
  932115: JOINED_LINES,
  932150: MULTI_LINE,
  932230: JOINED_LINES,
  932250: JOINED_LINES,
  932260: JOINED_LINES,
  932370: JOINED_LINES,
  932380: JOINED_LINES,
  933100: JOINED_LINES,
  941100: 'libinjection takes `data:` in an image and any `on…=` for script, we only what a browser runs',
  941390: JOINED_LINES,
  942100: OWN_SQL,
  942360: `${MULTI_LINE}; ${JOINED_LINES}`,
};
