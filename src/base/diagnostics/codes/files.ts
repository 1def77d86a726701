/** Codes of files: YAML, `edge.yaml`, `edge.test.yaml`. */
import type { CodeList } from './code.ts';

export const FILE_CODES = {
  comment_place: {
    severity: 'error',
    meaning:
      'the comment is at a place that the formatted file does not have, so `fmt` leaves the file as it is',
    remedy: 'put it on a line of its own, above what it is about',
  },
  duplicate_key: {
    severity: 'error',
    meaning: 'the same key is written twice in one mapping, or two rules have the same key',
    remedy: 'remove one of the two',
  },
  file_too_long: {
    severity: 'error',
    meaning: 'the file is longer, or has more list entries, than is read',
    remedy: 'divide it: one file for each domain',
  },
  first_key: {
    severity: 'info',
    meaning: 'the place where a repeated key is first written',
    remedy: 'remove one of the two, or join their values',
  },
  invalid_file: {
    severity: 'error',
    meaning: 'the file does not have the shape of an edge file',
    remedy: 'start with `domain: example.com`; `edgeplan init` writes an example',
  },
  invalid_utf8: {
    severity: 'error',
    meaning: 'the file is not UTF-8 text',
    remedy: 'save the file as UTF-8',
  },
  invalid_yaml: {
    severity: 'error',
    meaning: 'the file is not valid YAML, or has a value that is no text, number, `true` or `false`',
    remedy: 'look at the place that the message names: indentation, quotes, colons',
  },
  list_file: {
    severity: 'error',
    meaning: 'a list of an edge file has neither entries nor a file of its own',
    remedy: 'write `entries`, or make the file `lists/<name>.txt` beside the edge file',
  },
  misplaced_field: {
    severity: 'error',
    meaning:
      'a part of a domain (`edge.d/*.yaml`) has a field other than lists of records, rules, gateways, consumers, usage plans and token issuers',
    remedy: 'write the field in the edge file beside the folder',
  },
  records_twice: {
    severity: 'error',
    meaning: 'the rule names its records twice, under two keys',
    remedy: 'use `records` alone',
  },
  schema_file: {
    severity: 'error',
    meaning: '`schema` of a gateway names no OpenAPI document beside the edge file',
    remedy: 'write the file, or remove `schema` and list `operations`',
  },
  too_deep: {
    severity: 'error',
    meaning: 'lists and mappings are nested deeper than any field needs',
    remedy: 'check the indentation',
  },
  too_many_values: {
    severity: 'error',
    meaning: 'the file has more values than are read, once its references to other values are resolved',
    remedy: 'divide the file, or write fewer references',
  },
  unknown_record: {
    severity: null,
    meaning: 'the rule names a record that does not exist',
    remedy: 'write the name of a record, or its name and type like `shop AAAA`',
  },
  unquoted_star: {
    severity: 'error',
    meaning: 'a value starts with `*`, which YAML takes for a reference to another value',
    remedy: 'put the value in double quotes',
  },
  unreadable_file: {
    severity: 'error',
    meaning: 'the file cannot be read; the message has the reason of the system',
    remedy: 'check its name and its permissions',
  },
} as const satisfies CodeList;

export const TEST_CODES = {
  cases_and_steps: {
    severity: 'error',
    meaning: 'a test has both `cases` and `steps`',
    remedy: 'give each row of `cases` steps of its own, or make two tests',
  },
  earlier_pages: {
    severity: 'error',
    meaning: 'a step describes requests before the one it is about, and has a `response` too',
    remedy: 'put the requests before into a step of their own',
  },
  invalid_country: {
    severity: 'error',
    meaning: 'the country of a request is no two-letter code',
    remedy: 'write for example `DE`, or `unknown`',
  },
  invalid_duration: {
    severity: 'error',
    meaning: 'the value is no duration',
    remedy: 'write for example `100ms`, `1.5s`, `10m`, `2h` or `1d`',
  },
  invalid_expectation: {
    severity: 'error',
    meaning:
      'the expectation is neither a sentence such as `block 403 by drop/office-only` nor a mapping of fields',
    remedy: 'copy a line that `edgeplan simulate --as-test` prints',
  },
  invalid_maker: {
    severity: 'error',
    meaning: '`by` says who made a response, and is neither `origin` nor `edge`',
    remedy: 'write one of the two',
  },
  invalid_number: {
    severity: 'error',
    meaning: 'the value is no whole number in the range of the field',
    remedy: 'use a number in the range that the message names',
  },
  invalid_request: {
    severity: 'error',
    meaning:
      'the request of a test cannot be read as a URL or as a line such as `GET https://shop.example.com/`',
    remedy: 'write method and whole URL, or the URL alone',
  },
  missing_kind: {
    severity: 'error',
    meaning: 'the bot of a request has no `kind`',
    remedy: 'write for example `bot: { kind: gptbot, verified: true }`',
  },
  missing_request: {
    severity: 'error',
    meaning: 'a test or step has no `request`',
    remedy: 'add one: `request: https://shop.example.com/admin`',
  },
  missing_status: {
    severity: 'error',
    meaning: 'a `response` has no `status`',
    remedy: 'add the status that the origin answers with',
  },
  missing_tests: {
    severity: 'error',
    meaning: 'the test file has no list `tests`',
    remedy: 'start with `tests:` and one entry for each test; `edgeplan init` writes an example',
  },
  missing_times: {
    severity: 'error',
    meaning: 'a repeated request does not say how often it is sent',
    remedy: 'add `times`',
  },
  nothing_expected: {
    severity: 'error',
    meaning: 'a test or step has no `expect`, so it could not fail',
    remedy: 'add the decision to expect, such as `expect: forward`',
  },
  unknown_bot: {
    severity: 'error',
    meaning: 'there is no kind of bot of this name',
    remedy: 'use the name that the message suggests',
  },
  unknown_effect: {
    severity: 'error',
    meaning: 'the expectation names an effect that no rule has',
    remedy: 'use one of the effects in the message',
  },
  unknown_key: {
    severity: 'error',
    meaning: 'the test file has a key that is not known at this place',
    remedy: 'use the name that the message suggests; `edgeplan schema test` prints all',
  },
  unknown_origin: {
    severity: 'error',
    meaning: 'the test names an origin that no pool has',
    remedy: 'write an address as in the `origins` of a pool',
  },
  unknown_rule: {
    severity: 'error',
    meaning: 'the test names a rule that the edge file does not have',
    remedy: 'write its type and its key or id, such as `drop/office-only`',
  },
} as const satisfies CodeList;
