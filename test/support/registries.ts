/** Registries of tests: of short forms, sealed or not, and their faults as text. */
import { describeDiagnostic } from '../../src/base/diagnostics/diagnostic.ts';
import { parseRegistry } from '../../src/rules/model/parse-registry.ts';
import type { Registry } from '../../src/rules/model/types.ts';

/** A registry of lists as a customer writes them. */
export function registryOf(given: object): Registry {
  const parsed = parseRegistry(given);
  if (!parsed.ok) throw new Error(parsed.diagnostics.map(describeDiagnostic).join('; '));
  return parsed.registry;
}

/** Every mistake in a registry, as `code path: message`. */
export function registryMistakes(given: unknown): readonly string[] {
  return parseRegistry(given).diagnostics.map((one) => `${one.code} ${describeDiagnostic(one)}`);
}
