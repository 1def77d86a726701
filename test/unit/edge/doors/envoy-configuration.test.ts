/**
 * The shipped configurations of Envoy and of Gateway API beside their published schemas. Debian has no Envoy, so that
 * names and types of fields are all that is checked; `test/support/envoy-fields.json` has those of Envoy's protobuf files.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { BODY_LIMIT } from '../../../../src/edge/doors/ext-authz/limits.ts';
import { EXTENSIONS } from '../../../../src/edge/doors/ext-authz/to-request.ts';

const FIXTURES = new URL('../../../../fixtures/proxies/', import.meta.url);
const FIELDS = new URL('../../../support/envoy-fields.json', import.meta.url);

/** Fields with their types, or the values of an enumeration. */
type Described = Readonly<Record<string, string>> | readonly string[];
const { messages } = JSON.parse(readFileSync(FIELDS, 'utf8')) as {
  readonly messages: Readonly<Record<string, Described>>;
};

type Loose = Readonly<Record<string, unknown>>;

const WRAPPERS: Readonly<Record<string, string>> = {
  'google.protobuf.BoolValue': 'boolean',
  'google.protobuf.UInt32Value': 'number',
  'google.protobuf.Duration': 'string',
  bool: 'boolean',
  string: 'string',
  uint32: 'number',
};

/** The mistakes of a value, each with its place. */
function mistakes(value: unknown, type: string, place: string): readonly string[] {
  const scalar = WRAPPERS[type];
  const kind: string = typeof value;
  if (scalar !== undefined) return kind === scalar ? [] : [`${place}: not a ${scalar}`];
  if (type === 'google.protobuf.Any') {
    const { '@type': url, ...rest } = value as Loose;
    return mistakes(rest, String(url).replace('type.googleapis.com/', ''), place);
  }
  const described = messages[type];
  if (described === undefined) return [`${place}: the type ${type} is not described`];
  if (Array.isArray(described))
    return described.includes(value) ? [] : [`${place}: ${String(value)} is no value`];
  return Object.entries(value as Loose).flatMap(([name, field]) => {
    const at = `${place}.${name}`;
    const declared = (described as Readonly<Record<string, string>>)[name];
    if (declared === undefined) return [`${at}: ${type} has no such field`];
    const inner = declared.replace(/^(\* |map )/, '');
    if (declared.startsWith('* ')) {
      return (field as readonly unknown[]).flatMap((one, index) => mistakes(one, inner, `${at}[${index}]`));
    }
    if (!declared.startsWith('map ')) return mistakes(field, inner, at);
    return Object.entries(field as Loose).flatMap(([key, one]) => mistakes(one, inner, `${at}[${key}]`));
  });
}

const BOOTSTRAP = 'envoy.config.bootstrap.v3.Bootstrap';
const envoy = readFileSync(new URL('envoy.yaml', FIXTURES), 'utf8');

/** Every value of a field in a document, at any depth. */
function valuesOf(value: unknown, field: string): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(name === field ? [inner] : []),
    ...valuesOf(inner, field),
  ]);
}

describe('fixtures/proxies/envoy.yaml', () => {
  test('has the fields and values of the published schema', () => {
    expect(mistakes(parse(envoy), BOOTSTRAP, 'envoy')).toEqual([]);
  });

  test('has them with its comments in force too', () => {
    const open = envoy
      .replace(/^( *)failure_mode_allow: false$/m, '$1# closed')
      .replace(/^( *)# (failure_mode_allow|xff_num_trusted_hops|edgeplan-address-header):/gm, '$1$2:');
    const read: unknown = parse(open);
    expect(valuesOf(read, 'failure_mode_allow')).toEqual([true]);
    expect(valuesOf(read, EXTENSIONS.address)).toEqual(['x-envoy-external-address']);
    expect(mistakes(read, BOOTSTRAP, 'envoy')).toEqual([]);
  });

  test('a field that does not exist, a wrong type and a wrong value are found', () => {
    const spoiled = envoy
      .replace('pack_as_bytes: true', 'pack_as_octets: true')
      .replace('use_remote_address: true', 'use_remote_address: "yes"')
      .replace('ServiceUnavailable', 'Unavailable');
    const found = mistakes(parse(spoiled), BOOTSTRAP, 'envoy').join('\n');
    expect(found).toContain('has no such field');
    expect(found).toContain('not a boolean');
    expect(found).toContain('Unavailable is no value');
  });

  test('is closed, and sends all that rules go by', () => {
    const read: unknown = parse(envoy);
    const one = (field: string): unknown => valuesOf(read, field).join();
    expect(valuesOf(read, 'failure_mode_allow')).toEqual([false]);
    for (const field of [
      'encode_raw_headers',
      'pack_as_bytes',
      'allow_partial_message',
      'clear_route_cache',
    ]) {
      expect(valuesOf(read, field), field).toEqual([true]);
    }
    for (const field of ['use_remote_address', 'include_tls_session'])
      expect(valuesOf(read, field)).toEqual([true]);
    expect(valuesOf(read, 'max_request_bytes')).toEqual([BODY_LIMIT]);
    expect(one(EXTENSIONS.bodyLimit)).toBe(String(BODY_LIMIT));
    expect(valuesOf(read, 'key_matcher')).toEqual([{ prefix: 'x-edgeplan-' }]);
    expect(valuesOf(read, 'allowed_headers')).toEqual([]);
  });
});

/** Fields of Gateway API's HTTPExternalAuthFilter (kubernetes-sigs/gateway-api, `apis/v1/httproute_types.go`). */
const EXTERNAL_AUTH = ['protocol', 'backendRef', 'grpc', 'http', 'forwardBody'];

describe('fixtures/proxies/gateway-api.yaml', () => {
  const documents = parseAllDocuments(readFileSync(new URL('gateway-api.yaml', FIXTURES), 'utf8')).map(
    (one) => one.toJS() as Loose,
  );
  const of = (kind: string): Loose => documents.find((one) => one['kind'] === kind)!;

  test('asks the agent by gRPC, with all headers', () => {
    const filters = valuesOf(of('HTTPRoute'), 'externalAuth') as readonly Loose[];
    expect(filters).toHaveLength(1);
    const [filter] = filters;
    expect(Object.keys(filter!).filter((name) => !EXTERNAL_AUTH.includes(name))).toEqual([]);
    expect(filter).toMatchObject({ protocol: 'GRPC', grpc: {} });
    expect((filter!['forwardBody'] as Loose)['maxSize']).toBeLessThan(2 ** 16);
  });

  test('its parts name each other', () => {
    const port = 9003;
    const [backend] = valuesOf(of('HTTPRoute'), 'backendRef') as readonly Loose[];
    const { metadata, spec } = of('Service') as { metadata: Loose; spec: Loose };
    expect(backend).toEqual({ name: metadata['name'], port });
    expect(valuesOf(spec, 'port')).toEqual([port]);
    expect(valuesOf(spec, 'appProtocol')).toEqual(['kubernetes.io/h2c']);
    const labels = { app: 'edgeplan-agent' };
    expect(spec['selector']).toEqual(labels);
    expect(valuesOf(of('Deployment'), 'matchLabels')).toEqual([labels]);
    expect(valuesOf(of('Deployment'), 'args')).toEqual([
      ['agent', '--file', '/rules/edge.yaml', '--ext-authz', `0.0.0.0:${port}`],
    ]);
    expect((of('NetworkPolicy')['spec'] as Loose)['podSelector']).toEqual({ matchLabels: labels });
  });
});
