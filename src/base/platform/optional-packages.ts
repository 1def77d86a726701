/**
 * Packages that an installation may lack: `npm install --omit=optional` leaves out what some features need. In: a feature.
 * Out: which of its packages are missing, and how to install them. The features load their packages when they are used.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The packages of each feature, as in `optionalDependencies` of `package.json`. */
export const OPTIONAL_PACKAGES = {
  acme: ['acme-client'],
  otlp: [
    '@opentelemetry/api',
    '@opentelemetry/core',
    '@opentelemetry/exporter-metrics-otlp-proto',
    '@opentelemetry/exporter-trace-otlp-proto',
    '@opentelemetry/resources',
    '@opentelemetry/sdk-metrics',
    '@opentelemetry/sdk-trace',
  ],
  postgres: ['pg', 'pg-connection-string'],
  smtp: ['nodemailer'],
} as const;

/** A feature whose packages are optional. */
export type OptionalFeature = keyof typeof OPTIONAL_PACKAGES;

/** What is missing, and what installs it. */
export interface MissingPackages {
  /** A sentence without its subject: `needs the package …`. */
  readonly needs: string;
  /** The command that installs all packages of the feature, at the versions that this one was built with. */
  readonly remedy: string;
}

const require = createRequire(import.meta.url);

/** What a feature lacks here; `null`: nothing. */
export function missingPackages(feature: OptionalFeature): MissingPackages | null {
  const packages = OPTIONAL_PACKAGES[feature];
  const missing = packages.filter((name) => !isInstalled(name)).map((name) => `\`${name}\``);
  if (missing.length === 0) return null;
  const needs =
    missing.length === 1
      ? `needs the package ${missing[0]}, which is not installed`
      : `needs the packages ${missing.join(', ')}, which are not installed`;
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  const versions = (JSON.parse(text) as { readonly optionalDependencies: Readonly<Record<string, string>> })
    .optionalDependencies;
  return { needs, remedy: `npm install ${packages.map((name) => `${name}@${versions[name]}`).join(' ')}` };
}

function isInstalled(name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch (error) {
    // A package for `import` alone is found, and refuses `require` with another code.
    return (error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND';
  }
}
