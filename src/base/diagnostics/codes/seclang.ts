/** Codes of SecLang files (`edgeplan waf compile`). */
import type { CodeList } from './code.ts';

export const SECLANG_CODES = {
  seclang_action: {
    severity: 'error',
    meaning: 'the rule has an action that is not known or whose argument is missing or wrong',
    remedy: 'correct it as the message says',
  },
  seclang_action_passed: {
    severity: 'info',
    meaning: 'the action has no effect at the edge; the message says why, and in how many rules',
    remedy: 'nothing, unless you rely on it',
  },
  seclang_after_quote: {
    severity: 'error',
    meaning: 'text follows a closing quote without a space',
    remedy: 'write `\\"` for a quote inside quotes, or put a space after the closing one',
  },
  seclang_arguments: {
    severity: 'error',
    meaning: 'the directive has too few or too many arguments',
    remedy: 'put quotes around what holds spaces',
  },
  seclang_chained_action: {
    severity: 'error',
    meaning: 'the action is allowed only in the first rule of a chain',
    remedy: 'move it to the first rule',
  },
  seclang_comment_continued: {
    severity: 'warning',
    meaning: 'a comment ends with `\\`, so the next line belongs to it and has no effect',
    remedy: 'take the `\\` off the comment',
  },
  seclang_default_action: {
    severity: 'error',
    meaning: '`SecDefaultAction` lacks a phase or a disruptive action, or has one that is not supported',
    remedy: 'write it as `SecDefaultAction "phase:2,log,pass"`',
  },
  seclang_denies_all: {
    severity: 'warning',
    meaning: 'the rule denies every request, whatever it contains',
    remedy: 'check that the configuration is complete, or remove the rule',
  },
  seclang_directive: {
    severity: 'error',
    meaning: 'there is no directive of this name',
    remedy: 'use the name that the message suggests',
  },
  seclang_id: {
    severity: 'error',
    meaning: 'the rule has no id, or one that is no number from 1 to 4294967295',
    remedy: 'give each rule an `id` of its own',
  },
  seclang_id_twice: {
    severity: 'error',
    meaning: 'two rules have the same id',
    remedy: 'give each rule an `id` of its own',
  },
  seclang_include: {
    severity: 'error',
    meaning: 'an included file does not exist, includes itself, or is too deeply nested',
    remedy: 'correct the path, or write `IncludeOptional` for a file that may be absent',
  },
  seclang_no_directory: {
    severity: 'error',
    meaning: 'there is no file or folder of this name',
    remedy: 'correct the path',
  },
  seclang_no_rules: {
    severity: 'error',
    meaning: 'the folder has no `.conf` file',
    remedy: 'name the folder of the Core Rule Set, or its `rules` folder',
  },
  seclang_no_setup: {
    severity: 'error',
    meaning: 'the Core Rule Set has no `crs-setup.conf`, and denies every request without one',
    remedy: 'put `crs-setup.conf` or `crs-setup.conf.example` beside the `rules` folder',
  },
  seclang_no_such_rule: {
    severity: 'warning',
    meaning: 'a directive removes or changes a rule that does not exist at that place',
    remedy: 'correct the id, or put the directive after the rule',
  },
  seclang_not_text: {
    severity: 'error',
    meaning: 'the file holds NUL characters or the mark of UTF-16; it is not SecLang text',
    remedy: 'save it as UTF-8',
  },
  seclang_open_chain: {
    severity: 'error',
    meaning: 'a rule has the action `chain`, and no rule follows it',
    remedy: 'remove `chain`, or add the next rule',
  },
  seclang_open_quote: {
    severity: 'error',
    meaning: 'a quote is opened and not closed',
    remedy: 'close it; a line that goes on ends with `\\`',
  },
  seclang_pattern: {
    severity: 'error',
    meaning: 'the pattern of a rule is invalid, too large, or has recursion, conditional groups or callouts',
    remedy: 'simplify it, or remove the rule with `SecRuleRemoveById`',
  },
  seclang_responses_left_out: {
    severity: 'info',
    meaning: 'rules of the response phases are not evaluated by the edge',
    remedy: 'nothing',
  },
  seclang_rule_engine: {
    severity: 'warning',
    meaning: '`SecRuleEngine` has no effect: the mode of the waf rule decides whether requests are blocked',
    remedy: 'set `action_mode` of the waf rule',
  },
  seclang_setting: {
    severity: 'error',
    meaning: 'the setting is not supported and would change which requests are blocked',
    remedy: 'remove it',
  },
  seclang_setting_passed: {
    severity: 'info',
    meaning: 'the setting has no effect at the edge',
    remedy: 'nothing',
  },
  seclang_state: {
    severity: 'warning',
    meaning:
      'rules read collections (IP, SESSION and others) that earlier requests would have written; the edge stores no state between requests, so the collections are empty and the rules do nothing',
    remedy: 'write the limit as a rule of type `rate_limit`',
  },
  seclang_subject: {
    severity: 'error',
    meaning: 'the directive does not say in a known form which rules it is about',
    remedy: 'write ids or ranges such as `1,5-9`, or a tag',
  },
  seclang_target: {
    severity: 'error',
    meaning: 'the rule names a variable that is not known or not supported',
    remedy: 'correct it as the message says',
  },
  seclang_too_long: {
    severity: 'error',
    meaning: 'the file is longer than is read',
    remedy: 'divide it and include the parts',
  },
  seclang_too_many_rules: {
    severity: 'error',
    meaning: 'the set has more rules than are compiled',
    remedy: 'leave out rule files that you do not need',
  },
  seclang_unmatched_left_out: {
    severity: 'info',
    meaning:
      'settings of the set, such as limits that are not set, make a condition of the rules false for every request',
    remedy: 'set what the rules compare with, if they are meant to act',
  },
  seclang_unreadable: {
    severity: 'error',
    meaning: 'the file cannot be read',
    remedy: 'check its permissions',
  },
  seclang_unsupported: {
    severity: 'error',
    meaning:
      'the rule uses an operator, an action or a transformation that the edge does not have, or a data file that does not exist',
    remedy: 'remove the rule with `SecRuleRemoveById`, or write it differently',
  },
  seclang_update_action: {
    severity: 'error',
    meaning: '`SecRuleUpdateActionById` changes an action that cannot be changed afterwards',
    remedy: 'change the rule itself',
  },
} as const satisfies CodeList;
