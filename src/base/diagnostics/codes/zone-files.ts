/** Codes of BIND zone files (RFC 1035 §5). */
import type { CodeList } from './code.ts';

export const ZONE_FILE_CODES = {
  apex_ns_skipped: {
    severity: 'warning',
    meaning:
      'the NS records of the domain itself are those of this service, so the ones of the file are left out',
    remedy: 'nothing; remove the line to silence the warning',
  },
  duplicate_record: {
    severity: 'warning',
    meaning: 'the record is in the file twice and is taken once',
    remedy: 'remove one of the two lines',
  },
  invalid_data: {
    severity: 'error',
    meaning: 'the data does not have the form that the type of the record needs',
    remedy: 'correct it as the message says',
  },
  invalid_directive: {
    severity: 'error',
    meaning: '`$ORIGIN` or `$TTL` does not have exactly one valid argument',
    remedy: 'write `$ORIGIN example.com.` or `$TTL 3600`',
  },
  invalid_escape: {
    severity: 'error',
    meaning: 'a backslash is followed by neither three digits up to 255 nor one character',
    remedy: 'write `\\\\` for a backslash',
  },
  invalid_ttl: {
    severity: 'error',
    meaning: 'the lifetime is no number of seconds, with or without units',
    remedy: 'write for example `3600` or `1h`',
  },
  missing_dot: {
    severity: 'info',
    meaning: 'a name has the domain twice, as a name of the domain without a dot at its end has',
    remedy: 'write the dot: `example.com.`, unless the longer name is meant',
  },
  missing_name: {
    severity: 'error',
    meaning: 'the line starts with a space, and no line before it has a name',
    remedy: 'start the line with a name; `@` is the domain itself',
  },
  missing_type: {
    severity: 'error',
    meaning: 'the line has no type of record',
    remedy: 'write for example `shop A 198.51.100.20`',
  },
  outside_zone: {
    severity: 'error',
    meaning: 'the name does not belong to the domain',
    remedy: 'write the name without a dot at its end, or check `$ORIGIN`',
  },
  soa_skipped: {
    severity: 'info',
    meaning: 'the SOA record is made by this service, so the one of the file is left out',
    remedy: 'nothing',
  },
  stray_parenthesis: {
    severity: 'error',
    meaning: 'a parenthesis is closed that was not opened',
    remedy: 'remove it, or put the text in quotes',
  },
  too_many_records: {
    severity: 'error',
    meaning: 'the file has more records than one import takes',
    remedy: 'divide the file',
  },
  ttl_dropped: {
    severity: 'info',
    meaning: 'lifetimes of single records are not stored',
    remedy: 'nothing',
  },
  unclosed_parenthesis: {
    severity: 'error',
    meaning: 'a parenthesis is opened and not closed before the end of the file',
    remedy: 'close it after the last line of the record',
  },
  unclosed_quote: {
    severity: 'error',
    meaning: 'a quoted text is not closed before the end of its line',
    remedy: 'close it; long texts are several quoted strings of at most 255 octets',
  },
  unfinished_escape: {
    severity: 'error',
    meaning: 'the file ends after a backslash',
    remedy: 'remove the backslash',
  },
  unsupported_class: {
    severity: 'error',
    meaning: 'the class of the record is not `IN`',
    remedy: 'leave the class out',
  },
  unsupported_directive: {
    severity: 'error',
    meaning: 'the directive is not supported; `$INCLUDE` would read files of the server',
    remedy: 'put the records into one file',
  },
  unsupported_type: {
    severity: 'warning',
    meaning: 'records of this type are not stored, so the line is left out',
    remedy: 'remove the line to silence the warning',
  },
} as const satisfies CodeList;
