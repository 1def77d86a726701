/** Codes of values in any field: of a rule set, an edge file, a request to the API. */
import type { CodeList } from './code.ts';

export const VALUE_CODES = {
  beyond_latin1: {
    severity: 'error',
    meaning: 'a condition compares a header or a cookie, which is octets, with a character that no octet is',
    remedy: 'write the octets of its UTF-8 form in a `regex`, such as `\\xE2\\x82\\xAC`',
  },
  body_schema: {
    severity: 'error',
    meaning: 'the schema of a body does not compile, is too large, or has a keyword that is not evaluated',
    remedy: 'write JSON Schema 2020-12 without what the message names',
  },
  condition_values: {
    severity: 'error',
    meaning: 'a condition has `values` beside `present` or `absent`, or none beside a comparison',
    remedy: 'leave `values` out, or list what the value is compared with',
  },
  duplicate_entry: {
    severity: 'error',
    meaning: 'a list has an entry twice that can count only once',
    remedy: 'list it once',
  },
  duplicate_id: {
    severity: 'error',
    meaning: 'two rules, or two records, have the same id',
    remedy: 'give each an id of its own, or leave the ids out of a file',
  },
  duplicate_name: {
    severity: 'error',
    meaning: 'two invariants, usage plans or token issuers have the same name',
    remedy: 'give each a name of its own',
  },
  empty_value: {
    severity: 'error',
    meaning: 'the text is empty, and the field or the entry of a list needs one',
    remedy: 'write a value, or leave the field or the entry out',
  },
  forbidden_character: {
    severity: 'error',
    meaning: 'the value has a control character, a space or a backslash, which no URL has',
    remedy: 'percent-encode it, for example a space as `%20`',
  },
  foreign_record: {
    severity: 'error',
    meaning: '`record_ids` has the id of a record that is not of this domain',
    remedy: "list the domain's records and use their ids",
  },
  invalid_address: {
    severity: 'error',
    meaning: 'the value is neither an IP address nor a host name without scheme, port and path',
    remedy: 'write the address or the name alone; port and scheme have fields of their own',
  },
  invalid_destination: {
    severity: 'error',
    meaning:
      'the destination does not fit the type of the record: IPv4 for `A`, IPv6 for `AAAA`, a host name for `CNAME`',
    remedy: 'change the type or the destination',
  },
  invalid_host: {
    severity: 'error',
    meaning: 'the value is no host name: letters, digits, hyphens and dots, labels of at most 63 characters',
    remedy: 'write the name alone, without scheme, path and user',
  },
  invalid_ip: {
    severity: 'error',
    meaning: 'the entry is no IPv4 or IPv6 address, no prefix `address/length` and no range `first-last`',
    remedy: 'write for example `203.0.113.7`, `2001:db8::/32` or `203.0.113.10-203.0.113.20`',
  },
  invalid_key: {
    severity: 'error',
    meaning: 'the key of a rule or of an entry does not have the form that is allowed there',
    remedy:
      'use lower-case letters, digits and hyphens for the key of a rule, and status codes for the pages of errors',
  },
  invalid_name: {
    severity: 'error',
    meaning:
      'the value is no name of its kind: of a domain or record labels of letters, digits and inner hyphens, of at most 63 octets; of a consumer, usage plan or token issuer what the message says',
    remedy:
      'write the name without scheme, port and trailing text; `@` is the domain itself where a record is named',
  },
  invalid_path: {
    severity: 'error',
    meaning: 'the entry is no path: it is not valid percent-encoding, or has characters that no path has',
    remedy: 'write the path as it is in the address bar, from `/` on and without the query',
  },
  invalid_pattern: {
    severity: 'error',
    meaning:
      'the regular expression is not valid in RE2 syntax, which has no look-around and no back-references',
    remedy: 'correct it at the place that the message names, or write a wildcard',
  },
  invalid_text: {
    severity: 'error',
    meaning: 'the text has a NUL character or half of a character (a lone surrogate)',
    remedy: 'remove the character; a copied text often contains it at its end',
  },
  invalid_time: {
    severity: 'error',
    meaning: 'the value is no time with a zone, such as `2026-11-20T09:30:00Z`',
    remedy: 'write it as RFC 3339 does, with `Z` or an offset',
  },
  invalid_token: {
    severity: 'error',
    meaning: 'the value is no method, or no name of a header or a cookie',
    remedy: 'write the name alone, without blanks, colons and equals signs',
  },
  invalid_type: {
    severity: 'error',
    meaning:
      'the value is of another type: for example a text where a number is needed, or one value in place of a list',
    remedy: 'write the type that the message names; numbers, `true` and `false` have no quotes',
  },
  invalid_value: {
    severity: 'error',
    meaning: 'the value is not one of those that the field allows',
    remedy: 'use one of the values in the message; the schema of the file lists them too (`edgeplan schema`)',
  },
  list_kind: {
    severity: 'error',
    meaning: 'a rule names a list whose entries are of another kind than the field',
    remedy: 'name a list of the kind that the message asks for',
  },
  list_name: {
    severity: 'error',
    meaning: 'the name of a list has a form that none may have, or another list has it',
    remedy:
      'use lower-case letters, digits, `-` and `_`, the first a letter or digit, and another name for each list',
  },
  list_too_large: {
    severity: 'error',
    meaning: 'the entries of a list take more octets than a list may have once it is compiled',
    remedy: 'divide the list, or write shorter entries',
  },
  method_case: {
    severity: 'warning',
    meaning: 'a list has a method in lower case, which clients send in capital letters',
    remedy: 'write it in capital letters',
  },
  missing_field: {
    severity: 'error',
    meaning: 'a field that has no default is missing, or another field makes it necessary',
    remedy: 'add the field',
  },
  no_tagging_rule: {
    severity: 'error',
    meaning: 'a condition on tags names no rule of an earlier phase that tags requests',
    remedy: 'name a `fingerprint` or `bot_route` rule, as `<type>/<id>` or by its key',
  },
  out_of_range: {
    severity: 'error',
    meaning: 'the number is not in the range of the field, or is not whole',
    remedy: 'use a number in the range that the message names',
  },
  own_target: {
    severity: 'error',
    meaning: 'the record leads to itself, so it would never be answered',
    remedy: 'write the name of the host that answers',
  },
  schema_keyword: {
    severity: 'warning',
    meaning:
      'a schema of a body has a keyword that JSON Schema does not have, near one that it has: a body may break the rule that was meant',
    remedy: 'write the keyword that the message names, or a name with `x-` for an annotation',
  },
  schema_number: {
    severity: 'warning',
    meaning:
      'a schema of a body has an integer of more digits than the one that it is read as: it is rounded to the nearest binary64',
    remedy: 'use a number of at most 15 digits, or let bodies have the number as text with a `pattern`',
  },
  special_address: {
    severity: 'error',
    meaning:
      'the origin has a loopback, private or other special address, which customers may not reach through the edge',
    remedy: 'use a public address; the operator can allow prefixes (`--allow-origins`)',
  },
  too_few: {
    severity: 'error',
    meaning: 'the list has fewer entries than the field needs',
    remedy: 'add an entry, or leave the whole field out where it is optional',
  },
  too_long: {
    severity: 'error',
    meaning: 'the text is longer than the field allows; the message names the limit and its unit',
    remedy: 'shorten it, or divide it among several entries',
  },
  too_many: {
    severity: 'error',
    meaning: 'the list has more entries than the field allows',
    remedy: 'divide it among several rules, or use wildcards and prefixes',
  },
  too_many_mistakes: {
    severity: 'info',
    meaning: 'so many mistakes were found that the rest was not reported',
    remedy: 'correct those that are reported and check again',
  },
  unknown_country: {
    severity: 'error',
    meaning: 'the value is no assigned ISO 3166-1 alpha-2 code; the United Kingdom is `GB`, Greece is `GR`',
    remedy: 'write the two letters of the country',
  },
  unknown_field: {
    severity: 'error',
    meaning: 'there is no field of this name here; a misspelt one would have no effect',
    remedy: 'use the name that the message suggests; `edgeplan schema` prints every field with its meaning',
  },
  unknown_list: {
    severity: 'error',
    meaning: 'a rule names a list that the domain does not have',
    remedy: 'write the entries themselves, or make the list',
  },
  unknown_type: {
    severity: 'error',
    meaning: 'there is no rule type of this name',
    remedy: 'use one of the types in the message',
  },
  unreadable: {
    severity: 'error',
    meaning: 'the input is no plain data: it has functions, circles or getters that fail',
    remedy: 'pass what `JSON.parse` could have returned',
  },
} as const satisfies CodeList;
